"""Decide whether a rule holds, fails or is undecided for a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Final

from attrs import frozen
from jrh import Interval, JrhError, Measure
from jrh.values import FindingSettings, Flag
from jrh_stats import binomial_limits, items_for_threshold, items_to_decide, threshold_items

from jrh_measuring import Advice, GateRule, unsure
from jrh_measuring.gating.rule_limits import Limits

_SAME: Final = 1e-9
_LEAST: Final = 1e-6
"""No number of items is advised for a share closer to 0 or 1."""


class Outcome(Enum):
    """The outcome of a rule."""

    HOLDS = "holds"
    """The near limit meets the threshold."""
    FAILS = "fails"
    """The far limit misses it."""
    UNDECIDED = "undecided"
    """The threshold is between the limits, or there are none that can be relied on."""


@frozen(kw_only=True)
class Place:
    """The task, judge and test for which a rule is decided."""

    judge: str
    task: str
    test: str


@frozen(kw_only=True)
class Decision:
    """A rule's outcome at one place."""

    rule: GateRule
    place: Place
    measure: Measure | None
    """As the report has it; None if the run does not have it."""
    outcome: Outcome
    reason: str
    """The reason in one short sentence."""
    limits: Limits | None = None
    """What decided; None if nothing could."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return the lower and the upper limit that the rule was decided by."""
        if self.limits is None:
            return None
        sides = (
            (self.limits.hold, self.limits.fail) if self.rule.operator.upwards else (self.limits.fail, self.limits.hold)
        )
        lower, upper = (usable_interval(side) for side in sides)
        return None if lower is None or upper is None else (lower.low, upper.high)


def decide(rule: GateRule, measure: Measure, limits: Limits | None, flags: Mapping[str, Flag]) -> Decision:
    """Decide a rule by one-sided limits.

    For `>= t`: it holds if the lower limit is at least t, fails if the upper limit is below t, and is undecided
    otherwise; the other operators accordingly. Each limit errs in at most the share of samples that `limits` states.
    Without an estimate, without limits, or with limits that may err more often (`jrh_measuring.unsure`) it is
    undecided.

    Args:
        rule: the rule.
        measure: the measure as the report has it.
        limits: its limits; None if they cannot be computed because its metric is not installed.
        flags: those that the run declares, by name.

    Raises:
        JrhError: The measure is a share but the threshold is not.
    """
    # Most likely 90 was meant as 90%.
    if measure.unit == "proportion" and abs(rule.threshold) > 1:
        raise JrhError(
            f"rule '{rule.text}': {measure.name} is a share from 0 to 1; write the threshold as 0.9 or 90%, "
            f"not {rule.threshold:g}"
        )
    outcome, reason = _outcome(rule, measure, limits, flags)
    place = Place(judge=measure.judge, task=measure.task, test=measure.test)
    return Decision(rule=rule, place=place, measure=measure, outcome=outcome, reason=reason, limits=limits)


def usable_interval(measure: Measure) -> Interval | None:
    """Return the measure's interval if it has a finite one."""
    interval = measure.interval
    if interval is None or math.isnan(interval.low) or math.isnan(interval.high):
        return None
    return interval


def _outcome(rule: GateRule, measure: Measure, limits: Limits | None, flags: Mapping[str, Flag]) -> tuple[Outcome, str]:
    near, far = (None, None) if limits is None else (usable_interval(limits.hold), usable_interval(limits.fail))
    if limits is None or near is None or far is None or _not_usable(measure, limits, flags):
        return Outcome.UNDECIDED, _not_usable(measure, limits, flags) or "the measure has no limits at this error rate"
    if rule.operator.holds(near.low if rule.operator.upwards else near.high, rule.threshold):
        return Outcome.HOLDS, "the limit meets the threshold"
    if not rule.operator.holds(far.high if rule.operator.upwards else far.low, rule.threshold):
        return Outcome.FAILS, "the limit misses the threshold"
    return Outcome.UNDECIDED, f"the threshold is between the limits{_advise_items(rule, limits)}"


def _not_usable(measure: Measure, limits: Limits | None, flags: Mapping[str, Flag]) -> str:
    """Say why nothing can be decided, whatever the threshold; empty if something can."""
    if measure.estimate is None or not math.isfinite(measure.estimate):
        why = measure.note or ", ".join(flag for flag in measure.flags if flag != "simulated")
        return f"not estimable{f': {why}' if why else ''}"
    if usable_interval(measure) is None:
        return "the measure has no interval"
    if limits is None:
        return "its metric is not loaded here, or cannot be computed; pass the same --plugins as the run did"
    # The limits are computed now and the estimate was when the run was measured: both have to be of one metric.
    again = limits.hold.estimate
    if again is None or not math.isclose(again, measure.estimate, rel_tol=_SAME, abs_tol=_SAME):
        return "its metric now gives another estimate than in the run: its code has changed; run the suite again"
    doubts = unsure(limits.hold, flags)
    return f"the limits may err more often than stated ({', '.join(doubts)})" if doubts else ""


def _advise_items(rule: GateRule, limits: Limits) -> str:
    """Say how many items have 80% power to decide the rule if the truth lies the margin beyond the threshold."""
    measure, upwards = limits.hold, rule.operator.upwards
    meets = rule.operator.holds(measure.estimate or 0.0, rule.threshold)
    side, error = (limits.hold, limits.hold_error) if meets else (limits.fail, limits.fail_error)
    interval, units = side.interval, measure.n_clusters or measure.n_items
    share, above = measure.unit == "proportion", upwards == meets
    if (
        measure.estimate is None
        or interval is None
        or not units
        or (share and not _LEAST < rule.threshold < 1 - _LEAST)
    ):
        return ""
    unit = "item" if units == measure.n_items else "cluster"
    # Without an exception there is no spread to plan with; the exact number of items is known instead.
    if share and measure.estimate == (1.0 if upwards else 0.0):
        low = high = threshold_items(rule.threshold if upwards else 1 - rule.threshold, alpha=error)
        goal = "a decision without an exception"
    else:
        # A named effect: with the observed distance from the threshold the number would mean nothing.
        room = (1 - rule.threshold if above else rule.threshold) if share else math.inf
        distance = min(FindingSettings().margin * max(1.0, abs(rule.threshold)), room / 2)
        truth = rule.threshold + (distance if above else -distance)
        width = interval.high - interval.low
        if share:
            # A rate has its variance; only how many items a cluster or several verdicts are worth is estimated.
            ends = binomial_limits(measure.estimate * units, units, alpha=error)
            worth = (width / (ends[1] - ends[0])) ** 2
            low = high = math.ceil(items_for_threshold(truth, rule.threshold, alpha=error) * worth)
        else:
            # One-sided limits at both ends are a two-sided interval of twice the error rate.
            low, high = items_to_decide(units, width / 2, distance, level=1 - 2 * error)
        goal = f"80% power for a true value of {truth:.3g}"
    # Rounding and the normal approximation may say that the items there are would do, which they did not.
    advice = Advice(goal=goal, low=max(low, units + 1), high=max(high, units + 1))
    # The error rate of a look depends on its number: the same data need more items at a later look.
    looked = f" at look {limits.look}" if limits.look else ""
    return f"; {advice.write(unit)}{looked}"
