"""Estimate chance-corrected agreement of paired labels without Cohen's margins: Gwet's AC1, PABAK."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import cluster_margins, cluster_sums, kinds_of
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import chance_corrected

_LABELS = 2
"""A coefficient beyond chance needs that many labels."""


def paired_gwet_ac1(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    n_labels: int,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Gwet's AC1 of paired labels: agreement beyond chance that stays defined where one label is rare.

    AC1 = (P_a - P_e) / (1 - P_e), with P_a the share of equal pairs, p_q the mean share of label q over both sides, and
    P_e = sum_q p_q (1 - p_q) / (Q - 1). It is `gwet_ac1` of units with two ratings each.

    Source: Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29-48.

    Args:
        first: label codes from 0 to `n_labels` - 1, shape (n,).
        second: label codes of the other side, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        n_labels: labels Q of the scale, those that do not occur included.
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate, with the interval of `clustered_kappa`. Flags: `empty` without pairs, `degenerate` where the scale
        has one label, `few-events`.

    Raises:
        ValueError: the shapes differ, a code is not a label's, or the level is not between 0 and 1.
    """

    def disagreement(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(1 - (shares * (1 - shares)).sum(axis=1) / max(n_labels - 1, 1))

    return _estimate(first, second, clusters, n_labels, case_weights, level, disagreement)


def paired_pabak(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    n_labels: int,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate PABAK of paired labels: agreement beyond that of labels drawn uniformly, (Q P_a - 1) / (Q - 1).

    It is `pabak` of units with two ratings each. Arguments, result and errors as `paired_gwet_ac1`.

    Source: Byrt, Bishop and Carlin (1993), Journal of Clinical Epidemiology 46:423-429.
    """
    return _estimate(
        first,
        second,
        clusters,
        n_labels,
        case_weights,
        level,
        lambda shares: np.full(len(shares), 1 - 1 / max(n_labels, 1)),
    )


def _estimate(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    n_labels: int,
    case_weights: ArrayLike | None,
    level: float,
    expected: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Estimate:
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    mass = np.ones(one.shape) if case_weights is None else np.asarray(case_weights, dtype=np.float64)
    if one.shape != other.shape or one.shape != mass.shape or one.ndim != 1:
        raise ValueError("the labels of both sides and the case weights must be arrays of equal length")
    both = np.concatenate([one, other])
    if both.size and (both.min() < 0 or both.max() >= n_labels):
        raise ValueError(f"label codes must go from 0 to {n_labels - 1}; leave out pairs without a label")
    codes = np.asarray(clusters, dtype=np.int64)
    # Weight, weight of the pairs that differ, and the labels of both sides together.
    margins = cluster_margins(np.tile(codes, 2), both, np.tile(mass, 2), n_labels=n_labels)
    sums = kinds_of(np.hstack([cluster_sums(codes, mass, mass * (one != other)), margins]))
    if n_labels < _LABELS and len(sums):
        return Estimate(value=None, n=float(sums.total[0]), clusters=len(sums), flags=("degenerate",))

    def weight(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        # Without the only cluster there is nothing left.
        return np.where(totals[:, 0] > 0, totals[:, 0], np.nan)

    return chance_corrected(
        sums,
        lambda totals: np.asarray(totals[:, 1] / weight(totals)),
        lambda totals: expected(totals[:, 2:] / (2 * weight(totals))[:, None]),
        n=float(sums.total[0]) if len(sums) else 0.0,
        level=level,
    )
