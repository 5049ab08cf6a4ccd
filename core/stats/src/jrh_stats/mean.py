"""Estimate means and paired differences of clustered scores, with closed-form cluster-robust intervals."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from jrh_stats.clusters import Kinds, cluster_sums, ratio_kinds, ratio_variance
from jrh_stats.degrees import FEW_EVENTS, UNSEEN, are_uneven, design_degrees, effective_degrees, few_events, is_skewed
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import score_interval, t_quantile, z_quantile
from jrh_stats.unseen import identical_mean, unseen_share

_NOISE: Final = 1e-12


def clustered_mean(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    bounds: tuple[float, float] | None = None,
    heavy_tailed: bool = False,
    level: float = 0.95,
) -> Estimate:
    """Estimate the mean score sum(numerators) / sum(denominators) with a closed-form cluster-robust interval.

    v is `ratio_variance`.

    * Without bounds: mean -+ t sqrt(v), t Student's with K - 1 degrees of freedom, method `cluster-robust-t`.
    * With bounds a <= score <= b: Wilson's interval of u = (mean - a) / (b - a) with the effective number of trials
      u (1 - u) (b - a)^2 / v, and t with the degrees of freedom of `design_degrees` instead of z, method
      `cluster-robust-wilson`. It stays within the bounds and leans away from them. Bounds (0, 1) give the closed-form
      counterpart of `clustered_proportion`. Squared errors and the like, whose variance moves with the mean as no
      proportion's does, keep t with `effective_degrees`; so do clusters that are uneven in size.
    * Where no cluster differs from another (or there is one): with bounds what unseen clusters could change,
      mean - h (mean - a) to mean + h (b - mean), h Wilson's upper end for 0 of K (see `jrh_stats.unseen`), method
      `wilson-clusters`; without, no interval and the flag `no-interval`.

    Args:
        numerators: sum of the scores of each cluster, shape (K,).
        denominators: number (or weight) of trials of each cluster, shape (K,), all > 0.
        bounds: the least and the greatest score a trial can have.
        heavy_tailed: whether few large scores can make up most of the mean, as squares do.
        level: coverage.

    Returns:
        The mean in the unit of the scores. Flags: `empty` without clusters; `few-events` where so few clusters differ
        from the others that the coverage may be off (`few_events`), also where none does; of heavy-tailed scores also
        where clusters at the upper bound, of the share that K clusters without one leave room for, would add twice
        the mean or more: large scores may not have been drawn; without bounds also where `is_skewed`.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or a mean lies outside the bounds.
    """
    z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    clusters, n = len(sums), float(sums.total[1])
    value = float(sums.total[0]) / n
    variance = ratio_variance(sums.rows[:, 0], sums.rows[:, 1], sums.counts) if clusters > 1 else 0.0
    if bounds is not None:
        return _mean_within(sums, value, variance, bounds, level, heavy_tailed=heavy_tailed)
    if variance <= _NOISE:
        return Estimate(value=value, n=n, clusters=clusters, flags=("no-interval",))
    reach = t_quantile(level, clusters - 1) * float(np.sqrt(variance))
    deviations = sums.rows[:, 0] - value * sums.rows[:, 1]
    flags = few_events(effective_degrees(deviations, sums.counts, sums.rows[:, 1], doubt=True), clusters)
    return enclose(
        value,
        value - reach,
        value + reach,
        method="cluster-robust-t",
        n=n,
        clusters=clusters,
        flags=(FEW_EVENTS,) if is_skewed(deviations, sums.counts) else flags,
    )


def paired_difference(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike, *, span: float = 1.0, level: float = 0.95
) -> Estimate:
    """Estimate the mean of first - second over pairs of scores of the same question.

    The interval is that of `clustered_mean` with bounds (-span, span).

    Args:
        first: scores of one side, shape (n,).
        second: scores of the other side, pairwise, shape (n,).
        clusters: the cluster of each pair, whole numbers >= 0, shape (n,).
        span: the largest difference that two scores can have.
        level: coverage.

    Returns:
        The difference in the unit of the scores; flag `empty` without pairs.

    Raises:
        ValueError: the shapes differ, or a difference exceeds the span.
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape or left.ndim != 1:
        raise ValueError(
            f"the scores of both sides must be two arrays of equal length, got {left.shape} and {right.shape}"
        )
    sums = cluster_sums(clusters, left - right, np.ones(len(left)))
    return clustered_difference(sums[:, 0], sums[:, 1], span=span, level=level)


def clustered_difference(
    numerators: ArrayLike, denominators: ArrayLike, *, span: float = 1.0, level: float = 0.95
) -> Estimate:
    """Estimate a mean difference from per-cluster sums; the interval is that of `paired_difference`.

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        span: the largest difference that two scores can have.
        level: coverage.

    Returns:
        The difference; flag `empty` without clusters.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or a difference exceeds the span.
    """
    return clustered_mean(numerators, denominators, bounds=(-span, span), level=level)


def mean_signed_error(
    numerators: ArrayLike, sizes: ArrayLike, denominators: ArrayLike, *, span: float, level: float = 0.95
) -> Estimate:
    """Estimate the mean of signed errors, whose size is never above the mean size of the errors.

    The interval is that of `clustered_mean` with bounds (-span, span), cut at the upper end of that of the mean size:
    few errors, all of one sign, would otherwise leave room for a bias larger than any mean error the data allow.

    Args:
        numerators: sum of the errors of each cluster, shape (K,).
        sizes: sum of the absolute errors of each cluster, shape (K,).
        denominators: number of errors of each cluster, shape (K,), all > 0.
        span: the largest size of an error.
        level: coverage.

    Returns:
        The mean error in its unit; flags as `clustered_mean`.
    """
    estimate = clustered_mean(numerators, denominators, bounds=(-span, span), level=level)
    size = clustered_mean(sizes, denominators, bounds=(0.0, span), level=level)
    if estimate.low is None or estimate.high is None or size.high is None:
        return estimate
    # No error is further from 0 than its size, so neither is their mean.
    return evolve(estimate, low=max(estimate.low, -size.high), high=min(estimate.high, size.high))


def _mean_within(
    sums: Kinds, value: float, variance: float, bounds: tuple[float, float], level: float, *, heavy_tailed: bool
) -> Estimate:
    low, high = bounds
    means = sums.rows[:, 0] / sums.rows[:, 1]
    # Sums are rounded: a mean of scores at a bound may lie a little beyond it.
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    if not low < high or means.min() < low - slack or means.max() > high + slack:
        raise ValueError(f"a cluster's mean score must lie within the bounds {low:g} to {high:g}")
    clusters, width = len(sums), high - low
    share = float(np.clip((value - low) / width, 0.0, 1.0))
    varies = variance > _NOISE * width**2
    # In the unit of the mean: its error is the mean of these.
    deviations = (sums.rows[:, 0] - value * sums.rows[:, 1]) * clusters / float(sums.total[1])
    degrees = effective_degrees(deviations, sums.counts, sums.rows[:, 1])
    if varies:
        effective = share * (1 - share) * width**2 / variance
        # Squares do not vary with their mean as a proportion does: the design effect says nothing of them.
        if not heavy_tailed and not are_uneven(sums.rows[:, 1], sums.counts):
            degrees = design_degrees(deviations / width, share, sums.counts)
        ends = score_interval(share, effective, t_quantile(level, degrees))
        least, most = (low + width * float(end) for end in ends)
    else:
        least, most = identical_mean(value, clusters, bounds, level)
    flags = few_events(effective_degrees(deviations, sums.counts, sums.rows[:, 1], doubt=True), clusters)
    # Large scores that chance has not drawn leave no trace in the variance; what the bounds allow is counted instead.
    if heavy_tailed and unseen_share(clusters, level) * (1 - share) > UNSEEN * share:
        flags = (FEW_EVENTS,)
    return enclose(
        value,
        least,
        most,
        method="cluster-robust-wilson" if varies else "wilson-clusters",
        n=float(sums.total[1]),
        clusters=clusters,
        flags=flags,
    )
