"""Resample whole clusters with replacement; the trials of a cluster stay together."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import Kinds, distinct, kinds_of
from jrh_stats.estimate import Estimate
from jrh_stats.score_intervals import z_quantile

_CHUNK: Final = 4_000_000
"""Weights held in memory at once: 32 MB."""


def resample_totals(sums: NDArray[np.float64] | Kinds, *, resamples: int, seed: int) -> NDArray[np.float64]:
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
    step = max(1, _CHUNK // len(kinds))
    totals = np.empty((resamples, kinds.shape[1]))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        draws = generator.multinomial(clusters, counts / clusters, size=size)
        totals[start : start + size] = draws.astype(np.float64) @ kinds
    return totals


def cluster_bootstrap_ratio(
    numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Estimate:
    """Estimate the ratio sum(numerators) / sum(denominators) with a percentile cluster-bootstrap interval.

    For any ratio or mean, also outside [0, 1]. For a proportion use `clustered_proportion`: near 0 and 1 and with few
    clusters the percentile interval is too short, and it is a single point where all clusters agree.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.

    Args:
        numerators: sum of the scores of each cluster, shape (K,).
        denominators: number of trials of each cluster, shape (K,), all > 0.
        level: coverage.
        resamples: bootstrap samples.
        seed: the only source of randomness.

    Returns:
        The ratio and its interval, method `cluster-bootstrap-percentile`; flag `empty` without clusters.

    Raises:
        ValueError: the shapes differ or a denominator is not positive.
    """
    z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    top, bottom = sums.total
    totals = resample_totals(sums, resamples=resamples, seed=seed)
    low, high = np.quantile(totals[:, 0] / totals[:, 1], [(1 - level) / 2, (1 + level) / 2])
    value = float(top / bottom)
    return Estimate(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        method="cluster-bootstrap-percentile",
        n=float(bottom),
        clusters=len(sums),
    )


def ratio_kinds(numerators: ArrayLike, denominators: ArrayLike) -> Kinds:
    """Check numerators and denominators, and return the kinds of clusters, with these two columns."""
    y, m = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if y.shape != m.shape or y.ndim != 1:
        raise ValueError(f"numerators and denominators must be two arrays of equal length, got {y.shape} and {m.shape}")
    if np.any(m <= 0):
        raise ValueError("every cluster needs a positive denominator; leave out clusters without trials")
    return kinds_of(np.stack([y, m], axis=1))
