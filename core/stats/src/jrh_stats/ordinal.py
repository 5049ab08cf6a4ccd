"""Compare a judge's scores with the true ones: correlations, also of ranks, and use of the scale."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.clusters import Kinds, cluster_sums, kinds_of, margin_kinds
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import NOISE, correlation_estimate, ratio_of_spreads
from jrh_stats.kinds import pair_kinds

_W, _X, _Y, _XX, _YY, _XY = range(6)


def pearson(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Pearson's correlation with the interval of `correlation_estimate`: Fisher's z, jackknife over clusters.

    Args:
        verdicts: numbers, shape (n,).
        truths: numbers, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate. Flags: `empty`; `degenerate` where a side is constant; `no-interval` from one cluster;
        `few-events`.

    Raises:
        ValueError: the shapes differ.
    """
    sums = _moments(verdicts, truths, clusters, case_weights)
    return correlation_estimate(sums, _correlation, n=_mass(sums), level=level, unseen=_corners(verdicts, truths))


def scale_compression(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
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
    sums = _moments(verdicts, truths, clusters, case_weights)
    return ratio_of_spreads(sums, _compression, n=_mass(sums), level=level, unseen=_corners(verdicts, truths))


def _correlation(totals: Floats) -> Floats:
    xx, yy, xy = _spreads(totals)
    defined = (xx > NOISE) & (yy > NOISE)
    return np.where(defined, xy / np.sqrt(np.where(defined, xx * yy, 1.0)), np.nan)


def _compression(totals: Floats) -> Floats:
    xx, yy, _ = _spreads(totals)
    return np.where(yy > NOISE, np.sqrt(np.maximum(xx, 0) / np.where(yy > NOISE, yy, 1.0)), np.nan)


def _spreads(totals: Floats) -> tuple[Floats, Floats, Floats]:
    t = totals / _positive(totals[:, [_W]])
    return (
        np.asarray(t[:, _XX] - np.square(t[:, _X])),
        np.asarray(t[:, _YY] - np.square(t[:, _Y])),
        np.asarray(t[:, _XY] - t[:, _X] * t[:, _Y]),
    )


def _moments(x: ArrayLike, y: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None) -> Kinds:
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    mass = np.ones(one.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if one.shape != other.shape or one.shape != mass.shape or one.ndim != 1:
        raise ValueError("both sides and the case weights must be arrays of equal length")
    if not one.size:
        return kinds_of(np.zeros((0, 6)))
    # The middle of all numbers does not depend on their order, and keeps the squares small.
    middle = (min(one.min(), other.min()) + max(one.max(), other.max())) / 2
    found = pair_kinds(one, other, clusters, mass)
    if found is not None:
        tables, levels = found
        x, y = np.repeat(levels - middle, len(levels)), np.tile(levels - middle, len(levels))
        return tables.times(np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    one, other = one - middle, other - middle
    sums = cluster_sums(
        clusters, mass, mass * one, mass * other, mass * one * one, mass * other * other, mass * one * other
    )
    return kinds_of(sums)


def _corners(x: ArrayLike, y: ArrayLike) -> Floats:
    """Return the moments of pairs as far apart, and as far out, as the numbers that occur allow, shape (pairs, 6)."""
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not one.size:
        return np.zeros((0, 6))
    half = (max(one.max(), other.max()) - min(one.min(), other.min())) / 2
    steps = np.array([-half, 0.0, half])
    one, other = np.repeat(steps, len(steps)), np.tile(steps, len(steps))
    return np.stack([np.ones(len(one)), one, other, one * one, other * other, one * other], axis=1)


def _mass(sums: Kinds) -> float:
    return float(sums.total[_W]) if len(sums) else 0.0


def _positive(numbers: Floats) -> Floats:
    return np.where(numbers > 0, numbers, np.nan)


MOST_LEVELS: Final = 101
"""Rank correlations work on the table of levels, one column per pair of levels that occur."""


def spearman(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Spearman's rank correlation: Pearson's correlation of the mid-ranks.

    The interval is that of `pearson`: leaving out a cluster re-ranks the others.

    Source: Spearman (1904), American Journal of Psychology 15:72-101.

    Args:
        verdicts: levels, any numbers, at most 101 different ones on both sides together, shape (n,).
        truths: levels, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate. Flags: `empty`, `degenerate` where a side is constant, `no-interval`.

    Raises:
        ValueError: the shapes differ or there are too many levels.
    """
    tables, size = _tables(verdicts, truths, clusters, case_weights)
    corners = np.zeros((4, size, size))
    corners[range(4), (0, -1, 0, -1), (-1, 0, 0, -1)] = 1.0
    return correlation_estimate(
        tables,
        lambda totals: _rho(totals.reshape(-1, size, size)),
        n=float(tables.total.sum()),
        level=level,
        unseen=corners.reshape(4, size * size),
    )


def _tables(
    verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None
) -> tuple[Kinds, int]:
    """Return the kinds of per-cluster tables verdict x truth, flattened, and the number of levels."""
    one, other = np.asarray(verdicts, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    mass = np.ones(one.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if one.shape != other.shape or one.shape != mass.shape or one.ndim != 1:
        raise ValueError("both sides and the case weights must be arrays of equal length")
    if not one.size:
        return kinds_of(np.zeros((0, 1))), 1
    found = pair_kinds(one, other, clusters, mass)
    if found is not None:
        return found[0], len(found[1])
    levels, dense = np.unique(np.concatenate([one, other]), return_inverse=True)
    size = len(levels)
    if size > MOST_LEVELS:
        raise ValueError(f"rank correlations support up to {MOST_LEVELS} levels, got {size}; bin the numbers first")
    rows, columns = np.split(dense, 2)
    return margin_kinds(clusters, rows * size + columns, mass, n_labels=size * size), size


def _rho(tables: Floats) -> Floats:
    """Compute Spearman's rho of tables verdict x truth, shape (B, L, L)."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    one, other = _centred_ranks(rows), _centred_ranks(columns)
    shared = np.einsum("bij,bi,bj->b", tables, one, other)
    spreads = [(side * np.square(ranks)).sum(axis=1) for side, ranks in ((rows, one), (columns, other))]
    defined = (spreads[0] > NOISE) & (spreads[1] > NOISE)
    return np.where(defined, shared / np.sqrt(np.where(defined, spreads[0] * spreads[1], 1.0)), np.nan)


def _centred_ranks(margins: Floats) -> Floats:
    return np.asarray(np.cumsum(margins, axis=1) - margins / 2 - margins.sum(axis=1, keepdims=True) / 2)
