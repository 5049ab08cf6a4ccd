"""Test a family of hypotheses step by step, and read p-values off intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jrh_stats.student import t_quantile, t_tail
from jrh_stats.wilson import z_quantile

_NORMAL: Final = NormalDist()
_SLACK: Final = 1e-12
"""A p-value of exactly 0.05 / 3 is rejected at 0.05 / 3, whatever the last digit of either."""


def chained_holm(
    chains: Sequence[Sequence[float]], least: Sequence[Sequence[float]] | None = None, *, alpha: float = 0.05
) -> tuple[int, ...]:
    """Reject hypotheses of one family, the probability of any false rejection being at most `alpha`.

    The family comes as chains; a hypothesis is tested only if those before it in its chain are rejected. In each step,
    the next hypothesis of each open chain is rejected if its p-value is at most alpha / k. Holm (1979): k is the number
    of chains not yet rejected to the end. Tarone (1990): of these only the chains are counted that could reach
    alpha / k at all,

        k = min {k >= 1 : number of open chains with a least p-value <= alpha / k is at most k}

    Steps are taken until nothing more is rejected. With chains of one hypothesis and no `least` this is Holm's
    procedure. Valid under any dependence of the p-values: whichever hypotheses are true, at most k chains can reject a
    true one first, each with probability alpha / k, and k never grows (Goeman and Solari's sequential rejection
    principle).

    Source: Holm (1979), Scandinavian Journal of Statistics 6:65-70; Tarone (1990), Biometrics 46:515-522, stepwise as
    in Hommel and Krummenauer (1998), Biometrical Journal 40:673-681; chains: Bretz, Maurer, Brannath and Posch (2009),
    Statistics in Medicine 28:586-604; Goeman and Solari (2010), Annals of Statistics 38:3782-3810. Not consulted.

    Args:
        chains: p-values of each chain, in the order in which they are tested.
        least: the smallest p-value that each test could have given; it may depend on the data only through what the
            test holds fixed, such as the items with differing verdicts of a permutation test. None: 0.
        alpha: family-wise error rate.

    Returns:
        How many hypotheses of each chain are rejected, from its beginning.

    Raises:
        ValueError: a p-value is not between 0 and 1, or `least` has another shape.
    """
    reach = [[0.0] * len(chain) for chain in chains] if least is None else least
    if [len(chain) for chain in chains] != [len(chain) for chain in reach]:
        raise ValueError("give one least p-value per p-value")
    if not all(0.0 <= p <= 1.0 for chain in (*chains, *reach) for p in chain):
        raise ValueError("p-values lie between 0 and 1; leave out tests that are not defined")
    # The largest so far along a chain: a chain that moves on is not counted where it was not before, so k cannot grow.
    floor = [np.maximum.accumulate(np.array(each, dtype=np.float64)) for each in reach]
    rejected = [0] * len(chains)
    while True:
        active = [number for number, chain in enumerate(chains) if rejected[number] < len(chain)]
        limit = _limit(np.array([floor[number][rejected[number]] for number in active]), alpha)
        moved = [
            number
            for number in active
            if max(chains[number][rejected[number]], floor[number][rejected[number]]) <= limit
        ]
        if not moved:
            return tuple(rejected)
        for number in moved:
            rejected[number] += 1


def _limit(least: NDArray[np.float64], alpha: float) -> float:
    """Return alpha / k."""
    counts = np.arange(1, len(least) + 1)
    if not len(counts):
        return -1.0
    limits = alpha / counts * (1 + _SLACK)
    reaching = np.searchsorted(np.sort(least), limits, side="right")
    return float(limits[np.argmax(reaching <= counts)])


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

    Source: Altman and Bland (2011), BMJ 343:d2304; of a proportion: inversion of Wilson's interval, ours.

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
    if value == null:
        return 1.0
    end = low if null < value else high
    if proportion and (null <= 0 or null >= 1):
        return 0.0 if (null < low or null > high) else 1.0
    if end == value:
        return 0.0
    ratio = (value - null) / (value - end)
    if proportion:
        ratio *= sqrt(max(end * (1 - end), 0.0) / (null * (1 - null)))
    statistic = quantile * ratio
    return min(1.0, 2 * _NORMAL.cdf(-statistic) if degrees is None else t_tail(statistic, degrees))
