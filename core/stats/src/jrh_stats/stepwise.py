"""Test a family of hypotheses step by step, and read p-values off intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from jrh_stats.arrays import Floats
from jrh_stats.score_intervals import t_quantile, t_tail, z_quantile

_NORMAL: Final = NormalDist()
_SLACK: Final = 1e-12
"""A p-value of exactly 0.05 / 3 is rejected at 0.05 / 3, whatever the last digit of either."""


def chained_holm(
    chains: Sequence[Sequence[float]],
    least: Sequence[Sequence[float]] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    *,
    alpha: float = 0.05,
) -> tuple[int, ...]:
    """Reject hypotheses of one family, the probability of any false rejection being at most `alpha`.

    The family comes as chains; a hypothesis is tested only if those before it in its chain are rejected. In each step,
    the next hypothesis of each open chain is rejected if its p-value is at most alpha w / W, with its weight w. Holm
    (1979): W is the sum of these weights over the chains not yet rejected to the end. Tarone (1990): of these only the
    chains count that could reach their level at all,

        W = min {W > 0 : the weights w with least p-value <= alpha w / W add up to at most W}

    Steps are taken until nothing more is rejected. With chains of one hypothesis and no `least` this is Holm's
    procedure, weighted or not. Valid under any dependence of the p-values: whichever hypotheses are true, a chain can
    reject a true one first only at its level alpha w / W, these levels add up to at most alpha, and W never grows,
    because weights do not grow along a chain (Goeman and Solari's sequential rejection principle).

    Source: Holm (1979), Scandinavian Journal of Statistics 6:65-70; Tarone (1990), Biometrics 46:515-522, stepwise as
    in Hommel and Krummenauer (1998), Biometrical Journal 40:673-681; chains: Bretz, Maurer, Brannath and Posch (2009),
    Statistics in Medicine 28:586-604; Goeman and Solari (2010), Annals of Statistics 38:3782-3810. Weights of Tarone's
    levels are ours. Not consulted.

    Args:
        chains: p-values of each chain, in the order in which they are tested.
        least: the smallest p-value that each test could have given; it may depend on the data only through what the
            test holds fixed, such as the items with differing verdicts of a permutation test. None: 0.
        weights: of each hypothesis, > 0, set without looking at the data, and never larger than that of the one before
            it in its chain. None: 1.
        alpha: family-wise error rate.

    Returns:
        How many hypotheses of each chain are rejected, from its beginning.

    Raises:
        ValueError: a p-value is not between 0 and 1, `least` or `weights` has another shape, or a weight is not
            positive or larger than the one before it.
    """
    reach = [[0.0] * len(chain) for chain in chains] if least is None else least
    mass = [[1.0] * len(chain) for chain in chains] if weights is None else weights
    _check(chains, reach, mass)
    # The largest so far along a chain: a chain that moves on is not counted where it was not before, so W cannot grow.
    floor = [np.maximum.accumulate(np.array(levels, dtype=np.float64)) for levels in reach]
    rejected = [0] * len(chains)
    while True:
        active = [number for number, chain in enumerate(chains) if rejected[number] < len(chain)]
        ends, sizes = (
            np.array([part[number][rejected[number]] for number in active], dtype=np.float64) for part in (floor, mass)
        )
        limits = _limits(ends, sizes, alpha)
        rejected_now = [
            number
            for number, end, limit in zip(active, ends, limits, strict=True)
            if max(chains[number][rejected[number]], end) <= limit
        ]
        if not rejected_now:
            return tuple(rejected)
        for number in rejected_now:
            rejected[number] += 1


def _check(
    chains: Sequence[Sequence[float]], least: Sequence[Sequence[float]], weights: Sequence[Sequence[float]]
) -> None:
    if any([len(chain) for chain in chains] != [len(chain) for chain in column] for column in (least, weights)):
        raise ValueError("give one least p-value and one weight per p-value")
    if not all(0.0 <= p <= 1.0 for chain in (*chains, *least) for p in chain):
        raise ValueError("p-values must be between 0 and 1; leave out tests that are not defined")
    if not all(after <= before for chain in weights for before, after in pairwise((inf, *chain))):
        raise ValueError("weights must not grow along a chain")
    if not all(weight > 0 for chain in weights for weight in chain):
        raise ValueError("weights are positive")


def _limits(least: Floats, weights: Floats, alpha: float) -> Floats:
    """Return alpha w / W for the next hypothesis of each open chain."""
    if not len(least):
        return weights
    with np.errstate(divide="ignore"):
        # The largest W with which a chain can still reach its level.
        most = alpha * weights / least * (1 + _SLACK)
    # Chains by the largest W at which they can still reach their level (Tarone 1990).
    order = np.argsort(-most, kind="stable")
    sums, ends = np.cumsum(weights[order]), most[order]
    # With W beyond the end of the next chain only those up to here count; W is at least the sum of their weights.
    smallest = np.maximum(sums, np.append(ends[1:] * (1 + _SLACK), 0.0))
    possible = smallest[smallest <= ends]
    total = float(possible.min()) if len(possible) else inf
    return np.asarray(alpha * weights / total * (1 + _SLACK))


def interval_p(
    value: float,
    low: float,
    high: float,
    null: float,
    *,
    level: float = 0.95,
    degrees: float | None = None,
    proportion: bool = False,
) -> float:
    """Read the two-sided p-value of a null value off an estimate and its interval.

    The p-value is at most 1 - level if and only if the interval excludes the null value. With e the end on the side of
    the null value and q the quantile of the interval,

        |statistic| = q |value - null| / |value - e|

    referred to the normal distribution, or to Student's t with `degrees`. Of a proportion the standard error depends on
    the value that is tested: the ratio is multiplied by sqrt(e (1 - e) / (null (1 - null))). From Wilson's interval
    this is exactly the score test.

    Source: Altman and Bland (2011), BMJ 343:d2304 (not consulted); of a proportion: inversion of Wilson's interval,
    ours.

    Args:
        value: the estimate.
        low: lower end of its interval.
        high: upper end.
        null: the value that is tested.
        level: coverage of the interval.
        degrees: degrees of freedom of the interval; None: many.
        proportion: whether the estimate is a proportion.

    Returns:
        The p-value; 1 where the estimate is the null value. 0 where a proportion is tested against 0 or 1 and the
        interval excludes it: one observation refutes such a null hypothesis.

    Raises:
        ValueError: the interval does not contain the estimate, or the level is not between 0 and 1.
    """
    if not low <= value <= high:
        raise ValueError(f"the interval [{low}, {high}] does not contain {value}")
    quantile = z_quantile(level) if degrees is None else t_quantile(level, degrees)
    # Before the division below, where a degenerate interval ends at the estimate.
    if value == null:
        return 1.0
    # Of an asymmetric interval only the side towards the null value says how far away it is.
    end = low if null < value else high
    # The standard error of a proportion is 0 there.
    if proportion and (null <= 0 or null >= 1):
        return 0.0 if (null < low or null > high) else 1.0
    if end == value:
        return 0.0
    ratio = (value - null) / (value - end)
    if proportion:
        ratio *= sqrt(max(end * (1 - end), 0.0) / (null * (1 - null)))
    statistic = quantile * ratio
    return min(1.0, 2 * _NORMAL.cdf(-statistic) if degrees is None else t_tail(statistic, degrees))
