"""Estimate Gwet's AC1 and PABAK of paired labels, and bound both by what missing labels could have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import cluster_margins, cluster_sums, kinds_of
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import chance_corrected
from jrh_stats.partial import Bounds, bounds_of_ends


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


Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

_LABELS: Final = 2
_SWEEPS: Final = 100
_CLOSE: Final = 1e-12


def gwet_ac1_bounds(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    n_labels: int,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Bounds | None:
    """Bound Gwet's AC1 of paired labels, some of which are missing, without assuming why they are.

    With D the share of pairs that differ and p_q the mean share of label q over both sides,

        1 - AC1 = D (Q - 1) / (Q - 2 + S),    S = sum_q p_q^2.

    To relabel a mass m of a pair from x to y changes D by at most m and S by m (p_y - p_x), to first order. Since
    Q - 2 + S >= D (p_y - p_x), AC1 falls wherever a pair stops agreeing. So the largest AC1 has every missing label
    agree, pairs without either label sharing the one label that makes S largest; the smallest has every such pair
    differ, and S as small as that allows. S is convex in the shares: each kind of missing label in turn is spread over
    the labels so that they become as even as possible, until nothing changes. Labels are divided for this, so that the
    lower bound can only be too low.

    Source: derivation ours; bounds without assumptions: Manski (1989), Journal of Human Resources 24:343-360; interval:
    Imbens and Manski (2004), Econometrica 72:1845-1857. Not consulted.

    Args:
        first: label codes from 0 to `n_labels` - 1, -1 where missing, shape (n,).
        second: label codes of the other side, likewise.
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        n_labels: labels Q of the scale.
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage of the interval.

    Returns:
        The bounds; None without pairs, or with fewer than two labels.

    Raises:
        ValueError: the shapes differ, or a code is not a label's.
    """
    pairs = _Pairs.of(first, second, clusters, case_weights, n_labels)
    if pairs is None:
        return None
    agreeing = [pairs.agreeing(label) for label in range(n_labels if pairs.lacking.any() else 1)]

    def estimate(filled: _Pairs, coverage: float) -> Estimate:
        return paired_gwet_ac1(
            filled.one,
            filled.other,
            filled.clusters,
            n_labels=n_labels,
            case_weights=filled.mass,
            level=coverage,
        )

    highest = max(agreeing, key=lambda filled: float(np.square(filled.shares).sum()))
    return _between(pairs.differing(), highest, estimate, level)


def pabak_bounds(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    n_labels: int,
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Bounds | None:
    """Bound PABAK of paired labels, some of which are missing: every pair that lacks a label differs, or agrees.

    Arguments, result, errors and source as `gwet_ac1_bounds`; these bounds are attained.
    """
    pairs = _Pairs.of(first, second, clusters, case_weights, n_labels)
    if pairs is None:
        return None

    def estimate(filled: _Pairs, coverage: float) -> Estimate:
        return paired_pabak(
            filled.one,
            filled.other,
            filled.clusters,
            n_labels=n_labels,
            case_weights=filled.mass,
            level=coverage,
        )

    return _between(pairs.differing(), pairs.agreeing(0), estimate, level)


def _between(
    lowest: _Pairs, highest: _Pairs, estimate: Callable[[_Pairs, float], Estimate], level: float
) -> Bounds | None:
    return bounds_of_ends(lambda coverage: (estimate(lowest, coverage), estimate(highest, coverage)), level)


@frozen(kw_only=True, eq=False)
class _Pairs:
    """Pairs of labels, -1 where missing; arrays of shape (n,)."""

    one: Codes
    other: Codes
    clusters: Codes
    mass: Floats
    labels: int

    @classmethod
    def of(
        cls, first: ArrayLike, second: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None, labels: int
    ) -> _Pairs | None:
        one, other, units = (np.asarray(each, dtype=np.int64) for each in (first, second, clusters))
        mass = np.ones(one.shape) if weights is None else np.asarray(weights, dtype=np.float64)
        if not one.shape == other.shape == units.shape == mass.shape or one.ndim != 1:
            raise ValueError("give a label, -1 where missing, a cluster and a weight per pair")
        if one.size and (min(one.min(), other.min()) < -1 or max(one.max(), other.max()) >= labels):
            raise ValueError(f"label codes must go from 0 to {labels - 1}, -1 where missing")
        if not mass.sum() or labels < _LABELS:
            return None
        return cls(one=one, other=other, clusters=units, mass=mass, labels=labels)

    @property
    def lacking(self) -> NDArray[np.bool_]:
        """Whether a pair has neither label."""
        return (self.one < 0) & (self.other < 0)

    @property
    def known(self) -> Codes:
        """The label of a pair that has one label or two equal ones; -1 for pairs that have none."""
        return np.maximum(self.one, self.other)

    @property
    def shares(self) -> Floats:
        """Mass of every label over both sides, shape (labels,)."""
        sides = np.concatenate([self.one, self.other])
        there = sides >= 0
        return np.bincount(sides[there], np.tile(self.mass, 2)[there], minlength=self.labels).astype(np.float64)

    def agreeing(self, label: int) -> _Pairs:
        """Fill in labels that agree; pairs that have none get this one."""
        known = np.where(self.known < 0, label, self.known)
        return self._with(np.where(self.one < 0, known, self.one), np.where(self.other < 0, known, self.other))

    def differing(self) -> _Pairs:
        """Fill in labels that differ, and make all labels as even as that allows."""
        half = ~self.lacking & ((self.one < 0) | (self.other < 0))
        blocks = np.bincount(self.known[half], self.mass[half], minlength=self.labels).astype(np.float64)
        both = float(self.mass[self.lacking].sum())
        spread, of_both = _spread(self.shares, blocks, both)
        pieces = [(self.one, self.other, self.clusters, np.where(half | self.lacking, 0.0, self.mass))]
        for label in range(self.labels):
            # A side has the label already, or the pair is none of these.
            part = np.where(half, self.mass * spread[np.maximum(self.known, 0), label], 0.0)
            pieces.append((self.known, np.full(len(part), label), self.clusters, part))
        for left, right, share in _differing_pairs(of_both):
            part = np.where(self.lacking, self.mass * share, 0.0)
            pieces.append((np.full(len(part), left), np.full(len(part), right), self.clusters, part))
        one, other, units, mass = (np.concatenate(each) for each in zip(*pieces, strict=True))
        kept = mass > 0
        return _Pairs(one=one[kept], other=other[kept], clusters=units[kept], mass=mass[kept], labels=self.labels)

    def _with(self, one: Codes, other: Codes) -> _Pairs:
        return _Pairs(one=one, other=other, clusters=self.clusters, mass=self.mass, labels=self.labels)


def _spread(fixed: Floats, blocks: Floats, both: float) -> tuple[Floats, Floats]:
    """Spread missing labels so that all labels become as even as possible, each block in turn.

    Args:
        fixed: mass of the labels that are there, shape (labels,).
        blocks: missing mass of the pairs that have a label, shape (labels,); it may be any other label.
        both: mass of the pairs that have none; each gets two labels that differ.

    Returns:
        The shares of every block by label, shape (labels, labels), and those of the pairs without any, which add up to
        1 over both sides and are 1/2 at most.
    """
    labels = len(fixed)
    masses = np.append(blocks, 2 * both)
    most = np.vstack([blocks[:, None] * (1 - np.eye(labels)), np.full(labels, both)])
    given = masses[:, None] * most / np.maximum(most.sum(axis=1), _CLOSE)[:, None]
    for _ in range(_SWEEPS):
        before = given.copy()
        for place, mass in enumerate(masses):
            if mass > 0:
                rest = fixed + given.sum(axis=0) - given[place]
                given[place] = _filled(rest, most[place], float(mass))
        if np.abs(given - before).max() <= _CLOSE * max(float(masses.sum()), 1.0):
            break
    shares = given / np.where(masses > 0, masses, 1.0)[:, None]
    return shares[:-1], shares[-1]


def _filled(levels: Floats, most: Floats, mass: float) -> Floats:
    """Pour a mass into vessels of some levels and least room so that they become as even as possible."""
    low, high = float(levels.min()), float(levels.max()) + mass
    for _ in range(200):  # halving: more than the digits of a float
        middle = (low + high) / 2
        if np.clip(middle - levels, 0.0, most).sum() < mass:
            low = middle
        else:
            high = middle
    poured = np.clip(high - levels, 0.0, most)
    return np.asarray(poured * mass / poured.sum())


def _differing_pairs(shares: Floats) -> list[tuple[int, int, float]]:
    """Pair up labels of these shares with others: no share is above 1/2, so that half a turn away is another label."""
    ends = np.concatenate([[0.0], np.cumsum(shares)])
    cuts = np.unique(np.concatenate([ends[ends <= 1 / 2], ends[ends >= 1 / 2] - 1 / 2, [0.0, 1 / 2]]))
    middles, sizes = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    last = len(shares) - 1
    left, right = (np.minimum(np.searchsorted(ends, middles + turn) - 1, last) for turn in (0.0, 1 / 2))
    return [(int(a), int(b), float(2 * size)) for a, b, size in zip(left, right, sizes, strict=True) if size > _CLOSE]
