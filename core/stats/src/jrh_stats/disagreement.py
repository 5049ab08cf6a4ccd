"""Measure disagreement between repeats of one question: the noise floor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import cluster_sums
from jrh_stats.estimate import Estimate
from jrh_stats.proportion import clustered_proportion


def disagreeing_pairs(counts: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count the unordered pairs of answers that differ.

    With n_l answers of label l and n in total: pairs = n (n - 1) / 2, agreeing = sum_l n_l (n_l - 1) / 2. The share of
    disagreeing pairs is the unbiased estimate of the Gini-Simpson index (Simpson 1949, Nature 163:688), and 1 minus it
    the observed agreement P_i of Fleiss (1971, Psychological Bulletin 76:378-382).

    Args:
        counts: answers per group and label, shape (groups, labels).

    Returns:
        Disagreeing pairs and all pairs, each of shape (groups,).
    """
    table = np.asarray(counts, dtype=np.float64)
    total = table.sum(axis=1)
    pairs = total * (total - 1) / 2
    agreeing = (table * (table - 1) / 2).sum(axis=1)
    return pairs - agreeing, pairs


def rerun_disagreement(
    counts: ArrayLike, clusters: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Estimate:
    """Estimate the probability that two answers to the identical question differ.

    The share of disagreeing pairs among all unordered pairs of repeats, pooled over groups; groups with fewer than two
    answers have no pair and do not count. The interval is that of `clustered_proportion`, so that the dependence
    between the pairs of one group is counted.

    Args:
        counts: answers per group (one question put repeatedly) and label, shape (groups, labels).
        clusters: the cluster each group belongs to, whole numbers >= 0, shape (groups,).
        level: coverage.
        resamples: bootstrap samples.
        seed: the only source of randomness.

    Returns:
        The estimate; `n` is the number of pairs. Flag `empty` and no value where there is no pair.
    """
    differing, pairs = disagreeing_pairs(counts)
    paired = pairs > 0
    sums = cluster_sums(np.asarray(clusters)[paired], differing[paired], pairs[paired])
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level, resamples=resamples, seed=seed)
