"""Estimate a proportion from clustered trials, and the mean of several proportions of the same clusters."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.clusters import Kinds, distinct, parts_of, ratio_kinds, ratio_variance
from jrh_stats.degrees import are_uneven, design_degrees, effective_degrees, few_events, interval_degrees
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.one_sided import binomial_limits
from jrh_stats.score_intervals import score_interval, t_quantile, z_quantile

_CHUNK: Final = 4_000_000
"""Weights held in memory at once: 32 MB."""
_NOISE: Final = 1e-12
"""Differences below this are rounding."""
_ENOUGH_DEVIATE: Final = 5
"""Clusters whose deviations make up a variance that can be relied on."""


def resample_totals(sums: Floats | Kinds, *, resamples: int, seed: int) -> Floats:
    """Draw bootstrap totals: K clusters with replacement from K, summed.

    Clusters with equal sums are interchangeable, so the draw is one multinomial over the distinct rows of `sums`, with
    probabilities in proportion to how many clusters share each: exactly the distribution of drawing clusters, at the
    cost of the few kinds there are.

    Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8 (clusters drawn whole).

    Args:
        sums: per-cluster sums, shape (K, columns), as `cluster_sums` returns them.
        resamples: number of bootstrap samples B.
        seed: the only source of randomness.

    Returns:
        Totals, shape (B, columns). Independent of the order of the clusters.

    Raises:
        ValueError: there is no cluster.
    """
    if not len(sums):
        raise ValueError("a bootstrap needs at least one cluster")
    kinds, counts = distinct(sums)
    clusters = int(counts.sum())
    generator = np.random.default_rng(seed)
    totals = np.empty((resamples, kinds.shape[1]))
    for part in parts_of(resamples, max(1, _CHUNK // len(kinds))):
        # In blocks, so that memory does not grow with the number of resamples.
        draws = generator.multinomial(clusters, counts / clusters, size=part.stop - part.start)
        totals[part] = draws.astype(np.float64) @ kinds
    return totals


def clustered_proportion(numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate a proportion, sum(numerators) / sum(denominators), from trials that are clustered.

    Each end of the interval is a one-sided limit that errs in about (1 - level) / 2 of all samples at most, so that a
    report, a check and a gate decide by the same ends. The interval is

    * `clopper-pearson` where every cluster has one trial that scores 0 or 1: exact (`binomial_limits`).
    * `clopper-pearson-clusters` where all clusters have the same proportion, and where every cluster is all 0 or all 1
      with equal numbers of trials: the same with n = number of clusters, as if the trials of a cluster were one. A
      judge that always repeats itself gives as many observations as there are clusters.
    * `korn-graubard` otherwise: the same with the effective number of trials p (1 - p) / v (z / t)^2, which may exceed
      the number of trials where these are scored by means. v is `ratio_variance`, t Student's quantile with the
      degrees of `design_degrees`, at most K - 1; of uneven clusters at most the `effective_degrees`.

    Where fewer than five of K clusters deviate from all right, their variance says little about clusters that would:
    the lower end is then at most that of K clusters without a deviation, alpha^(1/K). The upper end likewise.

    Why not Wilson's interval: its ends err up to three times as often on one side as half of the level says. With the
    effective number of trials it claimed at least 80% in 18% of samples of 5 clusters of 12 at exactly 80%.
    `tests/studies/shares.py` compares coverage, errors of each end, and widths.

    Source: Clopper and Pearson (1934), Biometrika 26:404-413; Korn and Graubard (1998), Survey Methodology 24:193-201
    (there with K - 1 degrees and at most the number of trials). The degrees of freedom and the floor are ours
    (`docs/derivations.md`).

    Args:
        numerators: sum of the scores of each cluster, shape (K,); a trial scores from 0 to 1.
        denominators: number of trials of each cluster, shape (K,), all > 0.
        level: coverage; alpha is half of what it lacks to 1.

    Returns:
        The proportion with its interval. Flags: `empty` and no value without clusters; `few-events` where the interval
        is `korn-graubard` and rests on fewer than 30 clusters, or on few large ones (`few_events`).

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or a proportion lies outside [0, 1].
    """
    z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    tops, sizes = sums.rows.T
    shares = tops / sizes
    if np.any(shares < 0) or np.any(shares > 1 + _NOISE):
        raise ValueError("a cluster's score must be between 0 and its number of trials")
    (top, n), clusters = (float(total) for total in sums.total), len(sums)
    value = min(top / n, 1.0)
    # All or nothing in clusters of one size: trials of a cluster say one thing, and count as one trial.
    outright = bool(np.all((shares < _NOISE) | (shares > 1 - _NOISE))) and np.ptp(sizes) < _NOISE
    if outright or np.ptp(shares) < _NOISE:
        method = "clopper-pearson" if outright and sizes[0] == 1 else "clopper-pearson-clusters"
        low, high = binomial_limits(value * clusters, clusters, alpha=(1 - level) / 2)
        return enclose(value, low, high, method=method, n=n, clusters=clusters)
    deviations = tops - value * sizes
    degrees = min(interval_degrees(deviations * clusters / n, value, sums.counts, sizes), clusters - 1)
    ends = effective_limits(value, ratio_variance(tops, sizes, sums.counts), degrees, level)
    deviating = [int(sums.counts[differs].sum()) for differs in (shares < 1 - _NOISE, shares > _NOISE)]
    low, high = _allow_for_unseen(ends, deviating, clusters, level)
    # Of clusters alike in size the floor allows for rare outcomes; few large ones may hide them.
    known = effective_degrees(deviations, sums.counts, sizes, doubt=True) if are_uneven(sizes, sums.counts) else inf
    return enclose(value, low, high, method="korn-graubard", n=n, clusters=clusters, flags=few_events(known, clusters))


def effective_limits(value: float, variance: float, degrees: float, level: float) -> tuple[float, float]:
    """Compute Clopper and Pearson's limits with the effective number of trials that a variance implies.

    Source: Korn and Graubard (1998), Survey Methodology 24:193-201.

    Args:
        value: the proportion, strictly between 0 and 1.
        variance: its variance, which counts the dependence within clusters; positive.
        degrees: degrees of freedom of the variance, at least 1.
        level: coverage of both limits together.

    Returns:
        Lower and upper limit.
    """
    shrunk = (z_quantile(level) / t_quantile(level, degrees)) ** 2
    effective = value * (1 - value) / variance * shrunk
    return binomial_limits(value * effective, effective, alpha=(1 - level) / 2)


def _allow_for_unseen(
    ends: tuple[float, float], deviating: Sequence[int], clusters: int, level: float
) -> tuple[float, float]:
    """Return ends no nearer to 1 and 0 than those of clusters without a deviation, while fewer than five deviate.

    Args:
        ends: lower and upper end.
        deviating: clusters that are not all 1, and clusters that are not all 0.
        clusters: number of clusters.
        level: coverage.
    """
    floor = binomial_limits(clusters, clusters, alpha=(1 - level) / 2)[0]
    low, high = ends
    return (
        min(low, floor) if deviating[0] < _ENOUGH_DEVIATE else low,
        max(high, 1 - floor) if deviating[1] < _ENOUGH_DEVIATE else high,
    )


def share_difference_limits(
    above: ArrayLike, below: ArrayLike, denominators: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Estimate the difference of two shares of the same trials with one-sided limits.

    Each limit errs in at most (1 - level) / 2 of all samples; the two shares divide that by Bonferroni's inequality:
    L(above) - U(below) and U(above) - L(below), with the ends of `clustered_proportion`. They hold where few clusters
    differ or none does, and are wider than necessary elsewhere.

    Args:
        above: sum of the shares that count for, per cluster, shape (K,).
        below: sum of those that count against.
        denominators: number of trials of each cluster, all > 0.
        level: alpha is half of what it lacks to 1.

    Returns:
        The difference with its two limits; flag `empty` without clusters, and the flags of either share.
    """
    first, second = (clustered_proportion(share, denominators, level=(1 + level) / 2) for share in (above, below))
    if None in (ends := (first.value, first.low, first.high, second.value, second.low, second.high)):
        return evolve(first, value=None, low=None, high=None, method="")
    value, low, high, against, least, most = (float(end) for end in ends if end is not None)
    # The method that holds for fewer designs names both.
    method = max(first.method, second.method)
    flags = tuple(dict.fromkeys((*first.flags, *second.flags)))
    return evolve(first, value=value - against, low=low - most, high=high - least, method=method, flags=flags)


def effective_score_interval(value: float, variance: float, degrees: float, level: float) -> tuple[float, float]:
    """Compute Wilson's interval with the effective number of trials that a variance implies, and Student's t.

    Args:
        value: the proportion, strictly between 0 and 1.
        variance: its variance, which counts the dependence within clusters; positive.
        degrees: degrees of freedom of the variance, at least 1.
        level: coverage.

    Returns:
        Lower and upper end.
    """
    low, high = score_interval(value, value * (1 - value) / variance, t_quantile(level, degrees))
    return float(low), float(high)


def mean_of_rates(numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the unweighted mean of T rates that were measured on the same clusters.

    With p_t = sum_k y_kt / n_t, n_t = sum_k m_kt and K clusters, the mean is sum_t p_t / T, and its variance by
    linearisation, which counts that a cluster takes part in several rates,

        K / (K - 1) * sum_k d_k^2,   d_k = sum_t (y_kt - p_t m_kt) / (T n_t)

    The interval is that of `clustered_proportion` with this variance and the `design_degrees` of K d, at most K - 1.

    Source: linearisation of a sum of ratios, Cochran (1977), Sampling Techniques, 3rd ed., chapter 6 (not consulted
    for this sum); the form of the interval is ours, as in `clustered_proportion`.

    Args:
        numerators: sum of the scores of each cluster in each rate, shape (K, T).
        denominators: number of trials of each cluster in each rate, 0 where it has none, shape (K, T).
        level: coverage.

    Returns:
        The mean over the rates that have a trial; `n` counts all trials. One rate has the interval of
        `clustered_proportion`, and so have rates that are all 0 or all 1. Flag `empty` without a rate.
    """
    z_quantile(level)
    y, m = np.atleast_2d(np.asarray(numerators, dtype=np.float64)), np.atleast_2d(np.asarray(denominators, np.float64))
    there = m.sum(axis=0) > 0
    # A rate without a trial is no rate: counted as 0 it would pull the mean down.
    y, m = y[:, there], m[:, there]
    if not m.size:
        return Estimate(value=None, flags=("empty",))
    rates = y.sum(axis=0) / m.sum(axis=0)
    value, trials = float(rates.mean()), float(m.sum())
    used = m.sum(axis=1) > 0
    if y.shape[1] == 1 or not _NOISE < value < 1 - _NOISE:
        # At 0 and 1 linearisation has no variance; one rate needs none.
        return clustered_proportion(y.sum(axis=1)[used], m.sum(axis=1)[used], level=level)
    clusters = int(used.sum())
    influence = ((y - rates * m) / (len(rates) * m.sum(axis=0))).sum(axis=1)[used]
    variance = clusters / max(clusters - 1, 1) * float(np.square(influence).sum())
    if clusters < 2 or variance <= _NOISE**2:  # noqa: PLR2004 - a variance between clusters needs two
        return Estimate(value=value, n=trials, clusters=clusters, flags=("no-interval",))
    # The deviation of a cluster in the unit of the mean: the error of the mean is their mean.
    degrees = min(design_degrees(influence * clusters, value), clusters - 1)
    deviating = [int(np.count_nonzero(np.any(differs, axis=1))) for differs in (y < m - _NOISE, y > _NOISE)]
    low, high = _allow_for_unseen(effective_limits(value, variance, degrees, level), deviating, clusters, level)
    return enclose(
        value,
        low,
        high,
        method="korn-graubard",
        n=trials,
        clusters=clusters,
        flags=few_events(effective_degrees(influence), clusters),
    )
