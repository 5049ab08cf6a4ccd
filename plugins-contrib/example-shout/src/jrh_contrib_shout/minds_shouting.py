"""The rule: when is it a finding that shouting changes verdicts?"""

from __future__ import annotations

from collections.abc import Iterator

from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Rule, Situation


class MindsShouting(Rule):
    """Tells whether shouting changes more verdicts than the floor."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that shouting changes no more verdicts than the floor."""
        # From the design alone: a hypothesis chosen by its verdicts has an unknown error rate.
        for place in design.wholes("loud-agreement"):
            yield (Hypothesis(place=place, null=1 - design.floor_of("minds-shouting"), side="below"),)

    def claims(self, situation: Situation) -> Iterator[Claim]:
        """Yield what is shown."""
        floor = situation.floor_of("minds-shouting")
        for measure in situation.measures("loud-agreement"):
            if situation.claims(measure, 1 - floor):
                text = "Changes its verdict when the response shouts (share that stays)"
                bad = Severity.BAD
                yield Claim(
                    kind="minds-shouting", severity=bad, statement=text, measure=measure, kept=True, floor=floor
                )
