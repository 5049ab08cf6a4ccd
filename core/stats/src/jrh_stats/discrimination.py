"""Estimate how well real-valued scores tell levels apart: the area under the ROC curve and Kendall's tau-b."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.degrees import FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, wilson, z_quantile

_NOISE: Final = 1e-12
_CELLS: Final = 1_000_000
"""Pairs of one cluster that are held at once."""


def auc(scores: ArrayLike, positive: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the area under the ROC curve: P(positive scores higher) + P(equal) / 2 over all pairs of both classes.

    The interval is the jackknife over clusters, symmetric in the logit. Without a pair in the wrong order it is
    Wilson's of as many successes as the rarer class has clusters (`wilson-clusters`).

    Source: the estimate is Mann and Whitney's U over n1 n0 (Hanley and McNeil 1982, Radiology 143:29-36); the jackknife
    over clusters is close to Obuchowski (1997), Biometrics 53:567-578, not consulted for details.

    Args:
        scores: finite numbers, shape (n,).
        positive: whether the right answer is the positive one, shape (n,).
        clusters: the cluster of each score, shape (n,).
        level: coverage.

    Returns:
        The estimate. Flags: `empty`, `degenerate` where a class is missing, `no-interval` from one cluster,
        `few-events`.

    Raises:
        ValueError: the shapes differ or a score is not finite.
    """
    z_quantile(level)
    numbers, right, codes = _read_pairs(scores, np.asarray(positive, dtype=np.bool_).astype(np.float64), clusters)
    if not len(numbers):
        return Estimate(value=None, flags=("empty",))
    surplus, without = _surplus(numbers, right, codes)
    # U over n1 n0 is the area; C - D over n1 n0 is twice the area minus 1.
    sizes = np.array([right.sum(), len(right) - right.sum()])
    class_sizes = np.stack([np.bincount(codes, right), np.bincount(codes, 1 - right)], axis=1)
    if not sizes.all():
        return Estimate(value=None, n=len(numbers), clusters=len(class_sizes), flags=("degenerate",))
    value = (surplus / sizes.prod() + 1) / 2
    left = sizes - class_sizes
    fewest = int(min(np.count_nonzero(class_sizes[:, 0]), np.count_nonzero(class_sizes[:, 1])))
    # Without the only cluster of a class there is no area; such a cluster is taken to change nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = (without / left.prod(axis=1) + 1) / 2
    return _interval(value, np.where(left.prod(axis=1) > 0, areas, value), len(numbers), fewest, level, unit=True)


def score_tau_b(scores: ArrayLike, levels: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate Kendall's tau-b of real-valued scores with levels: (C - D) / sqrt((n0 - n1) (n0 - n2)).

    C and D are the concordant and discordant pairs of pairs, n0 all, n1 and n2 those tied on either side. The interval
    is the jackknife over clusters, symmetric in Fisher's z.

    Source: Kendall (1945), Biometrika 33:239-251.

    Args:
        scores: finite numbers, shape (n,).
        levels: the right levels, shape (n,); few distinct ones.
        clusters: the cluster of each score, shape (n,).
        level: coverage.

    Returns:
        The estimate. Flags: `empty`, `degenerate` where a side is constant, `no-interval` from one cluster,
        `few-events`.

    Raises:
        ValueError: the shapes differ or a number is not finite.
    """
    z_quantile(level)
    numbers, right, codes = _read_pairs(scores, levels, clusters)
    if not len(numbers):
        return Estimate(value=None, flags=("empty",))
    count = int(codes.max()) + 1
    surplus, surplus_without = _surplus(numbers, right, codes)
    untied_scores, untied_scores_without = _count_untied(numbers, codes)
    untied_levels, untied_levels_without = _count_untied(right, codes)
    if not untied_scores or not untied_levels:
        return Estimate(value=None, n=len(numbers), clusters=count, flags=("degenerate",))
    value = surplus / np.sqrt(untied_scores * untied_levels)
    defined = (untied_scores_without > 0) & (untied_levels_without > 0)
    scale = np.sqrt(np.where(defined, untied_scores_without * untied_levels_without, 1.0))
    without = np.where(defined, surplus_without / scale, value)
    return _interval(float(value), without, len(numbers), count, level, unit=False)


def _read_pairs(scores: ArrayLike, right: ArrayLike, clusters: ArrayLike) -> tuple[Floats, Floats, Codes]:
    numbers, other = np.asarray(scores, dtype=np.float64), np.asarray(right, dtype=np.float64)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if numbers.ndim != 1 or numbers.shape != other.shape or numbers.shape != codes.shape:
        raise ValueError("scores, right answers and clusters must be arrays of equal length")
    if not (np.isfinite(numbers).all() and np.isfinite(other).all()):
        raise ValueError("every score must be a finite number")
    return numbers, other, codes.astype(np.int64)


def _surplus(scores: Floats, levels: Floats, codes: Codes) -> tuple[float, Floats]:
    """Return C - D of all pairs, and that without each cluster, shape (clusters,)."""
    surplus = _signs(scores, levels)
    total = float(surplus.sum()) / 2
    inside = np.zeros(int(codes.max()) + 1)
    for clusters, rows in _clusters_by_size(codes):
        x, y = scores[rows], levels[rows]
        signs = np.sign(x[:, :, None] - x[:, None, :]) * np.sign(y[:, :, None] - y[:, None, :])
        # Without a cluster both its pairs with others and those within it are gone; the first count these twice.
        inside[clusters] = signs.sum(axis=(1, 2)) / 2
    return total, total - np.bincount(codes, surplus) + inside


def _signs(scores: Floats, levels: Floats) -> Floats:
    """Return for every i the sum over j of sign(scores_i - scores_j) sign(levels_i - levels_j)."""
    signs = np.zeros(len(scores))
    parts = [(level, np.sort(scores[levels == level])) for level in np.unique(levels)]
    for level, part in parts:
        # Sorting each level once makes this n log n; listing the pairs would be n^2.
        lower = np.searchsorted(part, scores, "left") - (len(part) - np.searchsorted(part, scores, "right"))
        signs += np.sign(levels - level) * lower
    return signs


def _count_untied(values: Floats, codes: Codes) -> tuple[float, Floats]:
    """Return the number of pairs with different values, and that without each cluster."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    partners = len(values) - counts[place]
    total = float(partners.sum()) / 2
    inside = np.zeros(int(codes.max()) + 1)
    for clusters, rows in _clusters_by_size(codes):
        cluster_values = values[rows]
        inside[clusters] = (cluster_values[:, :, None] != cluster_values[:, None, :]).sum(axis=(1, 2)) / 2
    return total, total - np.bincount(codes, partners) + inside


def _clusters_by_size(codes: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Yield the clusters of one size together, and their rows, shape (clusters, size); of several rows only."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    for size in np.unique(counts[counts > 1]):
        every = np.flatnonzero(counts == size)
        # All pairs of a cluster at once: clusters are small, but a block of them need not be.
        step = max(1, _CELLS // int(size) ** 2)
        for first in range(0, len(every), step):
            clusters = every[first : first + step]
            yield clusters, order[starts[clusters, None] + np.arange(size)]


def _interval(value: float, without: Floats, n: int, fewest: int, level: float, *, unit: bool) -> Estimate:
    """Put the jackknife's interval around a coefficient: of the logit from 0 to 1, of Fisher's z from -1 to 1."""
    count = len(without)
    if count <= 1:
        return Estimate(value=value, n=n, clusters=count, flags=("no-interval",))
    centred = 2 * value - 1 if unit else value
    centred_without = 2 * without - 1 if unit else without
    spread = float(np.square(centred_without - centred_without.mean()).sum()) * (count - 1) / count
    if spread <= _NOISE or 1 - abs(centred) <= _NOISE:
        share = (centred + 1) / 2
        low, high = (float(end) for end in wilson(share * fewest, fewest, level=level))
        ends = (low, high) if unit else (2 * low - 1, 2 * high - 1)
        return enclose(value, *ends, method="wilson-clusters", n=n, clusters=count, flags=(FEW_EVENTS,))
    # Half the logit of the area is Fisher's z of twice the area minus 1: one transformation serves both.
    finite = bool(np.all(1 - np.abs(centred_without) > _NOISE))
    moved = np.arctanh(centred_without) if finite else centred_without / (1 - centred**2)
    counts = np.ones(count, dtype=np.int64)
    degrees = effective_degrees(moved, counts)
    variance = float(np.square(moved - moved.mean()).sum()) * (count - 1) / count
    reach = t_quantile(level, degrees) * np.sqrt(variance)
    low, high = (float(end) for end in np.tanh(np.arctanh(centred) + np.array([-reach, reach])))
    ends = ((low + 1) / 2, (high + 1) / 2) if unit else (low, high)
    method = "jackknife-logit" if unit else "jackknife-fisher-z"
    return enclose(value, *ends, method=method, n=n, clusters=count, flags=few_events(degrees, count))
