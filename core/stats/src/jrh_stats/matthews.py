"""Estimate the Matthews correlation of paired labels, for any number of labels (Gorodkin's R_K)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import Kinds, kinds_of, margin_kinds, paired_codes, whole_codes
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import NOISE, correlation_estimate
from jrh_stats.kinds import label_kinds

_MOST_LABELS: Final = 12
"""With more labels a table of pairs is larger than its kinds are worth."""
_UNSEEN_LABELS: Final = 5
"""Confusions of the most frequent labels stand for those that were not seen."""


def matthews_correlation(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Matthews correlation coefficient (MCC), with k labels Gorodkin's R_K.

    With s pairs, c of them equal, and p_k and t_k the pairs that have label k on the first and on the second side:

        (c s - sum_k p_k t_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2))

    With two labels it is Pearson's correlation of the two indicators. Other than Cohen's kappa it can reach 1 only with
    equal margins, and is never below kappa in size.

    Source: Matthews (1975), Biochimica et Biophysica Acta 405:442-451; k labels: Gorodkin (2004), Computational Biology
    and Chemistry 28:367-374 (not consulted; for two labels the formula is scikit-learn's).

    Args:
        first: label codes, whole numbers >= 0, shape (n,).
        second: label codes of the other side, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate, with the interval of unweighted `clustered_kappa`; at -1 and 1 that of `pearson` there. Flags:
        `empty`; `degenerate` where a side always has the same label; `no-interval` from one cluster; `few-events`.

    Raises:
        ValueError: the shapes differ, a code is negative, or the level is not between 0 and 1.
    """
    tables, size = _tables(first, second, clusters, case_weights)
    return correlation_estimate(
        tables,
        lambda totals: matthews_of_tables(totals.reshape(-1, size, size)),
        n=float(tables.total.sum()) if len(tables) else 0.0,
        level=level,
        unseen=_confusions(tables, size),
        chance=lambda totals: _chance(totals.reshape(-1, size, size)),
    )


def _tables(first: ArrayLike, second: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None) -> tuple[Kinds, int]:
    """Return the kinds of per-cluster tables of pairs of labels, flattened, and the number of labels."""
    one, other = whole_codes(first), whole_codes(second)
    mass = np.broadcast_to(1.0, one.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if one.shape != other.shape or one.shape != mass.shape or one.ndim != 1:
        raise ValueError("the labels of both sides and the case weights must be arrays of equal length")
    if not one.size:
        return kinds_of(np.zeros((0, 1))), 1
    if min(one.min(), other.min()) < 0:
        raise ValueError("label codes must be 0 or more; leave out pairs without a label")
    rows, columns, labels = paired_codes(one, other)
    size = len(labels)
    pairs = rows * size + columns
    if size <= _MOST_LABELS:
        return label_kinds(clusters, pairs, mass, n_labels=size * size), size
    return margin_kinds(clusters, pairs, mass, n_labels=size * size), size


def matthews_of_tables(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute MCC of tables of pairs of labels, shape (B, L, L)."""
    return matthews_of_margins(tables.sum(axis=2), tables.sum(axis=1), np.trace(tables, axis1=1, axis2=2))


def matthews_of_margins(
    rows: NDArray[np.float64], columns: NDArray[np.float64], equal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute MCC of the margins of tables, shape (B, L), and their equal pairs, shape (B,)."""
    total = rows.sum(axis=1)
    shared = equal * total - (rows * columns).sum(axis=1)
    spreads = [np.square(total) - np.square(margin).sum(axis=1) for margin in (rows, columns)]
    defined = (spreads[0] > NOISE) & (spreads[1] > NOISE)
    return np.where(defined, shared / np.sqrt(np.where(defined, spreads[0] * spreads[1], 1.0)), np.nan)


def _chance(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    total = rows.sum(axis=1)
    agreeing = (rows * columns).sum(axis=1) / np.square(np.where(total > 0, total, np.nan))
    return np.asarray(1 - agreeing, dtype=np.float64)


def _confusions(tables: Kinds, size: int) -> NDArray[np.float64]:
    """Return every pair of two of the most frequent labels, equal or not, shape (pairs, size * size)."""
    if not len(tables):
        return np.zeros((0, 1))
    whole = tables.total.reshape(size, size)
    common = np.argsort(-(whole.sum(axis=0) + whole.sum(axis=1)), kind="stable")[:_UNSEEN_LABELS]
    pairs = (common[:, None] * size + common[None, :]).reshape(-1)
    return np.asarray(np.eye(size * size)[pairs])
