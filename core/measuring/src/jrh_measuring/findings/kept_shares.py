"""Rules about shares of verdicts that stay the same, where no reruns tell a change from noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from jrh import Measure
from jrh.values import Severity

from jrh_measuring.findings.claims import Claim, Situation, items_needed
from jrh_measuring.findings.design import Chain, Design, Hypothesis
from jrh_measuring.findings.rule import Rule
from jrh_measuring.missing_verdicts import complement


class KeptShare(Rule):
    """Holds a share of unchanged verdicts against floor and margin."""

    kind: ClassVar[str]
    """The kind of finding."""
    name: ClassVar[str]
    """The measure: a share of verdicts that agree."""
    what: ClassVar[str]
    """What is kept and when, without the verb."""
    verbs: ClassVar[tuple[str, str]]
    """What happens meanwhile, in the present and in the past."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that the share falls short of 1 by no more than the floor, and that it does so by the margin."""
        for place in design.wholes(self.name):
            # With reruns the excess over their noise decides: a share of changes alone says less.
            if not design.separates_noise(place.task, place.test):
                yield (Hypothesis(place=place, null=1 - design.floor_of(self.kind), side="below"),)
                kept = 1 - design.settings.margin
                yield (Hypothesis(place=place, null=kept, side="above", equivalence=True),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per test."""
        what, never = (f"{self.what} {verb}" for verb in self.verbs)
        floor, margin = now.floor_of(self.kind), now.margin
        for measure in now.measures(self.name):
            if measure.interval is None or measure.estimate is None or now.reruns_tell(measure.task, measure.test):
                continue
            needed = None
            if now.claims(measure, 1 - floor):
                severity, statement = Severity.WARNING, f"Changes {what} (share that agrees)"
            elif now.complement_within(measure, margin):
                severity, statement = Severity.GOOD, f"Keeps {what} (share that agrees)"
            else:
                severity, statement = Severity.INCONCLUSIVE, _open(now, measure, 1 - floor, what, never)
                needed = items_needed(complement(measure, measure.name), margin)
            yield Claim(
                kind=self.kind,
                severity=severity,
                statement=statement,
                measure=measure,
                kept=True,
                needed=needed,
                floor=floor,
                margin=margin,
            )


def _open(now: Situation, kept: Measure, null: float, what: str, never: str) -> str:
    """Say that a share of unchanged verdicts is open: nothing changed, too little, or too little for the family."""
    if kept.estimate == 1.0:
        return f"Never changed {never}; too few items to rule out changes (share that agrees)"
    corrected = now.correction(kept, null)
    if corrected:
        return f"Possibly changes {what}; {corrected} (share that agrees)"
    return f"May change {what} (share that agrees)"
