"""The rule about rationales that argue for another verdict than the one given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Rule, Situation

_KIND: Final = "rationale-contradiction"
_MISREAD: Final = 0.06
"""The rules that read rationales misread about one in seventeen."""


class Contradictions(Rule):
    """Tells whether rationales argue for another verdict than the one given."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that no more rationales contradict the verdict than are misread."""
        for place in design.measured(_KIND):
            yield (Hypothesis(place=place, null=_MISREAD, side="above"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown and reaches the floor."""
        floor = now.floor_of(_KIND)
        for measure in now.measures(_KIND):
            if now.claims(measure, _MISREAD) and (measure.estimate or 0.0) >= floor:
                yield Claim(
                    kind=_KIND,
                    severity=Severity.BAD,
                    statement="Rationales argue against the verdict",
                    measure=measure,
                    floor=floor,
                )
