"""Estimate how well real-valued scores tell levels apart: the area under the ROC curve and Kendall's tau-b."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.degrees import FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, wilson, z_quantile

_NOISE: Final = 1e-12
_HALVINGS: Final = 50
_FEW: Final = 10
"""With fewer clusters of a class the variance is hardly known."""
_CELLS: Final = 1_000_000
"""Pairs of one cluster that are held at once."""


def auc(scores: ArrayLike, positive: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the area under the ROC curve: P(positive scores higher) + P(equal) / 2 over all pairs of both classes.

    The ends are the areas t with (area - t)^2 = q^2 f V(t), where V is Hanley and McNeil's variance of an area t,

        V(t) = t (1 - t) (1 + N ((1 - t) / (2 - t) + t / (1 + t))) / (n1 n0),    N = (n1 + n0) / 2 - 1

    With f = 1 and q normal this is Newcombe's method 5, which also has ends where no pair is in the wrong order. Here f
    is the jackknife's variance over clusters divided by V(area), and at least 1: clusters, and scores that are spread
    unequally, add variance, but few misordered pairs hide it. q is normal where every score is its own cluster; where
    f has to tell what clusters add, it is the quantile of Student's t with as many degrees as the rarer class has
    clusters, less one. An interval of the logit by the jackknife alone, with the degrees that it
    shows, was [0.36, 1] for an area of 0.97.

    Source: the estimate is Mann and Whitney's U over n1 n0, V is of Hanley and McNeil (1982), Radiology 143:29-36;
    method 5: Newcombe (2006), Statistics in Medicine 25:559-573; the jackknife over clusters is close to Obuchowski
    (1997), Biometrics 53:567-578. The last two were not consulted; f and q are our own.

    Args:
        scores: finite numbers, shape (n,).
        positive: whether the right answer is the positive one, shape (n,).
        clusters: the cluster of each score, shape (n,).
        level: coverage.

    Returns:
        The estimate, method `newcombe-clusters`. Flags: `empty`, `degenerate` where a class is missing, `no-interval`
        where one has a single cluster, `few-events` where one has fewer than 10.

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
    value = float(surplus / sizes.prod() + 1) / 2
    left = sizes - class_sizes
    fewest = int(min(np.count_nonzero(class_sizes[:, 0]), np.count_nonzero(class_sizes[:, 1])))
    # Without the only cluster of a class there is no area; such a cluster is taken to change nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = (without / left.prod(axis=1) + 1) / 2
    areas = np.where(left.prod(axis=1) > 0, areas, value)
    count = len(areas)
    if fewest <= 1:
        return Estimate(value=value, n=len(numbers), clusters=count, flags=("no-interval",))
    variance = float(np.square(areas - areas.mean()).sum()) * (count - 1) / count
    # With one pair in two misordered at the least: V is 0 where none is.
    pair = 1 / (2 * sizes.prod())
    factor = max(variance / _area_variance(float(np.clip(value, pair, 1 - pair)), sizes), 1.0)
    quantile = z_quantile(level) if count == len(numbers) else t_quantile(level, fewest - 1)
    reach = quantile**2 * factor
    low, high = (_end(value, side, lambda t: (value - t) ** 2 <= reach * _area_variance(t, sizes)) for side in (0, 1))
    flags = (FEW_EVENTS,) if fewest < _FEW else ()
    return enclose(value, low, high, method="newcombe-clusters", n=len(numbers), clusters=count, flags=flags)


def _area_variance(area: float, sizes: Codes) -> float:
    """Return Hanley and McNeil's variance of an area, with Newcombe's mean of both classes for either."""
    share = (1 - area) / (2 - area) + area / (1 + area)
    return float(area * (1 - area) * (1 + (sizes.sum() / 2 - 1) * share) / sizes.prod())


def _end(value: float, far: float, holds: Callable[[float], bool]) -> float:
    """Return how far a condition holds from a value, where it does, towards 0 or 1, where it does not."""
    near = value
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return near


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
    return _interval(float(value), np.where(defined, surplus_without / scale, value), len(numbers), level)


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


def _interval(value: float, without: Floats, n: int, level: float) -> Estimate:
    """Put the jackknife's interval, symmetric in Fisher's z, around a coefficient."""
    count = len(without)
    if count <= 1:
        return Estimate(value=value, n=n, clusters=count, flags=("no-interval",))
    spread = float(np.square(without - without.mean()).sum()) * (count - 1) / count
    if spread <= _NOISE or 1 - abs(value) <= _NOISE:
        low, high = (2 * float(end) - 1 for end in wilson((value + 1) / 2 * count, count, level=level))
        return enclose(value, low, high, method="wilson-clusters", n=n, clusters=count, flags=(FEW_EVENTS,))
    finite = bool(np.all(1 - np.abs(without) > _NOISE))
    moved = np.arctanh(without) if finite else without / (1 - value**2)
    degrees = effective_degrees(moved, np.ones(count, dtype=np.int64))
    variance = float(np.square(moved - moved.mean()).sum()) * (count - 1) / count
    reach = t_quantile(level, degrees) * np.sqrt(variance)
    low, high = (float(end) for end in np.tanh(np.arctanh(value) + np.array([-reach, reach])))
    return enclose(value, low, high, method="jackknife-fisher-z", n=n, clusters=count, flags=few_events(degrees, count))
