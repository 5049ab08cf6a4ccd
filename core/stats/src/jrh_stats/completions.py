"""Bound correlations of verdicts and known labels by what the missing verdicts could have been."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import Final, Literal, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import Statistic
from jrh_stats.kappa import matthews_correlation, matthews_of_margins
from jrh_stats.ordinal import (
    concordance,
    kendall_tau_b,
    pearson,
    rho_of_tables,
    scale_compression,
    spearman,
    statistic_of_pairs,
    tau_of_tables,
)
from jrh_stats.partial import Bounds, bounds_of_ends, ways_to_deal

Association: TypeAlias = Literal["pearson", "spearman", "kendall-tau-b", "concordance", "scale-compression", "mcc"]
"""A coefficient that `association_bounds` knows."""

_ESTIMATORS: Final[dict[str, Callable[..., Estimate]]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall-tau-b": kendall_tau_b,
    "concordance": concordance,
    "scale-compression": scale_compression,
    "mcc": matthews_correlation,
}
_SIGNS: Final = ((0, -1), (1, 1))
_MOST_LABELS: Final = 12
"""Too many ways to share out missing verdicts over more labels."""
_MOST_TABLES: Final = 3003
"""All ways to share out ten verdicts over six labels."""


def association_bounds(
    association: Association,
    verdicts: ArrayLike,
    truths: ArrayLike,
    clusters: ArrayLike,
    labels: ArrayLike,
    *,
    level: float = 0.95,
) -> Bounds | None:
    """Bound a correlation of verdicts and known labels, some verdicts missing, without assuming why they are.

    A completion says how many of the missing verdicts have which label (the counts), and which item gets which. For
    given counts the margins of the table are fixed, and with them both spreads, so that the coefficient grows with its
    numerator alone. To swap two missing verdicts so that the higher one goes with the higher truth raises sum x y, the
    sum of the products of the mid-ranks, and the surplus of concordant pairs: the extremes have the missing verdicts in
    the order of the truths, or in the opposite order. For MCC the numerator grows with the number of equal pairs, which
    is at most sum_k min(n_k, m_k) and at least max(0, max_k (n_k + m_k) - M), for M missing verdicts of which n_k get
    label k and m_k have truth k. Scale compression depends on the counts only. What remains is to try all counts: C(M +
    L - 1, L - 1) for L labels. Up to 3,003 are tried, and the bounds are exact; beyond that a grid of counts, and from
    its best point single verdicts are moved as long as that helps.

    Source: swapping argument ours (rearrangement inequality: Hardy, Littlewood and Polya 1952, Inequalities, section
    10.2); bounds without assumptions: Manski (1989), Journal of Human Resources 24:343-360; interval: Imbens and Manski
    (2004), Econometrica 72:1845-1857. None was consulted.

    Args:
        association: the coefficient.
        verdicts: numbers, or label codes for `mcc`; NaN, or a negative code, where missing, shape (n,).
        truths: numbers or codes, none missing, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        labels: what a missing verdict may be: every level of the scale, or every code.
        level: coverage of the interval.

    Returns:
        The bounds; None with more than twelve labels, and where the coefficient is undefined however the verdicts are
        filled in.

    Raises:
        ValueError: the shapes differ, or there are no labels to fill in.
    """
    given, right = np.asarray(verdicts, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    units, may = np.asarray(clusters, dtype=np.int64), np.unique(np.asarray(labels, dtype=np.float64))
    if not given.shape == right.shape == units.shape or given.ndim != 1 or not len(may):
        raise ValueError("give a verdict, a truth and a cluster per pair, and the labels that may be missing")
    nominal = association == "mcc"
    lost = np.isnan(given) | ((given < 0) if nominal else False)
    completions = _Completions.of(given, right, lost, may, nominal=nominal)
    if len(completions.values) > _MOST_LABELS:
        return None
    ends = [completions.best(_statistic(association, completions.values), sign) for sign in (-1.0, 1.0)]
    if any(end is None for end in ends):
        return None
    kind = np.int64 if nominal else np.float64
    low, high = (completions.filled(ends[place], sign, given, right, lost).astype(kind) for place, sign in _SIGNS)
    estimator, known = _ESTIMATORS[association], right.astype(kind)

    def estimates(coverage: float) -> tuple[Estimate, Estimate]:
        return estimator(low, known, units, level=coverage), estimator(high, known, units, level=coverage)

    return bounds_of_ends(estimates, level)


@lru_cache(maxsize=32)
def _dealt(total: int, parts: int) -> Codes:
    """Return all ways to deal so many verdicts to so many labels, one per row; cells of a run share them."""
    counts: Codes = np.array(list(ways_to_deal(total, parts)), dtype=np.int64)
    counts.flags.writeable = False
    return counts


def _statistic(association: str, values: Floats) -> Statistic:
    """Return the coefficient as a function of tables verdict x truth, shape (B, L, L); that of MCC is not used."""
    if association in ("spearman", "kendall-tau-b"):
        return rho_of_tables if association == "spearman" else tau_of_tables
    return statistic_of_pairs("pearson" if association == "mcc" else association, values)


@frozen(kw_only=True, eq=False)
class _Completions:
    """The table of complete pairs, and the missing verdicts by truth."""

    values: Floats
    """What verdicts and truths can be, shape (L,)."""
    table: Floats
    """Complete pairs, verdict x truth, shape (L, L)."""
    lost: Codes
    """Missing verdicts by truth, shape (L,)."""
    may: Codes
    """Places of the labels that a missing verdict may be."""
    nominal: bool

    @classmethod
    def of(cls, given: Floats, right: Floats, lost: Mask, may: Floats, *, nominal: bool) -> _Completions:
        values = np.unique(np.concatenate([given[~lost], right, may]))
        size, truth = len(values), np.searchsorted(values, right)
        table = np.zeros((size, size))
        np.add.at(table, (np.searchsorted(values, given[~lost]), truth[~lost]), 1.0)
        return cls(
            values=values,
            table=table,
            lost=np.bincount(truth[lost], minlength=size),
            may=np.searchsorted(values, may),
            nominal=nominal,
        )

    def best(self, statistic: Statistic, sign: float) -> Codes | None:
        """Return how often each label is filled in where the coefficient is smallest (sign -1) or largest."""
        total, width = int(self.lost.sum()), len(self.may)
        parts = 0
        while parts < total and comb(parts + width, width - 1) <= _MOST_TABLES:
            parts += 1
        counts = _dealt(parts, width)
        if parts < total:
            ends = np.rint(np.cumsum(counts, axis=1) * (total / max(parts, 1))).astype(np.int64)
            counts = np.diff(np.hstack([np.zeros((len(ends), 1), dtype=np.int64), ends]), axis=1)
            counts[:, -1] += total - counts.sum(axis=1)
        value, chosen = self._largest(statistic, counts, sign)
        if np.isnan(value):
            return None
        step = -(-total // max(parts, 1)) if parts < total else 0
        while step:
            near = chosen + step * _moves(width)
            near = near[(near >= 0).all(axis=1)]
            better, moved = self._largest(statistic, near, sign) if len(near) else (np.nan, chosen)
            if better > value + 1e-12:
                value, chosen = better, moved
            else:
                step //= 2
        return chosen

    def _largest(self, statistic: Statistic, counts: Codes, sign: float) -> tuple[float, Codes]:
        """Return the largest signed coefficient among counts of filled labels, and those counts."""
        with np.errstate(invalid="ignore", divide="ignore"):
            values = sign * self.values_of(statistic, counts, int(sign))
        if np.isnan(values).all():
            return float("nan"), counts[0]
        at = int(np.nanargmax(values))
        return float(values[at]), counts[at]

    def values_of(self, statistic: Statistic, counts: Codes, sign: int) -> Floats:
        """Return the smallest or largest coefficient for counts of filled labels, shape (B,)."""
        if not self.nominal:
            return statistic(self.table + self.filling(counts, sign))
        wide = self._wide(counts)
        if sign > 0:
            equal = np.minimum(wide, self.lost).sum(axis=1)
        else:
            equal = np.maximum((wide + self.lost).max(axis=1) - self.lost.sum(), 0.0)
        columns = np.broadcast_to(self.table.sum(axis=0) + self.lost, wide.shape)
        return matthews_of_margins(self.table.sum(axis=1) + wide, columns, np.trace(self.table) + equal)

    def _wide(self, counts: Codes) -> Floats:
        wide = np.zeros((len(counts), len(self.values)))
        wide[:, self.may] = counts
        return wide

    def filling(self, counts: Codes, sign: int) -> Floats:
        """Return the tables of the missing pairs with the smallest or largest numerator, shape (B, L, L)."""
        wide = self._wide(counts)
        if not self.nominal:
            return _arranged(wide[:, ::sign], self.lost)[:, ::sign]
        same = np.minimum(wide, self.lost)
        if sign > 0:
            rest = _arranged(wide - same, self.lost - same)
            return rest + same[:, :, None] * np.eye(len(self.values))
        return np.stack([_unlike(each, self.lost) for each in wide])

    def filled(self, counts: Codes | None, sign: int, given: Floats, right: Floats, lost: Mask) -> Floats:
        """Return the verdicts with the missing ones filled in."""
        whole = given.copy()
        if counts is None:
            return whole
        table = np.rint(self.filling(counts[None], sign)[0]).astype(np.int64)
        for place in np.flatnonzero(self.lost):
            whole[lost & (right == self.values[place])] = np.repeat(self.values, table[:, place])
        return whole


def _arranged(labels: Floats, truths: Floats | Codes) -> Floats:
    """Pair labels and truths in the same order: the overlap of their cumulative counts, shape (B, L, L)."""
    ends, stops = np.cumsum(labels, axis=1), np.broadcast_to(np.cumsum(truths, axis=-1), labels.shape)
    of = np.broadcast_to(truths, labels.shape)
    high = np.minimum(ends[:, :, None], stops[:, None, :])
    low = np.maximum((ends - labels)[:, :, None], (stops - of)[:, None, :])
    return np.asarray(np.maximum(high - low, 0.0))


def _unlike(labels: Floats, truths: Codes) -> Floats:
    """Pair labels and truths with as few equal pairs as possible, shape (L, L): scarce partners first."""
    left, right = labels.copy(), truths.astype(np.float64)
    table = np.zeros((len(left), len(left)))
    while left.sum() > 0:
        both = left + right
        scarce = int(both.argmax())
        row = left[scarce] > 0
        own, others = (left, right) if row else (right, left)
        partners = others.copy()
        partners[scarce] = 0
        if partners.any():
            # As many as leave this label the scarcest: after that another one may be.
            partner = int(np.where(partners > 0, both, -1.0).argmax())
            rival = float(np.delete(both, scarce).max())
            number = min(own[scarce], others[partner], max(1.0, both[scarce] - rival))
        else:
            partner, number = scarce, min(own[scarce], others[scarce])
        own[scarce] -= number
        others[partner] -= number
        table[(scarce, partner) if row else (partner, scarce)] += number
    return table


@lru_cache(maxsize=32)
def _moves(width: int) -> Codes:
    """Return all ways to take one verdict from a label and give it to another, one per row."""
    one = np.eye(width, dtype=np.int64)
    both = ((one[b] - one[a], one[a] - one[b]) for a, b in combinations(range(width), 2))
    moves: Codes = np.array(list(chain.from_iterable(both)), dtype=np.int64).reshape(-1, width)
    moves.flags.writeable = False
    return moves
