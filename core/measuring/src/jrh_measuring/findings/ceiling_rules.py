"""The rule about the human ceiling: does a judge agree with people as well as people agree with each other?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.text.numbers import format_interval, format_number
from jrh.values.finding import Severity
from jrh.values.measures import Measure

from jrh_measuring.findings.claims import Claim, Situation, needed_for

DIFFERENCE: Final = "people-kappa-difference"
PEOPLE: Final = "people-kappa"
JUDGE: Final = "judge-people-kappa"
_KIND: Final = "human-ceiling"
_DIGITS: Final = 2


def human_ceiling(now: Situation) -> Iterator[Claim]:
    """Compare a judge's agreement with people to that of people with each other.

    `people-kappa-difference` decides. "As well" is a test of non-inferiority: the whole 95% interval lies above minus
    the margin, an error rate of 2.5% (one-sided), and the claim is one of the report's claims of equivalence. "Less" is
    a claim of a difference, in the family of the report. Neither is said where people themselves are not shown to
    agree beyond chance: there is no ceiling then.
    """
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
    if well and now.family.shows_equivalence(each, margin):
        return Severity.GOOD, f"Agrees with people as well as people agree with each other (margin {margin:g} of kappa)"
    if (each.estimate or 0.0) < 0 and now.claims(each):
        return Severity.BAD, "Agrees with people less than people agree with each other"
    return Severity.INCONCLUSIVE, "Not shown to agree with people as well as people agree with each other"


def _told(measure: Measure) -> str:
    if measure.estimate is None:
        return "not estimable"
    return f"{format_number(measure.estimate, _DIGITS, proportion=False)} {format_interval(measure, _DIGITS)}".strip()
