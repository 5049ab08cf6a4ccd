"""Test hypotheses about a mean difference with the variance that the hypothesis implies, and invert the test."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.bootstrap import ratio_kinds
from jrh_stats.wilson import z_quantile

Numbers = NDArray[np.float64]

_STEPS: Final = 80
_CLOSE: Final = 1e-11
_NOISE: Final = 1e-14


def score_difference(
    numerators: ArrayLike, denominators: ArrayLike, *, span: float = 1.0, level: float = 0.95
) -> tuple[float, float]:
    """Return the score limits of a mean difference: all values that the score test does not reject.

    With d_k the difference of cluster k, relative to the mean weight, the test of the mean delta has the statistic
    (d - delta) / sqrt(v(delta) / K): v is the variance of the distribution that is most likely among those with the
    mean delta on the values observed and the two ends of the scale. Its probabilities are

        p_k = 1 / (K (1 + lambda (d_k - delta))),

    lambda such that their mean is delta; where no lambda does that, the end that was not observed has the rest. For one
    pair of answers of 0 or 1 per cluster these are Tango's limits, and where no pair differs they are -+ z^2 / (K +
    z^2), Wilson's. A t interval is too short there: pairs that differ in one direction vary too little in the sample.

    Source: Tango (1998), Statistics in Medicine 17:891-908, for pairs; equivalence: Liu, Hsueh, Hsieh and Chen (2002),
    Statistics in Medicine 21:231-245; most likely distribution: Owen (2001), Empirical Likelihood (the last two not
    consulted).

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        span: the largest difference that two scores can have.
        level: coverage.

    Returns:
        Lower and upper limit in the unit of the scores.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or there is no cluster.
    """
    quantile = z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        raise ValueError("limits need at least one cluster")
    mean = float(sums.total[1]) / len(sums)
    top, bottom = sums.rows[:, 0] / (span * mean), sums.rows[:, 1] / mean
    shares, reach = sums.counts / len(sums), quantile / len(sums) ** 0.5
    upper = _limit(top, bottom, shares, reach)
    lower = -_limit(-top, bottom, shares, reach)
    return span * lower, span * upper


def score_p_value(
    numerators: ArrayLike, denominators: ArrayLike, *, mean: float, degrees: float, span: float = 1.0
) -> float:
    """Return the one-sided p-value of the score test of means of `mean` or less; small where the data are above it.

    The statistic is that of `score_difference`, its distribution Student's.

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        mean: the largest mean of the hypothesis, within the span.
        degrees: degrees of freedom.
        span: the largest difference that two scores can have.
    """
    from scipy.special import stdtr

    sums = ratio_kinds(numerators, denominators)
    average = float(sums.total[1]) / len(sums)
    top, bottom = -sums.rows[:, 0] / (span * average), sums.rows[:, 1] / average
    distance = _distance(top, bottom, sums.counts / len(sums), -mean / span)
    return float(stdtr(degrees, -distance * np.sqrt(len(sums))))


def _limit(top: Numbers, bottom: Numbers, shares: Numbers, reach: float) -> float:
    """Return the largest mean that is not rejected, of differences from -1 to 1."""
    value = float(shares @ top)
    if value >= 1 - _NOISE or _distance(top, bottom, shares, 1.0) <= reach:
        return 1.0
    return _root(lambda mean: reach - _distance(top, bottom, shares, mean), value, 1.0)


def _distance(top: Numbers, bottom: Numbers, shares: Numbers, mean: float) -> float:
    """Return by how many standard deviations of the hypothesis the data lie below its mean; negative above."""
    # mean m - d: how far a cluster lies below the mean of the hypothesis, whatever its weight.
    below, gap = mean * bottom - top, mean - float(shares @ top)
    variance = _variance(below, shares, 1 - mean) if gap > 0 else float(shares @ np.square(below))
    return gap / float(np.sqrt(variance)) if variance > _NOISE else inf * np.sign(gap) if gap else 0.0


def _variance(below: Numbers, shares: Numbers, end: float) -> float:
    """Return the variance of the most likely distribution of deviations with the mean 0.

    Args:
        below: by how much the observed values lie below the mean, with a mean above 0, shape (k,).
        shares: their shares of the clusters, shape (k,).
        end: by how much the end of the scale lies above the mean.
    """
    # The probabilities are shares / (1 + factor below): the larger the factor, the larger those of values above.
    largest = (1 - _NOISE) / max(end, float(-below.min()), _NOISE)

    def mean(factor: float) -> float:
        return float(shares @ (below / (1 + factor * below)))

    factor = largest if mean(largest) >= 0 else _root(mean, 0.0, largest)
    weighed = shares / (1 + factor * below)
    rest = max(1 - float(weighed.sum()), 0.0)
    return float(weighed @ np.square(below)) + rest * end**2


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function that is positive at `low` and negative at `high` crosses 0: halving and chords in turn."""
    above, beneath = function(low), function(high)
    for step in range(_STEPS):
        usable = step % 2 and np.isfinite(above) and np.isfinite(beneath)
        middle = (low * beneath - high * above) / (beneath - above) if usable else (low + high) / 2
        for point in (middle, middle + _CLOSE, middle - _CLOSE) if usable else (middle,):
            if not low < point < high:
                continue
            found = function(point)
            if found > 0:
                low, above = point, found
            else:
                high, beneath = point, found
        if high - low <= 4 * _CLOSE:
            break
    return (low + high) / 2
