"""Compare a judge's scores with the true ones: errors, association, use of the scale."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import Kinds, cluster_sums, kinds_of
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import NOISE, Statistic, chance_corrected, correlation_estimate, ratio_of_spreads
from jrh_stats.kinds import pair_kinds
from jrh_stats.mean import clustered_mean, signed_mean

_W, _X, _Y, _XX, _YY, _XY = range(6)
_EXACT: Final = 1e-9


def confusion_matrix(truths: ArrayLike, verdicts: ArrayLike, *, n_labels: int) -> NDArray[np.int64]:
    """Count pairs: row = truth, column = verdict.

    Args:
        truths: codes from 0 to `n_labels` - 1, shape (n,).
        verdicts: codes, shape (n,).
        n_labels: number of labels L.

    Returns:
        Shape (L, L).

    Raises:
        ValueError: the shapes differ or a code is not a label's.
    """
    right, given = np.asarray(truths, dtype=np.int64), np.asarray(verdicts, dtype=np.int64)
    if right.shape != given.shape or right.ndim != 1:
        raise ValueError(f"truths and verdicts must be two arrays of equal length, got {right.shape} and {given.shape}")
    both = np.concatenate([right, given])
    if both.size and (both.min() < 0 or both.max() >= n_labels):
        raise ValueError(f"label codes must go from 0 to {n_labels - 1}; leave out pairs without a label")
    flat = np.bincount(right * n_labels + given, minlength=n_labels * n_labels)
    return flat.reshape(n_labels, n_labels).astype(np.int64)


def mean_absolute_error(
    verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, span: float, level: float = 0.95
) -> Estimate:
    """Estimate MAE, the mean of |verdict - truth|, in the unit of the scale.

    Args:
        verdicts: numbers, shape (n,).
        truths: numbers, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        span: the largest possible error, the length of the scale.
        level: coverage.

    Returns:
        The estimate, with the interval of `clustered_mean`; flag `empty` without pairs.

    Raises:
        ValueError: the shapes differ or an error exceeds the span.
    """
    return _mean_of(np.abs(_errors(verdicts, truths)), clusters, (0.0, span), level)


def root_mean_squared_error(
    verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, span: float, level: float = 0.95
) -> Estimate:
    """Estimate RMSE, the root of the mean of (verdict - truth)^2; the ends are roots of the mean square's.

    Arguments, result and errors as `mean_absolute_error`.
    """
    square = _mean_of(np.square(_errors(verdicts, truths)), clusters, (0.0, span**2), level, heavy_tailed=True)
    if square.value is None or square.low is None or square.high is None:
        return square
    value, low, high = (float(np.sqrt(max(number, 0.0))) for number in (square.value, square.low, square.high))
    return evolve(square, value=value, low=low, high=high)


def mean_error(
    verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, span: float, level: float = 0.95
) -> Estimate:
    """Estimate the bias, the mean of verdict - truth: positive for a lenient judge; never above MAE in size.

    Arguments and errors as `mean_absolute_error`; the interval is that of `signed_mean`.
    """
    errors = _errors(verdicts, truths)
    sums = cluster_sums(clusters, errors, np.abs(errors), np.ones(len(errors)))
    return signed_mean(sums[:, 0], sums[:, 1], sums[:, 2], span=span, level=level)


def accuracy_within(
    verdicts: ArrayLike, truths: ArrayLike, clusters: ArrayLike, *, steps: float = 0.0, level: float = 0.95
) -> Estimate:
    """Estimate the share of verdicts at most `steps` from the truth: 0 for exact, 1 for adjacent accuracy.

    Arguments, result and errors as `mean_absolute_error`; the interval is the closed-form one of `clustered_mean`.
    """
    hits = np.abs(_errors(verdicts, truths)) <= steps + _EXACT
    return _mean_of(hits.astype(np.float64), clusters, (0.0, 1.0), level)


def concordance(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Lin's concordance correlation coefficient (CCC).

    2 s_xy / (s_x^2 + s_y^2 + (mean x - mean y)^2), moments with divisor n: 1 only where every verdict equals its
    truth. It equals quadratically weighted kappa.

    Source: Lin (1989), Biometrics 45:255-268.

    Args:
        verdicts: numbers, shape (n,).
        truths: numbers, shape (n,).
        clusters: the cluster of each pair, shape (n,).
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate, with the interval of `clustered_kappa` for weights. Flags: `empty`; `degenerate` where both sides
        are one and the same constant; `few-events`.

    Raises:
        ValueError: the shapes differ.
    """
    sums = _moments(verdicts, truths, clusters, case_weights)
    return chance_corrected(
        sums, _observed, _expected, n=_mass(sums), level=level, unseen=_corners(verdicts, truths), ends="fisher-z"
    )


def pearson(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Pearson's correlation with the interval of `correlation_estimate`: Fisher's z, jackknife over clusters.

    Arguments as `concordance`. Flag `degenerate` where a side is constant.
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

    Arguments as `concordance`.

    Returns:
        The ratio, method `jackknife-log`, or `wilson-clusters` where leaving out a cluster changes nothing. Flags:
        `empty`, `degenerate` where the truths are constant, `no-interval` from one cluster.
    """
    sums = _moments(verdicts, truths, clusters, case_weights)
    return ratio_of_spreads(sums, _compression, n=_mass(sums), level=level, unseen=_corners(verdicts, truths))


def statistic_of_pairs(name: str, levels: NDArray[np.float64]) -> Statistic:
    """Return `pearson`, `concordance` or `scale-compression` as a function of tables, verdict x truth, (B, L, L)."""
    x, y = np.repeat(levels, len(levels)), np.tile(levels, len(levels))
    moments = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)
    of = {"pearson": _correlation, "concordance": _coefficient, "scale-compression": _compression}[name]
    return lambda tables: of(tables.reshape(len(tables), -1) @ moments)


def _observed(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    t = totals / _positive(totals[:, [_W]])
    return np.asarray(t[:, _XX] + t[:, _YY] - 2 * t[:, _XY])


def _expected(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    t = totals / _positive(totals[:, [_W]])
    return np.asarray(t[:, _XX] + t[:, _YY] - 2 * t[:, _X] * t[:, _Y])


def _coefficient(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = _expected(totals)
    return np.where(chance > NOISE, 1 - _observed(totals) / np.where(chance > NOISE, chance, 1.0), np.nan)


def _correlation(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    xx, yy, xy = _spreads(totals)
    defined = (xx > NOISE) & (yy > NOISE)
    return np.where(defined, xy / np.sqrt(np.where(defined, xx * yy, 1.0)), np.nan)


def _compression(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    xx, yy, _ = _spreads(totals)
    return np.where(yy > NOISE, np.sqrt(np.maximum(xx, 0) / np.where(yy > NOISE, yy, 1.0)), np.nan)


def _spreads(totals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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


def _corners(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
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


def _errors(verdicts: ArrayLike, truths: ArrayLike) -> NDArray[np.float64]:
    given, right = np.asarray(verdicts, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    if given.shape != right.shape or given.ndim != 1:
        raise ValueError(f"verdicts and truths must be two arrays of equal length, got {given.shape} and {right.shape}")
    return np.asarray(given - right)


def _mean_of(
    scores: NDArray[np.float64],
    clusters: ArrayLike,
    bounds: tuple[float, float],
    level: float,
    *,
    heavy_tailed: bool = False,
) -> Estimate:
    sums = cluster_sums(clusters, scores, np.ones(len(scores)))
    return clustered_mean(sums[:, 0], sums[:, 1], bounds=bounds, heavy_tailed=heavy_tailed, level=level)


def _positive(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(numbers > 0, numbers, np.nan)
