"""One rule and one measure: does it hold, does it fail, or is it undecided."""

from __future__ import annotations

import math
from enum import Enum

from attrs import frozen
from jrh import Interval, JrhError, Measure
from jrh.suite import Rule


class Outcome(Enum):
    """What can be said of a rule."""

    HOLDS = "holds"
    """The whole interval is on the right side of the threshold."""
    FAILS = "fails"
    """The whole interval is on the wrong side."""
    UNDECIDED = "undecided"
    """The threshold lies within the interval, or there is no interval."""


@frozen(kw_only=True)
class Place:
    """What a rule is decided about."""

    judge: str
    task: str
    test: str


@frozen(kw_only=True)
class Decision:
    """A rule, decided at one place."""

    rule: Rule
    place: Place
    measure: Measure | None
    """None where the run does not have it."""
    outcome: Outcome
    reason: str
    """Why; one short sentence without the numbers."""


def decide(rule: Rule, measure: Measure) -> Decision:
    """Decide a rule by a measure's interval.

    With the interval [low, high] and `>= t`: it holds if low >= t, fails if high < t, and is undecided otherwise; the
    other operators accordingly. Without an estimate or an interval it is undecided. It is thereby wrong to hold, or
    wrong to fail, with a probability of at most half of 1 - level each, as far as the interval covers.

    Raises:
        JrhError: the measure is a share, and the threshold is none.
    """
    if measure.unit == "proportion" and abs(rule.threshold) > 1:
        raise JrhError(
            f"rule '{rule.text}': {measure.name} is a share from 0 to 1; write the threshold as 0.9 or 90%, "
            f"not {rule.threshold:g}"
        )
    outcome, reason = _decided(rule, measure)
    place = Place(judge=measure.judge, task=measure.task, test=measure.test)
    return Decision(rule=rule, place=place, measure=measure, outcome=outcome, reason=reason)


def usable_interval(measure: Measure) -> Interval | None:
    """Return the measure's interval where it has one of numbers."""
    found = measure.interval
    if found is None or math.isnan(found.low) or math.isnan(found.high):
        return None
    return found


def _decided(rule: Rule, measure: Measure) -> tuple[Outcome, str]:
    interval = usable_interval(measure)
    if measure.estimate is None or not math.isfinite(measure.estimate):
        why = measure.note or ", ".join(flag for flag in measure.flags if flag != "simulated")
        return Outcome.UNDECIDED, f"not estimable{f': {why}' if why else ''}"
    if interval is None:
        return Outcome.UNDECIDED, "the measure has no interval"
    near, far = (interval.low, interval.high) if rule.operator.upwards else (interval.high, interval.low)
    if rule.operator.met(near, rule.threshold):
        return Outcome.HOLDS, "the whole interval meets the threshold"
    if not rule.operator.met(far, rule.threshold):
        return Outcome.FAILS, "the whole interval misses the threshold"
    return Outcome.UNDECIDED, "the threshold lies within the interval"
