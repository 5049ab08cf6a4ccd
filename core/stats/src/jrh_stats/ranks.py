"""Estimate rank correlations of levels: Spearman's rho and Kendall's tau-b."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import Kinds, kinds_of, margin_kinds
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import JACKKNIFE_Z, NOISE, Statistic, correlation_estimate
from jrh_stats.kinds import pair_kinds

_WIDE_BELOW: Final = 40
"""Tau-b's interval from fewer clusters is too wide: it covers 97 to 98% with 12 to 30 items."""
MOST_LEVELS: Final = 101
"""Both rank correlations work on the table of levels, one column per pair of levels that occur."""


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
    return _estimate(rho_of_tables, verdicts, truths, clusters, case_weights, level)


def kendall_tau_b(
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    *,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Kendall's tau-b: (C - D) / sqrt((n0 - n1) (n0 - n2)).

    C and D are the concordant and discordant pairs of pairs, n0 all, n1 and n2 those tied on either side.

    Source: Kendall (1945), Biometrika 33:239-251.

    Arguments, result and errors as `spearman`; flag `conservative` with an interval from fewer than 40 clusters.
    """
    found = _estimate(tau_of_tables, verdicts, truths, clusters, case_weights, level)
    wide = found.method == JACKKNIFE_Z and found.clusters < _WIDE_BELOW
    return evolve(found, flags=(*found.flags, "conservative")) if wide else found


def _estimate(
    correlation: Statistic,
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    weights: ArrayLike | None,
    level: float,
) -> Estimate:
    tables, size = _tables(verdicts, truths, clusters, weights)
    corners = np.zeros((4, size, size))
    corners[range(4), (0, -1, 0, -1), (-1, 0, 0, -1)] = 1.0
    return correlation_estimate(
        tables,
        lambda totals: correlation(totals.reshape(-1, size, size)),
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


def rho_of_tables(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute Spearman's rho of tables verdict x truth, shape (B, L, L)."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    one, other = _centred_ranks(rows), _centred_ranks(columns)
    shared = np.einsum("bij,bi,bj->b", tables, one, other)
    return _ratio(shared, (rows * np.square(one)).sum(axis=1), (columns * np.square(other)).sum(axis=1))


def _centred_ranks(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.cumsum(margins, axis=1) - margins / 2 - margins.sum(axis=1, keepdims=True) / 2)


def tau_of_tables(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute Kendall's tau-b of tables verdict x truth, shape (B, L, L)."""
    size = tables.shape[1]
    sign = np.sign(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
    surplus = (tables * (sign @ tables @ sign.T)).sum(axis=(1, 2))  # C - D, every pair counted twice
    total = np.square(tables.sum(axis=(1, 2)))
    untied = [total - np.square(tables.sum(axis=axis)).sum(axis=1) for axis in (1, 2)]
    return _ratio(surplus, *untied)


def _ratio(top: NDArray[np.float64], one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    defined = (one > NOISE) & (other > NOISE)
    return np.where(defined, top / np.sqrt(np.where(defined, one * other, 1.0)), np.nan)
