"""The rules about preferences that run in circles, and ways of asking that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Rule, Situation, estimate_text

from jrh_consistency.measure_list import CYCLES, ONE_ORDER, WAYS

_FEW_CYCLES: Final = 0.05
"""A judge whose cycles are shown to be rarer is called transitive."""
_HIGH: Final = 0.9
"""Two ways of asking that are shown to agree on more of the decided pairs are called consistent."""


class Cycles(Rule):
    """Tells whether preferences run in circles more often than noise explains."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that noise explains all cycles, and that cycles are not rare."""
        for place in design.wholes("cycle-excess"):
            yield (Hypothesis(place=place, side="above"),)
        for place in design.wholes("cycle-share"):
            yield (Hypothesis(place=place, null=_FEW_CYCLES, side="below", equivalence=True),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per task."""
        floor = now.floor_of(CYCLES)
        for share in now.measures("cycle-share"):
            excess, noise = (now.counterpart(share, f"cycle-{end}") for end in ("excess", "noise"))
            # Without the noise nothing can be said: a cycle may be a slip.
            if share.estimate is None or excess is None or noise is None:
                continue
            if now.claims(excess) and (excess.estimate or 0.0) >= floor:
                kind, severity = CYCLES, Severity.BAD
                statement = "Preferences run in circles more often than noise explains (share of triples)"
                if ONE_ORDER in share.flags:
                    statement += "; position bias may be the cause: add `option-order`"
            # Few cycles are a claim of their own, with a test of their own: no excess over noise is not yet
            # transitivity.
            elif now.shows_equivalence(share) and now.within(share, _FEW_CYCLES):
                kind, severity = "transitive", Severity.GOOD
                statement = "Preferences are transitive (share of triples that run in circles)"
            else:
                kind, severity = "cycles-undecided", Severity.INCONCLUSIVE
                statement = "Preferences are shown neither to be transitive nor to run in circles (share of triples)"
            aside = f"by noise at most {estimate_text(noise)}"
            yield Claim(kind=kind, severity=severity, statement=statement, measure=share, aside=aside, floor=floor)


class Agreement(Rule):
    """Tells whether two ways of asking contradict each other more often than noise explains."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that noise explains all contradictions, and that the two do not agree on most pairs."""
        for name in WAYS:
            for place, weight in design.parts_with_weights(f"{name}-excess"):
                yield (Hypothesis(place=place, side="above", weight=weight),)
            for place in design.parts(name):
                yield (Hypothesis(place=place, null=_HIGH, side="above", equivalence=True),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per two tasks."""
        for name, (first, other) in WAYS.items():
            floor = now.floor_of(f"{name}-conflict")
            for share in now.parts(name):
                excess = now.counterpart(share, f"{name}-excess")
                conflicts = now.counterpart(share, f"{name}-conflict")
                if excess is None or conflicts is None or conflicts.estimate is None:
                    continue
                end, severity = "undecided", Severity.INCONCLUSIVE
                verb = "are shown neither to agree nor to contradict each other"
                if now.claims(excess) and (excess.estimate or 0.0) >= floor:
                    end, severity, verb = "conflict", Severity.BAD, "contradict each other more than noise explains"
                elif now.shows_equivalence(share) and now.complement_within(share, 1 - _HIGH):
                    end, severity, verb = "agree", Severity.GOOD, "agree"
                ways = f"{first.capitalize()} ('{share.cell['compared-with']}') and {other}"
                yield Claim(
                    kind=f"{name}-{end}",
                    severity=severity,
                    statement=f"{ways} {verb} (share of pairs that agree, where both decide)",
                    measure=share,
                    aside=f"contradiction in {estimate_text(conflicts)} of all pairs, {estimate_text(excess)} beyond "
                    "noise",
                    kept=True,
                    floor=floor,
                )
