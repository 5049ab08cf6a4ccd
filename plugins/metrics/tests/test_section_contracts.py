"""Every section of the metrics keeps the contract."""

from __future__ import annotations

from typing import Any

import jrh_metrics.plugin
from attrs import evolve
from jrh import Measure, RunReport
from jrh_testing import SectionContract, sample_report

TASK = sample_report().tasks[0].task.name


def a_run(*names: str, **fields: Any) -> RunReport:
    """Make a run with measures of these names."""
    given = {"judge": "careful", "test": "reference", "task": TASK, "estimate": 0.5, "n_items": 9, "n_trials": 9}
    return evolve(sample_report(), measures=tuple(Measure(name=name, **(given | fields)) for name in names))


class TestPeople(SectionContract):
    plugin = jrh_metrics.plugin
    component = "people"
    reports = (a_run("judge-people-kappa", "people-kappa"),)


class TestBeyondChance(SectionContract):
    plugin = jrh_metrics.plugin
    component = "beyond-chance"
    reports = (a_run("gold-kappa", "gold-mcc"),)


class TestFalseVerdicts(SectionContract):
    plugin = jrh_metrics.plugin
    component = "false-verdicts"
    reports = (a_run("false-positive-rate"),)


class TestVariance(SectionContract):
    plugin = jrh_metrics.plugin
    component = "variance"
    reports = (a_run("variance", cell={"component": "item:judge"}), a_run("dependability"))


class TestInteractions(SectionContract):
    plugin = jrh_metrics.plugin
    component = "interactions"
    reports = (a_run("interaction"),)


class TestPanel(SectionContract):
    plugin = jrh_metrics.plugin
    component = "panel"
    reports = (
        a_run("krippendorff-alpha", "panel-accuracy", judge=""),
        a_run("error-correlation", judge="", cell={"judges": "careful & careless"}),
    )


class TestGoldLevels(SectionContract):
    plugin = jrh_metrics.plugin
    component = "gold-levels"
    reports = (a_run("concordance", "bias"),)


class TestConfusion(SectionContract):
    plugin = jrh_metrics.plugin
    component = "confusion"
    reports = (a_run("confusion", cell={"right": "YES", "verdict": "NO"}),)


class TestStatedProbabilities(SectionContract):
    plugin = jrh_metrics.plugin
    component = "stated-probabilities"
    reports = (
        a_run("brier"),
        a_run("reliability", cell={"stated": "0.5 to 0.6"}, note="mean stated probability 0.550"),
    )
