"""Findings: what may be said of a judge, and what it takes to say more."""

from __future__ import annotations

import pytest
from attrs import evolve
from jrh import REFERENCE, Interval, Measure, RunReport, Scale, Task
from jrh.measuring import findings_of
from jrh.values import Finding, FindingSettings, Severity, TaskSummary
from jrh_testing import empty_report


def measure(name: str, estimate: float | None, ends: tuple[float, float] | None = None, **fields) -> Measure:
    given = {"judge": "judge", "task": "task", "test": "format", "n_trials": 60, "n_items": 60}
    interval = None if ends is None else Interval(low=ends[0], high=ends[1])
    return Measure(name=name, estimate=estimate, interval=interval, **(given | fields))


def moved(estimate: float, ends: tuple[float, float], p: float, **fields) -> tuple[Measure, ...]:
    """Return an excess disagreement with its p-value."""
    excess = measure("excess-disagreement", estimate, ends, unit="difference", **fields)
    return excess, measure("excess-disagreement-p", p, unit="p-value", **fields)


def report(*measures: Measure, gold: dict[str, int] | None = None) -> RunReport:
    """Return a report with these measures."""
    gold = {"YES": 30, "NO": 30} if gold is None else gold
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    summary = TaskSummary(task=task, items=60, labelled=sum(gold.values()), gold=gold)
    return evolve(
        empty_report(),
        tasks=(summary,),
        judges=tuple(dict.fromkeys(each.judge for each in measures if each.judge)),
        tests=tuple(dict.fromkeys((REFERENCE, *(each.test for each in measures if each.test)))),
        measures=measures,
    )


def only(found: tuple[Finding, ...]) -> Finding:
    assert len(found) == 1, [each.sentence for each in found]
    return found[0]


def right(estimate: float, ends: tuple[float, float], **fields) -> Measure:
    return measure("gold-accuracy", estimate, ends, test=REFERENCE, **fields)


@pytest.mark.parametrize(
    ("measured", "severity", "statement"),
    [
        (right(0.8, (0.7, 0.9)), Severity.GOOD, "Better than always answering the most common gold label"),
        (right(0.3, (0.2, 0.4)), Severity.BAD, "Worse than always answering the most common gold label"),
        (
            right(0.55, (0.43, 0.67)),
            Severity.INCONCLUSIVE,
            "Not significantly different from always answering the most common gold label",
        ),
    ],
)
def test_accuracy_is_held_against_the_most_common_label(measured, severity, statement) -> None:
    found = only(findings_of(report(measured)))
    assert (found.severity, found.statement) == (severity, statement)


def test_an_inconclusive_finding_says_how_many_labels_would_decide() -> None:
    found = only(findings_of(report(right(0.55, (0.43, 0.67)))))
    # n (h (1.96 + 0.8416) / (1.96 d))^2 = 60 (0.12 x 1.4294 / 0.05)^2 = 706, rounded up to two digits
    assert found.decide == "about 710 labels"
    assert found.sentence.endswith("n = 60 items (about 710 labels would decide).")


def test_a_significant_effect_below_the_floor_is_negligible_and_no_failure() -> None:
    skew = moved(0.02, (0.01, 0.03), 0.004)
    found = only(findings_of(report(*skew)))
    assert (found.severity, found.floor) == (Severity.INFO, 0.03)
    assert "below the floor of 0.03" in found.statement
    lower = only(findings_of(report(*skew), FindingSettings(floors={"moves-more-than-reruns": 0.015})))
    assert (lower.severity, lower.statement) == (Severity.BAD, "Moves more than reruns")


def test_tests_with_the_same_statement_are_one_finding_with_the_largest_first() -> None:
    small, large = moved(0.1, (0.05, 0.2), 0.001, test="small"), moved(0.3, (0.2, 0.4), 0.001, test="large")
    found = only(findings_of(report(*small, *large)))
    assert found.sentence == (
        "Moves more than reruns: large +0.30 [0.20, 0.40], n = 60 items; small +0.10 [0.05, 0.20], n = 60 items."
    )
    assert [each.test for each in found.basis] == ["large", "small"]


def test_holm_is_applied_over_all_tests_of_a_judge() -> None:
    several = [moved(0.2, (0.01, 0.4), 0.02, test=f"test{number}") for number in range(5)]
    assert only(findings_of(report(*(each for pair in several for each in pair)))).kind == "undecided"
    assert only(findings_of(report(*several[0]))).kind == "moves-more-than-reruns"
