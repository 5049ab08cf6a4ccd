"""Rules about being right, compared with the reference condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure
from jrh.values import Severity, has_model_gold
from jrh_measuring import Claim, Situation, margin_of

EXPECTED: Final = "as-expected"
RERUN: Final = "rerun-disagreement"
_HALF: Final = 0.5


def accuracy_change(now: Situation) -> Iterator[Claim]:
    """Tell in which tests accuracy is lower or higher than in the reference condition."""
    kind = "accuracy-change"
    floor = now.floor_of(kind)
    for measure in now.measures("accuracy-change"):
        if not now.claims(measure):
            continue
        lower = (measure.estimate or 0.0) < 0
        severity = Severity.BAD if lower else Severity.INFO
        word = name_accuracy(now, measure)
        statement = f"{word} {'lower' if lower else 'higher'} than in the reference condition"
        if abs(measure.estimate or 0.0) < floor:
            severity, statement = Severity.INFO, f"{word} changes negligibly (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def misses_changes(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts do not follow a change that is due.

    Where accuracy is shown to be lower than on the unchanged items, that is enough (`silences`).
    """
    kind = "misses-changes"
    floor = now.floor_of(kind)
    for measure in now.measures(EXPECTED):
        if not now.design.moves(measure.task, measure.test) or measure.interval is None:
            continue
        if now.claims(measure, least_expected(now, measure)):
            # Bad where even the upper end says that most of the changes go unnoticed.
            severity = Severity.BAD if measure.interval.high < _HALF else Severity.WARNING
            statement = "Notices too few of the planted changes (share noticed)"
            if measure.test in now.design.directed.get(measure.task, ()):
                statement = "Verdicts move in the direction that the test rules out (share that does not)"
            yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor, kept=True)


def accuracy_equivalence(now: Situation) -> Iterator[Claim]:
    """Tell in which tests the change of accuracy is shown to be within the margin."""
    for measure in now.measures("accuracy-equivalence"):
        # Both claims rest on the ends of an interval that may be too narrow.
        if now.doubtful(measure):
            continue
        margin = margin_of(measure, now.margin)
        if now.claims(measure, beyond_margin(now, measure)):
            yield Claim(
                kind="accuracy-equivalence",
                severity=Severity.BAD,
                statement=f"Accuracy changes by more than the margin of {margin:g}",
                measure=measure,
                margin=margin,
            )
        if now.equivalent(measure):
            yield Claim(
                kind="accuracy-equivalence",
                severity=Severity.GOOD,
                statement=f"{name_accuracy(now, measure)} equivalent to the reference within ±{margin:g}",
                measure=measure,
                margin=margin,
            )


def name_accuracy(now: Situation, measure: Measure) -> str:
    """Name the agreement with gold: that with a model's labels is no accuracy."""
    summary = now.design.tasks.get(measure.task)
    by_model = summary is not None and has_model_gold(summary.gold_sources)
    return "Agreement with model labels" if by_model else "Accuracy"


def beyond_margin(now: Situation, measure: Measure) -> float:
    """Return the end of the margin that is on the side of an estimate."""
    margin = margin_of(measure, now.margin)
    # Beyond the other end the estimate gives no evidence at all.
    return margin if (measure.estimate or 0.0) > 0 else -margin


def least_expected(now: Situation, measure: Measure) -> float:
    """Return the share of verdicts as expected that a test whose verdicts may change asks for at least.

    Where a test only rules out a direction, half of what reruns disagree about moves that way without any cause.
    """
    least = 1 - now.floor_of("misses-changes")
    if measure.test not in now.design.directed.get(measure.task, ()):
        return least
    reruns = now.whole(RERUN, measure.task)
    # Unmeasured noise counts as the most that noise can be: a judge is not blamed for what may be chance.
    if reruns is None or reruns.estimate is None:
        return max(0.0, least - now.design.most_noise(measure.task) / 2)
    high = reruns.estimate if reruns.interval is None else reruns.interval.high
    return max(0.0, least - high / 2)
