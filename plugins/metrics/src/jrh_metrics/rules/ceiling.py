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
    format_interval,
    format_number,
    margin_of,
    needed_for,
    read_off,
)

DIFFERENCE: Final = "people-kappa-difference"
PEOPLE: Final = "people-kappa"
JUDGE: Final = "judge-people-kappa"
_KIND: Final = "human-ceiling"
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
        for place in design.measured(DIFFERENCE):
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
        return _human_ceiling(now)


def _human_ceiling(now: Situation) -> Iterator[Claim]:
    for each in now.measures(DIFFERENCE):
        people, judge = now.whole(PEOPLE, each.task), now.whole(JUDGE, each.task)
        if each.interval is None or each.estimate is None or people is None or judge is None:
            continue
        margin = each.margin or 0.0
        if people.interval is None or people.interval.low <= 0:
            yield Claim(
                kind=_KIND,
                severity=Severity.WARNING,
                statement="People are not shown to agree with each other beyond chance: their labels are no ceiling",
                measure=people,
            )
            continue
        severity, statement = _said(now, each, margin)
        needed = None
        if severity is Severity.INCONCLUSIVE:
            needed = needed_for(each, max(each.estimate + margin, -each.estimate), now.family.comparisons)
        yield Claim(
            kind=_KIND,
            severity=severity,
            statement=statement,
            measure=each,
            aside=f"(kappa with people {_told(judge)}, of people {_told(people)})",
            needed=needed,
            margin=margin,
        )


def _said(now: Situation, each: Measure, margin: float) -> tuple[Severity, str]:
    found = each.interval
    well = found is not None and found.low > -margin and not now.doubtful(each)
    if well and now.shows_equivalence(each):
        return Severity.GOOD, f"Agrees with people as well as people agree with each other (margin {margin:g} of kappa)"
    if (each.estimate or 0.0) < 0 and now.claims(each):
        return Severity.BAD, "Agrees with people less than people agree with each other"
    return Severity.INCONCLUSIVE, "Not shown to agree with people as well as people agree with each other"


def _told(measure: Measure) -> str:
    if measure.estimate is None:
        return "not estimable"
    return f"{format_number(measure.estimate, _DIGITS, proportion=False)} {format_interval(measure, _DIGITS)}".strip()
