"""The jackknife over clusters, and the intervals of coefficients that it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh.stats.clusters import cluster_sums, distinct
from jrh.stats.estimate import Estimate
from jrh.stats.proportion import effective_score_interval
from jrh.stats.wilson import t_quantile, wilson, z_quantile

Statistic: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Totals of shape (B, columns) -> values of shape (B,), NaN where the statistic is not defined."""

NOISE: Final = 1e-12
"""Differences below this are rounding."""


def sums_by_cluster(columns: NDArray[np.float64], clusters: ArrayLike | None) -> NDArray[np.float64]:
    """Sum rows of shape (n, columns) within clusters, each row its own cluster where `clusters` is None."""
    codes = np.arange(len(columns)) if clusters is None else np.asarray(clusters)
    if not len(columns):
        return np.zeros((0, columns.shape[1]))
    return cluster_sums(codes, *columns.T)


def jackknife_variance(sums: ArrayLike, statistic: Statistic) -> float:
    """Compute the variance of a statistic of totals from leaving out one whole cluster at a time.

    With theta_(k) the statistic without cluster k, of K clusters:

        v = (K - 1) / K * sum_k (theta_(k) - mean theta_(k))^2

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 11.2. For statistics that are smooth
    functions of sums; K evaluations of clusters with equal sums are done once.

    Args:
        sums: per-cluster sums, shape (K, columns), as `cluster_sums` returns them.
        statistic: totals of shape (B, columns) -> values of shape (B,).

    Returns:
        The variance in the squared unit of the statistic. Where the statistic is undefined without a cluster, leaving
        that cluster out says nothing, and the full value stands in.

    Raises:
        ValueError: there are fewer than two clusters, or the statistic is undefined on all of them.
    """
    return _variance(*distinct(np.asarray(sums, dtype=np.float64)), statistic)


def _variance(kinds: NDArray[np.float64], counts: NDArray[np.int64], statistic: Statistic) -> float:
    """Compute the jackknife variance from the kinds of clusters and how many there are of each."""
    clusters = int(counts.sum())
    if clusters <= 1:
        raise ValueError("leaving out one cluster at a time needs two")
    total = counts @ kinds
    value = float(statistic(total[None, :])[0])
    if np.isnan(value):
        raise ValueError("the statistic is not defined on all clusters together")
    without = statistic(total[None, :] - kinds)
    without = np.where(np.isnan(without), value, without)
    mean = float(counts @ without) / clusters
    return float(counts @ np.square(without - mean)) * (clusters - 1) / clusters


def chance_corrected(
    sums: NDArray[np.float64], observed: Statistic, expected: Statistic, *, n: float, level: float, worst: float = 1.0
) -> Estimate:
    """Estimate a coefficient of the form 1 - D_o / D_e with the interval of `clustered_kappa`.

    Unlike there the effective number of observations has no upper limit: distances between levels, and ratings by more
    than two raters, can carry more than one yes or no.

    Args:
        sums: per-cluster sums, shape (K, columns).
        observed: totals -> observed disagreement D_o.
        expected: totals -> disagreement by chance D_e.
        n: observations, for the result.
        level: coverage.
        worst: the largest disagreement that a single observation can have.

    Returns:
        The estimate. Method `jackknife-wilson`, or `wilson-clusters` where leaving out a cluster changes nothing; no
        interval from one cluster. Flags: `empty` without observations, `degenerate` where D_e is 0.
    """
    z_quantile(level)
    if not len(sums) or n <= 0:
        return Estimate(value=None, flags=("empty",))
    kinds, counts = distinct(sums)
    total = (counts @ kinds)[None, :]
    clusters = len(sums)

    def coefficient(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = expected(totals)
        defined = chance > NOISE
        return np.where(defined, 1 - observed(totals) / np.where(defined, chance, 1.0), np.nan)

    value = float(coefficient(total)[0])
    if np.isnan(value):
        return Estimate(value=None, n=n, clusters=clusters, flags=("degenerate",))
    if clusters == 1:
        return Estimate(value=value, n=n, clusters=1)
    if value >= 1 - NOISE:
        drop = float(wilson(0, clusters, level=level)[1]) * worst / float(expected(total)[0])
        return _with(value, (max(1 - drop, -1.0), value), "wilson-clusters", n, clusters)
    share = float(np.clip((1 - value) / 2, 0.0, 1.0))
    variance = _variance(kinds, counts, coefficient)
    if variance <= NOISE:
        low, high = (float(end) for end in wilson(share * clusters, clusters, level=level))
        return _with(value, (1 - 2 * high, 1 - 2 * low), "wilson-clusters", n, clusters)
    low, high = effective_score_interval(share, variance / 4, np.inf, clusters, level)
    return _with(value, (1 - 2 * high, 1 - 2 * low), "jackknife-wilson", n, clusters)


def correlation_estimate(sums: NDArray[np.float64], correlation: Statistic, *, n: float, level: float) -> Estimate:
    """Estimate a correlation with Fisher's z and the jackknife over clusters.

    z = atanh(r) has the variance v / (1 - r^2)^2, v that of the jackknife; the ends are tanh(z -+ t s_z), t with K - 1
    degrees of freedom. Source: Fisher (1921), Metron 1:3-32, for the transformation.

    Returns:
        The estimate, method `jackknife-fisher-z`. Flags: `empty` without observations; `degenerate` where a side is
        constant; `no-interval` from one cluster, at -1 or 1, or where leaving out a cluster changes nothing.
    """
    z_quantile(level)
    if not len(sums) or n <= 0:
        return Estimate(value=None, flags=("empty",))
    clusters = len(sums)
    kinds, counts = distinct(sums)
    value = float(correlation((counts @ kinds)[None, :])[0])
    if np.isnan(value):
        return Estimate(value=None, n=n, clusters=clusters, flags=("degenerate",))
    value = float(np.clip(value, -1.0, 1.0))
    variance = _variance(kinds, counts, correlation) if clusters > 1 else 0.0
    if variance <= NOISE or 1 - abs(value) <= NOISE:
        return Estimate(value=value, n=n, clusters=clusters, flags=("no-interval",))
    reach = t_quantile(level, clusters - 1) * np.sqrt(variance) / (1 - value**2)
    ends = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return _with(value, (float(ends[0]), float(ends[1])), "jackknife-fisher-z", n, clusters)


def ratio_of_spreads(sums: NDArray[np.float64], ratio: Statistic, *, n: float, level: float) -> Estimate:
    """Estimate a positive ratio with an interval that is symmetric in its logarithm; flags as `correlation_estimate`.

    Method `jackknife-log`: the ends are ratio * exp(-+ t s / ratio), s the jackknife's standard error.
    """
    z_quantile(level)
    if not len(sums) or n <= 0:
        return Estimate(value=None, flags=("empty",))
    clusters = len(sums)
    kinds, counts = distinct(sums)
    value = float(ratio((counts @ kinds)[None, :])[0])
    if np.isnan(value):
        return Estimate(value=None, n=n, clusters=clusters, flags=("degenerate",))
    variance = _variance(kinds, counts, ratio) if clusters > 1 else 0.0
    if variance <= NOISE or value <= NOISE:
        return Estimate(value=value, n=n, clusters=clusters, flags=("no-interval",))
    # The exponent is limited so that a hopeless interval is wide and not infinite.
    reach = min(t_quantile(level, clusters - 1) * float(np.sqrt(variance)) / value, 700.0)
    return _with(value, (value * float(np.exp(-reach)), value * float(np.exp(reach))), "jackknife-log", n, clusters)


def _with(value: float, ends: tuple[float, float], method: str, n: float, clusters: int) -> Estimate:
    return Estimate(
        value=value, low=min(ends[0], value), high=max(ends[1], value), method=method, n=n, clusters=clusters
    )
