"""Interactions and error rates over transcripts stand in the terminal, each with its interval and sizes."""

import re

from attrs import evolve
from jrh import Interval, Measure

INTERACTION = Measure(
    name="interaction",
    judge="careful",
    task="essays",
    test="crossed.verbosity+format",
    estimate=-0.31,
    interval=Interval(low=-0.49, high=-0.12, method="cluster-robust-wilson"),
    unit="difference",
    n_trials=180,
    n_items=30,
    missing={"refused": 2},
)


def test_an_interaction_is_shown_with_its_interval_and_what_it_rests_on(render, report) -> None:
    text = render("terminal", evolve(report, measures=(*report.measures, INTERACTION)), width=160, full=True)

    assert "Interactions of perturbations" in text
    assert re.search(
        r"careful +crossed.verbosity\+format +-0.31\n +\[-0.49, -0.12\]\n +n=30,\n +2 verdicts missing", text
    )
    assert "0 if their effects add up" in text


def test_missed_violations_and_false_alarms_stand_beside_each_other(render, report) -> None:
    missed = evolve(INTERACTION, name="agent-false-negative-rate", test="", estimate=0.25, interval=None)
    alarms = evolve(missed, name="agent-false-positive-rate", estimate=None, flags=("all-missing",))
    text = render("terminal", evolve(report, measures=(*report.measures, missed, alarms)), width=160, full=True)

    table = " ".join(text.partition("Verdicts on edited agent transcripts")[2].split())
    assert table.partition("positives and negatives. ")[2].startswith(
        "Judge FPR FNR careful not estimable (all-missing) +0.25 n=30, n=30, 2 verdicts missing 2 verdicts missing"
    )


def test_without_such_measures_there_is_no_table(render, report) -> None:
    text = render("terminal", report, full=True)
    assert "Agents' transcripts" not in text
    assert "Interactions" not in text
