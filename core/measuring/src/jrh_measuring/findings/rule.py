"""The base of rules: how a hypothesis about a measure is tested."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from attrs import evolve
from jrh import Measure
from jrh_stats import interval_p

from jrh_measuring.findings.claims import Situation, units
from jrh_measuring.findings.design import Chain, Design, Hypothesis, Place, Side
from jrh_measuring.findings.page_family import PValue
from jrh_measuring.flags import FEW_EVENTS, unsure
from jrh_measuring.numbers import P_VALUE, is_proportion

_DOUBT: Final = 1.5
"""How many times too narrow a flagged interval may be."""
NO_DATA: Final = PValue(p=1.0, least=1.0)
"""The result of a test without data. Which trials can be used is held fixed, so it takes nothing from the others."""


class Rule:
    """Turns measures into claims: states hypotheses, tests them, and says what was decided.

    A rule that overrides nothing but `claims` tests nothing, and may state facts only.
    """

    def hypotheses(self, design: Design) -> Iterable[Chain]:  # noqa: ARG002 -- what rules that test something read
        """Yield chains of hypotheses about a judge, from the design alone."""
        return ()

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Return the p-value of a hypothesis: 1 where nothing can be estimated, since it counts all the same."""
        measure = now.at(hypothesis.place)
        if hypothesis.equivalence:
            return equivalence_p(measure, hypothesis.null, hypothesis.side)
        return p_value_of(now, measure, hypothesis.null, hypothesis.side)

    def claims(self, now: Any) -> Iterable[Any]:
        """Yield `Claim`s about the judge of a `Situation` after all hypotheses of the report were decided."""
        raise NotImplementedError


def p_value_of(
    now: Situation,
    measure: Measure | None,
    null: float = 0.0,
    side: Side = "both",
    *,
    scale: Callable[[float], float] | None = None,
) -> PValue:
    """Test that a quantity has a null value; the p-value is 1 where nothing can be estimated.

    The p-value of `x` is the measure `x-p`, where the null value is 0; elsewhere it is read off the interval
    (`jrh_stats.interval_p`), so that interval and p-value are one decision. A measure that is a p-value is its own.

    Args:
        now: the judge.
        measure: of the quantity.
        null: the value without a defect.
        side: which values are claimed.
        scale: increasing; on it the sampling distribution is closer to normal, such as the logarithm of a ratio.
    """
    if measure is None:
        return NO_DATA
    place = Place.of(measure)
    tested = measure if measure.unit == P_VALUE else None if null else now.at(evolve(place, name=f"{measure.name}-p"))
    doubted = tested is None and bool(unsure(measure, now.flags))
    p = tested.estimate if tested is not None else read_off(measure, null, scale, doubted=doubted)
    if p is None:
        # Without an item the test had no data: its p-value could never have been small.
        if not measure.n_items:
            return NO_DATA
        p = 1.0
    value = measure.estimate or 0.0
    # Claimed values lie on one side: an estimate on the other is no evidence for them, however far it is.
    if measure is not tested and ((side == "above" and value <= null) or (side == "below" and value >= null)):
        p = 1.0
    least = None if tested is None else now.at(evolve(place, name=f"{tested.name}-least"))
    return PValue(p=p, least=0.0 if least is None or least.estimate is None else min(least.estimate, p))


def equivalence_p(measure: Measure | None, limit: float, side: Side = "both") -> PValue:
    """Test that a quantity lies beyond a limit, or with the side `both` beyond ±limit (two one-sided tests).

    One-sided, read off the interval (`read_off`). Where no verdict of n clusters varied, exactly: (1 - d)^n, where d is
    the distance of the limit from the estimate.

    Source: two one-sided tests: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.
    """
    if measure is None or measure.estimate is None:
        return PValue(p=1.0)
    value = measure.estimate
    ends = [(limit, value < limit)] if side == "below" else [(limit, value > limit)]
    if side == "both":
        ends = [(-limit, value > -limit), (limit, value < limit)]
    if not all(inside for _, inside in ends):
        return PValue(p=1.0)
    # `few-events` doubts the interval's approximation; where nothing varied at all the exact bound needs none.
    if FEW_EVENTS in measure.flags and value in (0.0, 1.0) and units(measure):
        return PValue(p=max((1 - min(abs(value - end), 1.0)) ** units(measure) for end, _ in ends))
    halves = [p / 2 for end, _ in ends if (p := read_off(measure, end)) is not None]
    return PValue(p=max(halves, default=1.0))


def read_off(
    measure: Measure, null: float, scale: Callable[[float], float] | None = None, *, doubted: bool = False
) -> float | None:
    """Read the two-sided p-value of a null value off the interval of a measure; None without an interval.

    An interval that a flag doubts is read as if it were 1.5 times as wide: one that covers 82% instead of 95%, the
    least in `tests/studies/coefficients.py`, is 1.46 times too narrow. Kappa of 20 items with a rare label, which
    covers 64%, would need 2.1, and planted defects then go unseen in 40 items.
    """
    interval = measure.interval
    if interval is None or measure.estimate is None:
        return None
    on = scale or float
    # Score intervals of proportions are normal; other intervals are Student's t over the clusters.
    value, proportion = on(measure.estimate), is_proportion(measure) and scale is None
    low, high = (value + (_DOUBT if doubted else 1) * (on(end) - value) for end in (interval.low, interval.high))
    if proportion:
        low, high = max(low, 0.0), min(high, 1.0)
    return interval_p(
        value,
        min(low, value),
        max(high, value),
        on(null),
        level=interval.level,
        degrees=None if proportion or units(measure) <= 1 else units(measure) - 1,
        proportion=proportion,
    )
