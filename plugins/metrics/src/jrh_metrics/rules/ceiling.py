"""The rule about the human ceiling: does a judge agree with people as well as people agree with each other?"""

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
    PValue,
    Rule,
    Situation,
    format_figure,
    items_needed,
    margin_of,
    read_off,
)

DIFFERENCE: Final = "people-kappa-difference"
PEOPLE: Final = "people-kappa"
JUDGE: Final = "judge-people-kappa"
_KIND: Final = "human-ceiling"
_NO_CEILING: Final = "People are not shown to agree with each other beyond chance: their labels are no ceiling"
_DIGITS: Final = 2


class HumanCeiling(Rule):
    """Compares a judge's agreement with people to that of people with each other.

    `people-kappa-difference` decides. "As well" is a test of non-inferiority: the whole 95% interval lies above minus
    the margin, an error rate of 2.5% (one-sided), and the claim is one of the report's claims of equivalence. "Less" is
    a claim of a difference, in the family of the report. Neither is said where people themselves are not shown to
    agree beyond chance: there is no ceiling then.
    """

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that a judge agrees with people as they do with each other, and that it does so by the margin less."""
        for place in design.wholes(DIFFERENCE):
            yield (Hypothesis(place=place, side="below", weight=0.25),)
            yield (Hypothesis(place=place, equivalence=True),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test a difference, or that it is below minus the margin."""
        measure = now.at(hypothesis.place)
        if not hypothesis.equivalence or measure is None:
            return super().test(hypothesis, now)
        margin = margin_of(measure, now.margin)
        p = read_off(measure, -margin)
        return PValue(p=p / 2 if p is not None and (measure.estimate or 0.0) > -margin else 1.0)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per task that several people labelled."""
        for difference in now.measures(DIFFERENCE):
            people, judge = now.whole(PEOPLE, difference.task), now.whole(JUDGE, difference.task)
            if difference.interval is None or difference.estimate is None or people is None or judge is None:
                continue
            margin = difference.margin or 0.0
            if people.interval is None or people.interval.low <= 0:
                yield Claim(
                    kind=_KIND,
                    severity=Severity.WARNING,
                    statement=_NO_CEILING,
                    measure=people,
                )
                continue
            severity, statement = _decide(now, difference, margin)
            needed = None
            if severity is Severity.INCONCLUSIVE:
                needed = items_needed(difference, margin, now.family.comparisons)
            figures = [format_figure(kappa, _DIGITS) for kappa in (judge, people)]
            yield Claim(
                kind=_KIND,
                severity=severity,
                statement=statement,
                measure=difference,
                aside=f"(kappa with people {figures[0]}, of people {figures[1]})",
                needed=needed,
                margin=margin,
            )


def _decide(now: Situation, difference: Measure, margin: float) -> tuple[Severity, str]:
    interval = difference.interval
    # The claim of equivalence and the interval in print have to agree: a reader checks one against the other.
    well = interval is not None and interval.low > -margin and not now.doubtful(difference)
    if well and now.shows_equivalence(difference):
        return Severity.GOOD, f"Agrees with people as well as people agree with each other (margin {margin:g} of kappa)"
    if (difference.estimate or 0.0) < 0 and now.claims(difference):
        return Severity.BAD, "Agrees with people less than people agree with each other"
    return Severity.INCONCLUSIVE, "Not shown to agree with people as well as people agree with each other"
