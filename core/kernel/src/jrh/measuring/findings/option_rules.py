"""Rules about the places of options: which place a judge prefers, and whether it keeps its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.measuring.findings.claims import Claim, Situation, excludes_zero, needed_for, open_effect, within
from jrh.measuring.findings.stability_rules import EXCESS
from jrh.values.finding import Severity
from jrh.values.types import Measure

_BIAS: Final = "position-bias"
_EVEN: Final = 0.5
_PLACES: Final = ("first", "second")


def position_bias(now: Situation) -> Iterator[Claim]:
    """Tell which place a judge prefers over both orders of the same options."""
    floor, margin = now.settings.floor_of(_BIAS), now.settings.margin
    significant = {id(each) for each in now.significant(now.measures(_BIAS)) if excludes_zero(each)}
    for each in now.measures(_BIAS):
        if each.estimate is None or each.interval is None:
            continue
        needed = None
        if id(each) in significant and abs(each.estimate) >= floor:
            severity, statement = Severity.BAD, f"Prefers the {_PLACES[each.estimate < 0]} option"
        elif id(each) in significant:
            severity, statement = Severity.INFO, f"Negligible position bias (below the floor of {floor:g})"
        elif within(each, margin):
            severity, statement = Severity.GOOD, f"No position bias beyond ±{margin:g}"
        else:
            severity, statement = Severity.INCONCLUSIVE, "Position bias neither shown nor ruled out"
            needed = needed_for(each, open_effect(each.estimate, margin))
        yield Claim(
            kind=_BIAS,
            severity=severity,
            statement=statement,
            measure=each,
            needed=needed,
            floor=floor,
            margin=margin,
        )


def order_flips(now: Situation) -> Iterator[Claim]:
    """Tell whether choices change when options swap places, where no reruns tell this from noise."""
    kind = "order-flips"
    floor, margin = now.settings.floor_of(kind), now.settings.margin
    for each in now.measures("swap-consistency"):
        excess = now.whole(EXCESS, each.task, each.test)
        if each.interval is None or each.estimate is None or (excess is not None and excess.estimate is not None):
            continue
        if 1 - each.interval.high > floor:
            severity, statement = Severity.WARNING, "Changes its choice when the options swap places (share that keeps)"
        elif 1 - each.interval.low < margin:
            severity, statement = Severity.GOOD, "Keeps its choice when the options swap places"
        else:
            severity, statement = Severity.INCONCLUSIVE, "May change its choice when the options swap places"
        needed = needed_for(each, max(floor, 1 - each.estimate)) if severity is Severity.INCONCLUSIVE else None
        yield Claim(
            kind=kind, severity=severity, statement=statement, measure=each, needed=needed, floor=floor, margin=margin
        )


def identical_options(now: Situation) -> Iterator[Claim]:
    """Tell which of several identical responses a judge picks more than half of the time."""
    kind = "identical-options"
    floor = now.settings.floor_of(_BIAS)
    for place in _PLACES:
        for each in now.measures(f"identical-{place}-position-rate"):
            if _more_than_half(each, floor):
                yield Claim(
                    kind=kind,
                    severity=Severity.BAD,
                    statement=f"Picks the {place} of two identical responses",
                    measure=each,
                    floor=floor,
                )


def _more_than_half(measure: Measure, floor: float) -> bool:
    found = measure.interval
    return found is not None and found.low > _EVEN and (measure.estimate or 0.0) >= _EVEN + floor
