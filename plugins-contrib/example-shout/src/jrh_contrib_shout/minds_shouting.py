"""The rule: when is it a finding that shouting changes verdicts?"""

from __future__ import annotations

from collections.abc import Iterator

from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Rule, Situation


class MindsShouting(Rule):
    """Tells whether shouting changes more verdicts than the floor."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that shouting changes no more verdicts than the floor."""
        for place in design.measured("loud-agreement"):
            yield (Hypothesis(place=place, null=1 - design.floor_of("minds-shouting"), side="below"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown."""
        floor = now.floor_of("minds-shouting")
        for measure in now.measures("loud-agreement"):
            if now.claims(measure, 1 - floor):
                said = "Changes its verdict when the response shouts (share that stays)"
                bad = Severity.BAD
                yield Claim(
                    kind="minds-shouting", severity=bad, statement=said, measure=measure, kept=True, floor=floor
                )
