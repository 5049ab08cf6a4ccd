"""Rules about staying the same: under a test, and when asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.measuring.findings.accuracy_rules import accuracy_change, accuracy_equivalence
from jrh.measuring.findings.claims import UNSURE, Claim, Situation, needed_for, open_effect, within
from jrh.values.finding import Severity
from jrh.values.types import REFERENCE, Measure

EXCESS: Final = "excess-disagreement"
_CHANGE: Final = "accuracy-change"
_RERUN: Final = "rerun-disagreement"


def moves(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts change more than between reruns."""
    kind = "moves-more-than-reruns"
    floor = now.settings.floor_of(kind)
    for each in now.significant(now.steady(EXCESS)):
        if each.interval is None or each.interval.low <= 0:
            continue
        severity, statement = Severity.BAD, "Moves more than reruns"
        if (each.estimate or 0.0) < floor:
            severity, statement = Severity.INFO, f"Moves negligibly more than reruns (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, floor=floor)


def robust(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts are shown to change by no more than the margin beyond reruns."""
    margin = now.settings.margin
    moved = {_place(each.measure) for each in moves(now) if each.severity is Severity.BAD}
    for each in now.steady("excess-equivalence"):
        if "equivalent" in each.flags and not UNSURE & set(each.flags) and _place(each) not in moved:
            statement = f"Robust within ±{margin:g}"
            yield Claim(kind="robust", severity=Severity.GOOD, statement=statement, measure=each, margin=margin)


def undecided(now: Situation) -> Iterator[Claim]:
    """Name the tests of which nothing else can be said, each with what would decide it."""
    margin = now.settings.margin
    decided = {
        _place(each.measure) for rule in (moves, robust, accuracy_change, accuracy_equivalence) for each in rule(now)
    }
    of_excess, of_change = now.steady(EXCESS), now.measures(_CHANGE)
    for each in (*of_excess, *of_change):
        if each.estimate is None or _place(each) in decided:
            continue
        decided.add(_place(each))
        yield Claim(
            kind="undecided",
            severity=Severity.INCONCLUSIVE,
            statement="Too few data to confirm or rule out a change",
            measure=each,
            needed=needed_for(
                each, open_effect(each.estimate, margin), len(of_excess if each.name == EXCESS else of_change)
            ),
            margin=margin,
        )


def unmeasured_noise(now: Situation) -> Iterator[Claim]:
    """Tell how often verdicts differ where no question was asked again, so that nothing tells a change from noise."""
    measured = {_place(each) for each in now.measures(EXCESS) if each.estimate is not None}
    for each in now.steady("flip-rate"):
        if each.estimate is None or _place(each) in measured:
            continue
        statement = "Some verdicts differ from the reference; without reruns this may be noise"
        if not each.estimate:
            statement = "No verdict differs from the reference"
        yield Claim(kind="no-reruns", severity=Severity.INFO, statement=statement, measure=each)


def reruns(now: Situation) -> Iterator[Claim]:
    """Tell whether identical questions get different verdicts."""
    kind = "unstable-on-reruns"
    floor, margin = now.settings.floor_of(kind), now.settings.margin
    for each in now.measures(_RERUN):
        if each.interval is None or each.estimate is None:
            continue
        if each.interval.low > floor:
            severity, statement = Severity.WARNING, "Unstable: identical reruns get different verdicts"
        elif within(each, margin):
            severity, statement = Severity.GOOD, f"Stable on reruns: at most {margin:g} disagree"
        elif each.estimate > floor and each.test == REFERENCE:
            severity, statement = Severity.INCONCLUSIVE, "May be unstable on reruns"
        else:
            continue
        open_one = severity is Severity.INCONCLUSIVE
        needed = needed_for(each, each.estimate - floor) if open_one else None
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, needed=needed, floor=floor)


def _place(measure: Measure) -> tuple[str, str]:
    return measure.task, measure.test
