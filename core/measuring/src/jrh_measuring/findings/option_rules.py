"""Rules about the places of options: which place a judge prefers, and whether it keeps its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve
from jrh.values.finding import Severity
from jrh.values.measures import Measure

from jrh_measuring.findings.claims import (
    Claim,
    Situation,
    excludes_zero,
    needed_for,
    open_effect,
)
from jrh_measuring.findings.hypotheses import EVEN, inverted, reruns_tell

_BIAS: Final = "position-bias"
_PLACES: Final = ("first", "second")
_PLACE: Final = "place"
"""What the measures of single places are parted by."""


def position_bias(now: Situation) -> Iterator[Claim]:
    """Tell which place a judge prefers over the orders of the same options.

    With three options or more the first place minus the last says nothing of those between: the finding rests on the
    place that is furthest from an even share.
    """
    floor, margin = now.settings.floor_of(_BIAS), now.settings.margin
    for whole in now.measures(_BIAS):
        places = _places(now, whole)
        each = max(places, key=lambda place: abs(place.estimate or 0.0), default=whole)
        if each.estimate is None or each.interval is None:
            continue
        found, needed = now.claims(whole) and (not places or excludes_zero(each)), None
        if found and abs(each.estimate) >= floor:
            severity, statement = Severity.BAD, _preferred(each)
        elif found:
            severity, statement = Severity.INFO, f"Negligible position bias (below the floor of {floor:g})"
        elif all(now.within(place, margin) for place in places or (whole,)):
            severity, statement = Severity.GOOD, f"No position bias beyond ±{margin:g}"
        else:
            corrected = now.corrected(whole)
            severity = Severity.INCONCLUSIVE
            statement = f"Position bias {f'not shown {corrected}' if corrected else 'neither shown nor ruled out'}"
            needed = needed_for(each, open_effect(each.estimate, margin), now.family.comparisons)
        yield Claim(
            kind=_BIAS,
            severity=severity,
            statement=statement,
            measure=each,
            aside="beyond an even share" if places else "" if found else now.own_p(whole),
            needed=needed,
            floor=floor,
            margin=margin,
        )


def _places(now: Situation, whole: Measure) -> list[Measure]:
    """Return how far each place is from an even share; none for two options, where one measure says it all."""
    parts = now.parts("position-preference")
    return [each for each in parts if (each.task, each.test) == (whole.task, whole.test) and set(each.cell) == {_PLACE}]


def _preferred(measure: Measure) -> str:
    above = (measure.estimate or 0.0) > 0
    if _PLACE in measure.cell:
        return f"{'Prefers' if above else 'Avoids'} the {measure.cell[_PLACE]} option"
    return f"Prefers the {_PLACES[not above]} option"


def order_flips(now: Situation) -> Iterator[Claim]:
    """Tell whether choices change when options swap places, where no reruns tell this from noise."""
    yield from _kept(
        now, "order-flips", "swap-consistency", "its choice when the options", ("swap places", "swapped places")
    )


def template_flips(now: Situation) -> Iterator[Claim]:
    """Tell whether verdicts change with the prompt template, where no reruns tell this from noise."""
    yield from _kept(now, "template-flips", "jss", "its verdict when the prompt template", ("changes", "changed"))


def _kept(now: Situation, kind: str, name: str, what: str, verbs: tuple[str, str]) -> Iterator[Claim]:
    """Hold a share of unchanged verdicts against floor and margin."""
    what, never = (f"{what} {verb}" for verb in verbs)
    floor, margin = now.settings.floor_of(kind), now.settings.margin
    for each in now.measures(name):
        if each.interval is None or each.estimate is None or reruns_tell(now, each):
            continue
        needed = None
        if now.claims(each, 1 - floor):
            severity, statement = Severity.WARNING, f"Changes {what} (share that agrees)"
        elif now.kept_within(each, margin):
            severity, statement = Severity.GOOD, f"Keeps {what} (share that agrees)"
        else:
            severity, statement = Severity.INCONCLUSIVE, _open(now, each, 1 - floor, what, never)
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


def _open(now: Situation, kept: Measure, null: float, what: str, never: str) -> str:
    """Say that a share of unchanged verdicts is open: nothing changed, too little, or too little for the family."""
    if kept.estimate == 1.0:
        return f"Never changed {never}; too few items to rule out changes (share that agrees)"
    corrected = now.corrected(kept, null)
    if corrected:
        return f"Not shown to change {what} {corrected} (share that agrees)"
    return f"May change {what} (share that agrees)"


def overlooked_inversion(now: Situation) -> Iterator[Claim]:
    """Tell whether a judge answers an inverted question as if it were not inverted.

    Of two labels, whoever reads the inversion keeps the verdict and noise alone flips half of them at most.
    """
    for each in now.measures("flip-rate"):
        if not now.claims(each, EVEN) or not inverted(now, each):
            continue
        yield Claim(
            kind="polarity-blindness",
            severity=Severity.BAD,
            statement="Overlooks that the question is inverted: most answers stay as they were",
            measure=each,
        )


def identical_options(now: Situation) -> Iterator[Claim]:
    """Tell which of several identical responses a judge picks more than half of the time."""
    kind = "identical-options"
    floor = now.settings.floor_of(_BIAS)
    for place in _PLACES:
        for each in now.measures(f"identical-{place}-position-rate"):
            if now.claims(each, EVEN) and (each.estimate or 0.0) >= EVEN + floor:
                yield Claim(
                    kind=kind,
                    severity=Severity.BAD,
                    statement=f"Picks the {place} of two identical responses",
                    measure=each,
                    floor=floor,
                )
