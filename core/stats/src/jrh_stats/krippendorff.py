"""Estimate Krippendorff's alpha: any number of raters, any kind of values, missing ratings."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.agreement import rating_counts
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import chance_corrected, sums_by_cluster

AlphaMetric: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
"""How far apart two values are: different or not, by rank, by difference, by difference relative to their sum."""

_PAIR = 2


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
        unit has two ratings, `degenerate` where all of them are one value.

    Raises:
        ValueError: `counts` is not a table of numbers >= 0; the values are missing, not in order, of another number
            than the columns, or negative for `ratio`.
    """
    table = rating_counts(counts)
    fixed = _distances(table.shape[1], values, metric)
    ratings = table.sum(axis=1)
    kept = ratings >= _PAIR
    table, ratings = table[kept], ratings[kept]
    size = table.shape[1]
    pairs = table[:, :, None] * table[:, None, :]
    pairs[:, np.arange(size), np.arange(size)] -= table
    columns = (pairs / np.maximum(ratings - 1, 1)[:, None, None]).reshape(len(table), size * size)
    sums = sums_by_cluster(columns, None if clusters is None else np.asarray(clusters)[kept])

    def distances(margins: NDArray[np.float64]) -> NDArray[np.float64]:
        return _rank_distances(margins) if fixed is None else fixed[None, :, :]

    def observed(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        pairs = totals.reshape(-1, size, size)
        margins = pairs.sum(axis=2)
        return np.asarray((pairs * distances(margins)).sum(axis=(1, 2)) / _positive(margins.sum(axis=1)))

    def expected(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        margins = totals.reshape(-1, size, size).sum(axis=2)
        n = margins.sum(axis=1)
        products = margins[:, :, None] * margins[:, None, :]
        return np.asarray((products * distances(margins)).sum(axis=(1, 2)) / _positive(n * (n - 1)))

    return chance_corrected(
        sums,
        observed,
        expected,
        n=float(ratings.sum()),
        level=level,
        unseen=None if metric == "nominal" else _farthest(sums, size),
        ends="wilson" if metric == "nominal" else "fisher-z",
    )


def _positive(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(numbers > 0, numbers, np.nan)


def _farthest(sums: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return what a rating adds to the pairs if its unit has the lowest and the highest value that occur."""
    pairs = sums.sum(axis=0).reshape(size, size)
    occur = np.flatnonzero(pairs.sum(axis=1) > 0)
    unit = np.zeros((size, size))
    if len(occur):
        unit[[occur[0], occur[-1]], [occur[-1], occur[0]]] += 0.5
    return unit.reshape(1, size * size)


def _rank_distances(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    middle = np.cumsum(margins, axis=1) - margins / 2
    return np.square(middle[:, :, None] - middle[:, None, :])


def _distances(size: int, values: ArrayLike | None, metric: AlphaMetric) -> NDArray[np.float64] | None:
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
