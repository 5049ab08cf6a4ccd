"""Rules about staying the same: under a test, and when asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.measuring.findings.claims import Claim, Situation
from jrh.values.finding import Severity

EXCESS: Final = "excess-disagreement"


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
