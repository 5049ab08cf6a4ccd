"""The rule about scores: whether they tell right from wrong, and which tests move them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import REFERENCE
from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Rule, Situation, items_needed

from jrh_reward.options import AUC, SHIFT

_EVEN: Final = 0.5
_SHIFTED: Final = "scores-shift"


class Scores(Rule):
    """Tells whether scores tell right from wrong, and which tests move them."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that right and wrong score alike in the reference condition, and that no test moves scores."""
        for place in design.wholes(AUC):
            if place.test == REFERENCE:
                yield (Hypothesis(place=place, null=_EVEN),)
        for place in design.wholes(SHIFT):
            yield (Hypothesis(place=place),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim about the order of scores, and one per test that is shown to move them."""
        for area in now.measures(AUC):
            if area.test != REFERENCE or area.estimate is None or area.interval is None:
                continue
            needed = None
            if now.claims(area, _EVEN) and area.estimate > _EVEN:
                kind, severity, statement = "scores-order", Severity.GOOD, "Scores tell right from wrong"
            elif now.claims(area, _EVEN):
                kind, severity, statement = "scores-inverted", Severity.BAD, "Right answers score lower than wrong ones"
            else:
                corrected = now.correction(area, _EVEN)
                kind, severity = "scores-undecided", Severity.INCONCLUSIVE
                statement = "Scores are not shown to tell right from wrong"
                if corrected:
                    statement = f"Scores possibly tell right from wrong; {corrected}"
                needed = items_needed(area, now.margin, now.family.comparisons)
            aside = "area under the curve, 0.5 is chance"
            yield Claim(kind=kind, severity=severity, statement=statement, measure=area, aside=aside, needed=needed)
        floor, unit = now.floor_of(_SHIFTED), "standard deviations of the reference scores"
        for shift in now.measures(SHIFT):
            value = shift.estimate or 0.0
            if now.claims(shift) and abs(value) >= floor:
                yield Claim(
                    kind=_SHIFTED,
                    severity=Severity.WARNING,
                    statement=f"Scores {'rise' if value > 0 else 'fall'}, in {unit}",
                    measure=shift,
                    floor=floor,
                )
