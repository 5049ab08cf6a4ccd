"""Compare a judge's scores with the true ones: correlations, also of ranks, and use of the scale."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats, positive_or_nan
from jrh_stats.clusters import Kinds, cluster_sums, kinds_of, margin_kinds
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import NOISE, correlation_estimate, ratio_of_spreads
from jrh_stats.kinds import pair_kinds

_W, _X, _Y, _XX, _YY, _XY = range(6)


def pearson(verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate Pearson's correlation with the interval of `correlation_estimate`: Fisher's z, jackknife over clusters.

    Args:
        verdicts: numbers, shape (n,).
        truths: numbers, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        level: coverage.

    Returns:
        The estimate. Flags: `empty`; `degenerate` where a side is constant; `no-interval` from one cluster;
        `few-events`.

    Raises:
        ValueError: the shapes differ.
    """
    sums = _moments(verdicts, truths, clusters)
    return correlation_estimate(
        sums, _correlation, n=float(sums.total[_W]), level=level, unseen=_corners(verdicts, truths)
    )


def scale_compression(verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the spread of the verdicts relative to that of the truths: sd(verdicts) / sd(truths).

    Below 1 the judge uses less of the scale than the truths do (restriction of range), above 1 more; noise in the
    verdicts widens their spread, so read it together with a correlation.

    Source: restriction of range as a spread of ratings: Saal, Downey and Lahey (1980), Psychological Bulletin
    88:413-428.

    Arguments as `pearson`.

    Returns:
        The ratio, method `jackknife-log`, or `wilson-clusters` where leaving out a cluster changes nothing. Flags:
        `empty`, `degenerate` where the truths are constant, `no-interval` from one cluster.
    """
    sums = _moments(verdicts, truths, clusters)
    return ratio_of_spreads(sums, _compression, n=float(sums.total[_W]), level=level, unseen=_corners(verdicts, truths))


def _correlation(totals: Floats) -> Floats:
    xx, yy, xy = _spreads(totals)
    defined = (xx > NOISE) & (yy > NOISE)
    return np.where(defined, xy / np.sqrt(np.where(defined, xx * yy, 1.0)), np.nan)


def _compression(totals: Floats) -> Floats:
    xx, yy, _ = _spreads(totals)
    return np.where(yy > NOISE, np.sqrt(np.maximum(xx, 0) / np.where(yy > NOISE, yy, 1.0)), np.nan)


def _spreads(totals: Floats) -> tuple[Floats, Floats, Floats]:
    t = totals / positive_or_nan(totals[:, [_W]])
    return (
        np.asarray(t[:, _XX] - np.square(t[:, _X])),
        np.asarray(t[:, _YY] - np.square(t[:, _Y])),
        np.asarray(t[:, _XY] - t[:, _X] * t[:, _Y]),
    )


def _read_pairs(verdicts: ArrayLike, truths: ArrayLike) -> tuple[Floats, Floats]:
    verdict, truth = np.asarray(verdicts, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    if verdict.shape != truth.shape or verdict.ndim != 1:
        raise ValueError("both sides must be arrays of equal length")
    return verdict, truth


def _moments(verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike) -> Kinds:
    verdict, truth = _read_pairs(verdicts, truths)
    if not verdict.size:
        return kinds_of(np.zeros((0, 6)))
    # The middle of all numbers does not depend on their order, and keeps the squares small.
    middle = (min(verdict.min(), truth.min()) + max(verdict.max(), truth.max())) / 2
    tables = pair_kinds(verdict, truth, clusters)
    if tables is not None:
        kinds, levels = tables
        x, y = np.repeat(levels - middle, len(levels)), np.tile(levels - middle, len(levels))
        return kinds.times(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    x, y = verdict - middle, truth - middle
    return kinds_of(cluster_sums(clusters, np.ones(len(x)), x, y, x * x, y * y, x * y))


def _corners(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return the moments of pairs as far apart, and as far out, as the numbers that occur allow, shape (pairs, 6)."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not x.size:
        return np.zeros((0, 6))
    half = (max(x.max(), y.max()) - min(x.min(), y.min())) / 2
    # The middle too: a pair in the middle of one side and at the end of the other pulls a correlation towards 0.
    steps = np.array([-half, 0.0, half])
    x, y = np.repeat(steps, len(steps)), np.tile(steps, len(steps))
    return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)


MOST_LEVELS: Final = 101
"""Rank correlations work on the table of levels, one column per pair of levels that occur."""


def spearman(verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate Spearman's rank correlation: Pearson's correlation of the mid-ranks.

    The interval is that of `pearson`: leaving out a cluster re-ranks the others.

    Source: Spearman (1904), American Journal of Psychology 15:72-101.

    Args:
        verdicts: levels, any numbers, at most 101 different ones on both sides together, shape (n,).
        truths: levels, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        level: coverage.

    Returns:
        The estimate. Flags: `empty`, `degenerate` where a side is constant, `no-interval`.

    Raises:
        ValueError: the shapes differ or there are too many levels.
    """
    tables, size = _tables(verdicts, truths, clusters)
    # One pair each at the corners of the table: the ranks of unseen pairs can lie no further apart, and no further out.
    corners = np.zeros((4, size, size))
    corners[range(4), (0, -1, 0, -1), (-1, 0, 0, -1)] = 1.0
    return correlation_estimate(
        tables,
        lambda totals: _rho(totals.reshape(-1, size, size)),
        n=float(tables.total.sum()),
        level=level,
        unseen=corners.reshape(4, size * size),
    )


def _tables(verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike) -> tuple[Kinds, int]:
    """Return the kinds of per-cluster tables verdict x truth, flattened, and the number of levels."""
    verdict, truth = _read_pairs(verdicts, truths)
    if not verdict.size:
        return kinds_of(np.zeros((0, 1))), 1
    tables = pair_kinds(verdict, truth, clusters)
    if tables is not None:
        return tables[0], len(tables[1])
    levels, dense = np.unique(np.concatenate([verdict, truth]), return_inverse=True)
    size = len(levels)
    if size > MOST_LEVELS:
        raise ValueError(f"rank correlations support up to {MOST_LEVELS} levels, got {size}; bin the numbers first")
    rows, columns = np.split(dense, 2)
    return margin_kinds(clusters, rows * size + columns, np.ones(len(rows)), n_labels=size * size), size


def _rho(tables: Floats) -> Floats:
    """Compute Spearman's rho of tables verdict x truth, shape (B, L, L)."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    verdict_ranks, truth_ranks = _mid_ranks(rows), _mid_ranks(columns)
    shared = np.einsum("bij,bi,bj->b", tables, verdict_ranks, truth_ranks)
    # Mid-ranks around their mean, so that sums of products are covariances.
    spreads = [(side * np.square(ranks)).sum(axis=1) for side, ranks in ((rows, verdict_ranks), (columns, truth_ranks))]
    defined = (spreads[0] > NOISE) & (spreads[1] > NOISE)
    return np.where(defined, shared / np.sqrt(np.where(defined, spreads[0] * spreads[1], 1.0)), np.nan)


def _mid_ranks(margins: Floats) -> Floats:
    return np.asarray(np.cumsum(margins, axis=1) - margins / 2 - margins.sum(axis=1, keepdims=True) / 2)
