"""Decide whether a rule holds, fails or is undecided for a measure."""

from __future__ import annotations

import math
from enum import Enum

from attrs import frozen
from jrh import Interval, JrhError, Measure
from jrh.suite import Rule


class Outcome(Enum):
    """The outcome of a rule."""

    HOLDS = "holds"
    """The whole interval is on the right side of the threshold."""
    FAILS = "fails"
    """The whole interval is on the wrong side."""
    UNDECIDED = "undecided"
    """The threshold is inside the interval, or there is no interval."""


@frozen(kw_only=True)
class Place:
    """The task, judge and test for which a rule is decided."""

    judge: str
    task: str
    test: str


@frozen(kw_only=True)
class Decision:
    """A rule's outcome at one place."""

    rule: Rule
    place: Place
    measure: Measure | None
    """None if the run does not have it."""
    outcome: Outcome
    reason: str
    """The reason in one short sentence, without numbers."""


def decide(rule: Rule, measure: Measure) -> Decision:
    """Decide a rule by a measure's interval.

    With the interval [low, high] and `>= t`: it holds if low >= t, fails if high < t, and is undecided otherwise; the
    other operators accordingly. Without an estimate or an interval it is undecided. If the interval has its nominal
    coverage, the probability of wrongly holding, or of wrongly failing, is at most (1 - level) / 2.

    Raises:
        JrhError: The measure is a share but the threshold is not.
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
    """Return the measure's interval if it has a finite one."""
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
    return Outcome.UNDECIDED, "the threshold is inside the interval"
