"""Rules about the places of options: which place a judge prefers, and whether it keeps its choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure
from jrh.values import Severity
from jrh_measuring import (
    Chain,
    Claim,
    Design,
    Hypothesis,
    KeptShare,
    Rule,
    Situation,
    excludes_zero,
    items_needed,
)

_EVEN: Final = 0.5
_BIAS: Final = "position-bias"
_PLACES: Final = ("first", "second")
_IDENTICAL: Final = tuple(f"identical-{place}-position-rate" for place in _PLACES)
_PREFERENCE: Final = "position-preference"
_ASIDE_WEIGHT: Final = 0.05
"""Of single places: all of them together are one claim."""
_PLACE: Final = "place"
"""What the measures of single places are parted by."""


class PositionBias(Rule):
    """Tells which place a judge prefers, among options and among identical ones."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that no place is preferred, over all orders and among identical options, and that one is."""
        margin = design.settings.margin
        for place in design.wholes(_BIAS):
            yield (Hypothesis(place=place),)
            yield (Hypothesis(place=place, null=margin, equivalence=True),)
        for place in design.parts(_PREFERENCE):
            if {name for name, _ in place.cell} == {_PLACE}:
                yield (Hypothesis(place=place, null=margin, weight=_ASIDE_WEIGHT, equivalence=True),)
        for name in _IDENTICAL:
            for place in design.wholes(name):
                # One-sided, as each place has a hypothesis of its own: above one half for one is below it for the
                # other.
                yield (Hypothesis(place=place, null=_EVEN, side="above"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every test."""
        yield from _position_bias(now)
        yield from _identical_options(now)


class OrderFlips(KeptShare):
    """Tells whether choices change when options swap places, where no reruns tell this from noise."""

    kind = "order-flips"
    name = "swap-consistency"
    what = "its choice when the options"
    verbs = ("swap places", "swapped places")


def _position_bias(now: Situation) -> Iterator[Claim]:
    """Tell which place a judge prefers over the orders of the same options.

    With three options or more the first place minus the last says nothing of those between: the finding rests on the
    place that is furthest from an even share.
    """
    floor, margin = now.floor_of(_BIAS), now.margin
    for overall in now.measures(_BIAS):
        places = _places(now, overall)
        largest = max(places, key=lambda place: abs(place.estimate or 0.0), default=overall)
        if largest.estimate is None or largest.interval is None:
            continue
        is_claimed, needed = now.claims(overall) and (not places or excludes_zero(largest)), None
        if is_claimed and abs(largest.estimate) >= floor:
            severity, statement = Severity.BAD, _preference_sentence(largest)
        elif is_claimed:
            severity, statement = Severity.INFO, f"Negligible position bias (below the floor of {floor:g})"
        # Equivalence has to hold for every place; one that is preferred is enough for a bias.
        elif all(now.within(place, margin) for place in places or (overall,)):
            severity, statement = Severity.GOOD, f"No position bias beyond ±{margin:g}"
        else:
            corrected = now.correction(overall)
            severity = Severity.INCONCLUSIVE
            statement = (
                f"Possibly position bias; {corrected}" if corrected else "Position bias neither shown nor ruled out"
            )
            needed = items_needed(largest, margin, now.family.comparisons)
        yield Claim(
            kind=_BIAS,
            severity=severity,
            statement=statement,
            measure=largest,
            aside="beyond an even share" if places else "" if is_claimed else now.own_p(overall),
            needed=needed,
            floor=floor,
            margin=margin,
        )


def _places(now: Situation, whole: Measure) -> list[Measure]:
    """Return how far each place is from an even share; none for two options, where one measure says it all."""
    parts = now.parts(_PREFERENCE)
    return [part for part in parts if (part.task, part.test) == (whole.task, whole.test) and set(part.cell) == {_PLACE}]


def _preference_sentence(measure: Measure) -> str:
    above = (measure.estimate or 0.0) > 0
    if _PLACE in measure.cell:
        return f"{'Prefers' if above else 'Avoids'} the {measure.cell[_PLACE]} option"
    return f"Prefers the {_PLACES[not above]} option"


def _identical_options(now: Situation) -> Iterator[Claim]:
    """Tell which of several identical responses a judge picks more than half of the time."""
    kind = "identical-options"
    floor = now.floor_of(_BIAS)
    for place in _PLACES:
        for rate in now.measures(f"identical-{place}-position-rate"):
            # Ties take their share: a place above one half is preferred to the other place and to a tie.
            if now.claims(rate, _EVEN) and (rate.estimate or 0.0) >= _EVEN + floor:
                yield Claim(
                    kind=kind,
                    severity=Severity.BAD,
                    statement=f"Picks the {place} of two identical responses",
                    measure=rate,
                    floor=floor,
                )
