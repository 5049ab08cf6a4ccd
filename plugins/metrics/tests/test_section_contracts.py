"""Every section of the metrics keeps the contract."""

from __future__ import annotations

import jrh_metrics.plugin
from attrs import evolve
from jrh import RunReport, Scale
from jrh_testing import SectionContract, report_of


def on_levels(report: RunReport) -> RunReport:
    """Let the report's tasks be judged on levels."""
    return evolve(
        report,
        tasks=tuple(evolve(part, task=evolve(part.task, scale=Scale.of_levels(1, 5))) for part in report.tasks),
    )


class TestPeople(SectionContract):
    plugin = jrh_metrics.plugin
    component = "people"
    reports = (report_of("judge-people-kappa", "people-kappa"),)


class TestBeyondChance(SectionContract):
    plugin = jrh_metrics.plugin
    component = "beyond-chance"
    reports = (report_of("gold-kappa"),)


class TestFalseVerdicts(SectionContract):
    plugin = jrh_metrics.plugin
    component = "false-verdicts"
    reports = (report_of("false-positive-rate"),)


class TestVariance(SectionContract):
    plugin = jrh_metrics.plugin
    component = "variance"
    reports = (report_of("variance", cell={"component": "item:judge"}), report_of("dependability"))


class TestInteractions(SectionContract):
    plugin = jrh_metrics.plugin
    component = "interactions"
    reports = (report_of("interaction"),)


class TestPanel(SectionContract):
    plugin = jrh_metrics.plugin
    component = "panel"
    reports = (
        report_of("krippendorff-alpha", "panel-accuracy", judge=""),
        report_of("error-correlation", judge="", cell={"judges": "careful & careless"}),
    )


class TestGoldLevels(SectionContract):
    plugin = jrh_metrics.plugin
    component = "gold-levels"
    reports = (on_levels(report_of("pearson", "bias")),)


class TestConfusion(SectionContract):
    plugin = jrh_metrics.plugin
    component = "confusion"
    reports = (report_of("confusion", cell={"right": "YES", "verdict": "NO"}),)


class TestStatedProbabilities(SectionContract):
    plugin = jrh_metrics.plugin
    component = "stated-probabilities"
    reports = (
        report_of("brier"),
        report_of("reliability", cell={"stated": "0.5 to 0.6"}, note="mean stated probability 0.550"),
    )


class TestCostByTest(SectionContract):
    plugin = jrh_metrics.plugin
    component = "cost-by-test"
    reports = (report_of("gold-accuracy"),)


class TestOverTests(SectionContract):
    plugin = jrh_metrics.plugin
    component = "over-tests"
    reports = (
        report_of("majority-accuracy", "majority-false-positive-rate", judge=""),
        report_of("trio-accuracy", judge="", test="", cell={"chosen": "held out"}, note="a, b, c; and more"),
    )


class TestAsPublished(SectionContract):
    plugin = jrh_metrics.plugin
    component = "as-published"
    reports = (report_of("compat-judgesense-jss", "jss"),)
