"""Hold a judge's accuracy against the best constant judge: one that always gives the same label."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.clusters import cluster_sums
from jrh_stats.estimate import Estimate
from jrh_stats.mean import clustered_difference


def gain_over_constant(
    right: ArrayLike, gold: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """Estimate accuracy minus that of the best constant judge, min over labels k of P(right) - P(gold = k).

    The best constant label is not known, and its share in the sample is too high on average: an interval of the
    accuracy alone, held against that share, calls a judge worse than the constant one far too often. Here every label
    is tested on the same items: with d_k = [right] - [gold = k] and (L_k, U_k) the interval of its clustered mean
    (`paired_difference`), the gain g = min_k E d_k has the interval

        low  = min_k L_k                 at `level` (g > 0 needs every d_k > 0: an intersection-union test)
        high = min_k U_k                 at 1 - (1 - level) / K (g < 0 needs one d_k < 0: Bonferroni over K labels)

    Source: Berger (1982), Technometrics 24:295-300, for the intersection-union test; the combination is ours.

    Args:
        right: 1 where the verdict is the gold label, 0 elsewhere, shape (n,).
        gold: code of the gold label of every trial, whole numbers >= 0, shape (n,).
        clusters: cluster of every trial, whole numbers >= 0, shape (n,).
        weights: how much each trial counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The gain, between -1 and 1. Flags: `empty` without trials, and those of `clustered_difference` for any label.

    Raises:
        ValueError: the shapes differ.
    """
    hits, labels = np.asarray(right, dtype=np.float64), np.asarray(gold, dtype=np.int64)
    codes = np.asarray(clusters, dtype=np.int64)
    mass = np.ones(hits.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if not hits.shape == labels.shape == codes.shape == mass.shape:
        raise ValueError(f"labels, clusters and weights must have the shape of the scores, {hits.shape}")
    present = np.unique(labels)
    if not len(present):
        return Estimate(value=None, flags=("empty",))
    lower, upper = [], []
    for label in present:
        sums = cluster_sums(codes, (hits - (labels == label)) * mass, mass)
        lower.append(clustered_difference(sums[:, 0], sums[:, 1], level=level))
        upper.append(clustered_difference(sums[:, 0], sums[:, 1], level=1 - (1 - level) / len(present)))
    first = lower[0]
    lows, highs = [each.low for each in lower], [each.high for each in upper]
    known = all(end is not None for end in (*lows, *highs))
    return Estimate(
        value=min(each.value for each in lower if each.value is not None),
        low=min(end for end in lows if end is not None) if known else None,
        high=min(end for end in highs if end is not None) if known else None,
        method=f"{first.method}-min" if known else "",
        n=first.n,
        clusters=first.clusters,
        flags=tuple(dict.fromkeys(flag for each in lower for flag in each.flags)),
    )
