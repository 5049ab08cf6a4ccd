"""Estimate agreement between any number of raters: Krippendorff's alpha."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats, positive_or_nan
from jrh_stats.clusters import cluster_sums
from jrh_stats.degrees import FEW_EVENTS
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import chance_corrected, sums_by_cluster
from jrh_stats.proportion import clustered_proportion

_RARER = 12
"""With fewer expected clusters of other labels than the commonest, alpha rests on those that chance has drawn."""


def rating_counts(counts: ArrayLike) -> Floats:
    """Check ratings per unit and label, shape (units, labels).

    Raises:
        ValueError: not two-dimensional, or a number is negative or not finite.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004 - units x labels
        raise ValueError(f"ratings must be counts of shape (units, labels); got {table.shape}")
    if not np.all(np.isfinite(table) & (table >= 0)):
        raise ValueError("counts of ratings must be finite and 0 or more")
    return table


AlphaMetric: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""How far apart two values are: different or not, by rank, by difference, by difference relative to their sum."""


def krippendorff_alpha(
    counts: ArrayLike,
    values: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    *,
    metric: AlphaMetric = "nominal",
    level: float = 0.95,
) -> Estimate:
    """Estimate Krippendorff's alpha.

    With n_uc the ratings of value c in unit u, m_u = sum_c n_uc, o_ck = sum_u n_uc (n_uk - [c = k]) / (m_u - 1) over
    units with two or more ratings, n_c = sum_k o_ck and n = sum_c n_c:

        alpha = 1 - (n - 1) sum_ck o_ck d_ck^2 / sum_ck n_c n_k d_ck^2

    d_ck^2 is [c != k] (nominal); (c - k)^2 (interval); ((c - k) / (c + k))^2 (ratio); the squared difference of the
    mid-ranks of c and k among all n ratings (ordinal). Missing ratings are not counted.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Hayes and Krippendorff (2007),
    Communication Methods and Measures 1:77-89.

    Args:
        counts: ratings per unit and value, shape (units, values), the values from lowest to highest.
        values: what the columns stand for, shape (values,); needed for `interval` and `ratio`.
        clusters: the cluster (item) each unit belongs to, shape (units,); each its own by default.
        metric: how far apart two values are.
        level: coverage.

    Returns:
        The estimate, with the interval of `clustered_kappa`; `n` counts the pairable ratings. Flags: `empty` where no
        unit has two ratings, `degenerate` where all of them are one value, `few-events`; nominal also where fewer than
        12 clusters' worth of ratings are not of the commonest label (unflagged, 60 such covered 86%).

    Raises:
        ValueError: `counts` is not a table of numbers >= 0; the values are missing, not in order, of another number
            than the columns, or negative for `ratio`.
    """
    table = rating_counts(counts)
    fixed = _distances(table.shape[1], values, metric)
    ratings = table.sum(axis=1)
    pairable = ratings > 1
    table, ratings = table[pairable], ratings[pairable]
    size = table.shape[1]
    # The coincidence matrix of every unit; on its diagonal a rating makes no pair with itself.
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(size), np.arange(size)] -= table
    columns = (pairs / np.maximum(ratings - 1, 1)[:, None, None]).reshape(len(table), size * size)
    sums = sums_by_cluster(columns, None if clusters is None else np.asarray(clusters)[pairable])

    def distances(margins: Floats) -> Floats:
        return _rank_distances(margins) if fixed is None else fixed[None, :, :]

    def disagreement(totals: Floats) -> Floats:
        pairs = totals.reshape(-1, size, size)
        margins = pairs.sum(axis=2)
        return np.asarray((pairs * distances(margins)).sum(axis=(1, 2)) / positive_or_nan(margins.sum(axis=1)))

    def chance_disagreement(totals: Floats) -> Floats:
        margins = totals.reshape(-1, size, size).sum(axis=2)
        n = margins.sum(axis=1)
        products = margins[:, :, None] * margins[:, None, :]
        return np.asarray((products * distances(margins)).sum(axis=(1, 2)) / positive_or_nan(n * (n - 1)))

    estimate = chance_corrected(
        sums,
        disagreement,
        chance_disagreement,
        n=float(ratings.sum()),
        level=level,
        unseen=None if metric == "nominal" else _farthest(sums, size),
    )
    rarer = estimate.clusters * (1 - float(table.sum(axis=0).max(initial=0.0)) / max(float(table.sum()), 1.0))
    if metric == "nominal" and estimate.low is not None and rarer < _RARER and FEW_EVENTS not in estimate.flags:
        return evolve(estimate, flags=(*estimate.flags, FEW_EVENTS))
    return estimate


def _farthest(sums: Floats, size: int) -> Floats:
    """Return what a rating adds to the pairs if its unit has the lowest and the highest value that occur."""
    pairs = sums.sum(axis=0).reshape(size, size)
    occur = np.flatnonzero(pairs.sum(axis=1) > 0)
    unit = np.zeros((size, size))
    if len(occur):
        unit[[occur[0], occur[-1]], [occur[-1], occur[0]]] += 0.5
    return unit.reshape(1, size * size)


def _rank_distances(margins: Floats) -> Floats:
    # From the ratings counted: mid-ranks change where a cluster is left out, so they are no constants of the scale.
    middle = np.cumsum(margins, axis=1) - margins / 2
    return np.square(middle[:, :, None] - middle[:, None, :])


def _distances(size: int, values: ArrayLike | None, metric: AlphaMetric) -> Floats | None:
    """Return squared distances of shape (values, values), or None where they depend on the ratings."""
    if metric == "nominal":
        return 1 - np.eye(size)
    if metric == "ordinal":
        return None
    if values is None:
        raise ValueError(f"the {metric} metric needs the numbers that the columns stand for")
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (size,) or not np.all(np.diff(numbers) > 0):
        raise ValueError(f"give one number per column, from lowest to highest: {size} of them")
    gaps = np.square(numbers[:, None] - numbers[None, :])
    if metric == "interval":
        return gaps
    if numbers.min(initial=0.0) < 0:
        raise ValueError("the ratio metric needs values of 0 or more")
    return np.asarray(gaps / np.square(np.maximum(numbers[:, None] + numbers[None, :], np.finfo(float).tiny)))


def count_disagreeing_pairs(counts: ArrayLike) -> tuple[Floats, Floats]:
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
    # From the counts: a question asked n times has n (n - 1) / 2 pairs, which are never listed.
    pairs = total * (total - 1) / 2
    return pairs - (table * (table - 1) / 2).sum(axis=1), pairs


def rerun_disagreement(counts: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the probability that two answers to the identical question differ.

    The share of disagreeing pairs among all unordered pairs of repeats, pooled over groups; groups with fewer than two
    answers have no pair and do not count. The interval is that of `clustered_proportion`, so that the dependence
    between the pairs of one group is counted.

    Args:
        counts: answers per group (one question put repeatedly) and label, shape (groups, labels).
        clusters: the cluster each group belongs to, whole numbers >= 0, shape (groups,).
        level: coverage.

    Returns:
        The estimate; `n` is the number of pairs. Flag `empty` and no value where there is no pair.
    """
    differing, pairs = count_disagreeing_pairs(counts)
    paired = pairs > 0
    sums = cluster_sums(np.asarray(clusters)[paired], differing[paired], pairs[paired])
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)
