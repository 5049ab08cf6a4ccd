"""Rules about the places of options: which place a judge prefers, and whether it keeps its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from jrh.measuring.findings.claims import (
    Claim,
    Situation,
    excludes_zero,
    kept_within,
    needed_for,
    open_effect,
    within,
)
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
            needed = needed_for(each, open_effect(each.estimate, margin), len(now.measures(_BIAS)))
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
    yield from _kept(now, "order-flips", "swap-consistency", "its choice when the options swap places")


def template_flips(now: Situation) -> Iterator[Claim]:
    """Tell whether verdicts change with the prompt template, where no reruns tell this from noise."""
    yield from _kept(now, "template-flips", "jss", "its verdict when the prompt template changes")


def _kept(now: Situation, kind: str, name: str, what: str) -> Iterator[Claim]:
    """Hold a share of unchanged verdicts against floor and margin."""
    floor, margin = now.settings.floor_of(kind), now.settings.margin
    for each in now.measures(name):
        excess = now.whole(EXCESS, each.task, each.test)
        if each.interval is None or each.estimate is None or (excess is not None and excess.estimate is not None):
            continue
        needed = None
        if 1 - each.interval.high > floor:
            severity, statement = Severity.WARNING, f"Changes {what} (share that agrees)"
        elif kept_within(each, margin):
            severity, statement = Severity.GOOD, f"Keeps {what} (share that agrees)"
        else:
            severity, statement = Severity.INCONCLUSIVE, f"May change {what} (share that agrees)"
            needed = needed_for(evolve(each, estimate=1 - each.estimate), open_effect(1 - each.estimate, margin))
        yield Claim(
            kind=kind,
            severity=severity,
            statement=statement,
            measure=each,
            kept=True,
            needed=needed,
            floor=floor,
            margin=margin,
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
