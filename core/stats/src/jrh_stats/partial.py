"""Bound coefficients by what missing verdicts could have been: kappa and the excess disagreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import comb
from statistics import NormalDist
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import cluster_sums
from jrh_stats.estimate import Estimate
from jrh_stats.excess import excess_of_pairs, excess_sums
from jrh_stats.kappa import Weighting, clustered_kappa, label_distance
from jrh_stats.missing import imbens_manski_quantile
from jrh_stats.score_intervals import z_quantile

_LARGEST: Final = 2**62
"""Floats of rows stay below it."""

_PARTS: Final = 8
"""Pairs of which both labels are missing are filled in so many parts: their best share is not all or nothing."""
_SWEEPS: Final = 20
_NOISE: Final = 1e-12
_OTHERS: Final = 2
"""Of the labels that an item never got, two stand for all: what is lost on either side may be a label of its own."""
_MOST_FILLINGS: Final = 20_000


@frozen(kw_only=True)
class Bounds:
    """What a coefficient could be, whatever the missing verdicts would have been."""

    low: float
    """The coefficient with the missing verdicts at their worst."""
    high: float
    """With all at their best."""
    interval: tuple[float, float] | None
    """Imbens and Manski's interval: it allows for the sampling error of both ends. None where an end has none."""


def kappa_bounds(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    labels: ArrayLike,
    *,
    weighting: Weighting = "none",
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Bounds | None:
    """Bound Cohen's kappa of paired labels, some of which are missing, without assuming why they are.

    Every missing label may be any of `labels`. Kappa is not monotone in them: a label that agrees also moves the
    margins. The missing labels of pairs whose other label is the same are filled as one block, because kappa is a ratio
    of a linear and a bilinear function of the shares, which is largest and smallest where each block has one label;
    pairs that lack both labels are filled in eight parts. Blocks are changed in turn until no change helps, from
    several starts. Repeats of an answer are filled separately, so that the bounds can only be wider than the extremes.

    Source: bounds without assumptions: Manski (1989), Journal of Human Resources 24:343-360; missing outcomes on both
    sides: Horowitz and Manski (2000), Journal of the American Statistical Association 95:77-84; interval:
    Imbens and Manski (2004), Econometrica 72:1845-1857. Not consulted; the search is ours.

    Args:
        first: label codes as in `clustered_kappa`, -1 where missing, shape (n,).
        second: label codes of the other side, likewise.
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        labels: the codes that a missing label may be.
        weighting: `none`, `linear` or `quadratic`.
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage of the interval.

    Returns:
        The bounds; None where kappa is undefined however the labels are filled in.

    Raises:
        ValueError: the shapes differ, or there are no labels to fill in.
    """
    one, other, of = (np.asarray(each, dtype=np.int64) for each in (first, second, clusters))
    mass = np.ones(one.shape) if case_weights is None else np.asarray(case_weights, dtype=np.float64)
    may = np.unique(np.asarray(labels, dtype=np.int64))
    if not one.shape == other.shape == of.shape == mass.shape or one.ndim != 1 or not len(may):
        raise ValueError("give a label, -1 where missing, and a cluster per pair, and the labels that may be missing")
    search = _Fillings.of(one, other, mass, may, weighting)
    ends = [search.best(sign) for sign in (-1.0, 1.0)]
    if any(end is None for end in ends):
        return None
    filled = [search.filled(end, one, other, of, mass) for end in ends if end is not None]

    def estimates(coverage: float) -> tuple[Estimate, Estimate]:
        low, high = (
            clustered_kappa(rows, columns, units, weighting=weighting, case_weights=weights, level=coverage)
            for rows, columns, units, weights in filled
        )
        return low, high

    return bounds_of_ends(estimates, level)


def excess_bounds(
    counts: ArrayLike, missing: ArrayLike, clusters: ArrayLike | None = None, *, n_labels: int, level: float = 0.95
) -> Bounds | None:
    """Bound the excess disagreement of `excess_disagreement` by what missing answers could have been.

    An item's excess is smallest and largest at one of the fillings of its missing answers, which are listed; the mean
    over items has its extremes at theirs. Several conditions of an item are filled separately, and where an item lacks
    so many answers that listing takes too long, its least excess is taken to be -1/2: the bounds can only be too wide.

    Source: as `kappa_bounds`.

    Args:
        counts: answers per item, group and label, shape (items, groups, labels), as for `excess_disagreement`.
        missing: answers that were asked for and are missing, shape (items, groups).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        n_labels: labels of the scale, those that never occur included.
        level: coverage of the interval.

    Returns:
        The bounds; None where no item was asked twice under the reference and once under a condition.

    Raises:
        ValueError: the shapes differ.
    """
    table, lost = np.asarray(counts, dtype=np.float64), np.asarray(missing, dtype=np.int64)
    if table.ndim != 3 or lost.shape != table.shape[:2]:  # noqa: PLR2004 - items, groups, labels
        raise ValueError("give the missing answers per item and group")
    asked = table.sum(axis=2) + lost
    takes = (asked[:, :1] >= 2) & (asked[:, 1:] >= 1)  # noqa: PLR2004 - a pair of reruns
    rows = np.flatnonzero(takes.any(axis=1))
    if not len(rows):
        return None
    sides = np.zeros((2, *takes.shape))
    sides[:, takes] = _extremes(table, lost, takes, n_labels)
    of = rows if clusters is None else np.asarray(clusters, dtype=np.int64)[rows]
    sums = cluster_sums(of, *sides[:, rows].sum(axis=2), takes[rows].sum(axis=1).astype(np.float64))

    def estimates(coverage: float) -> tuple[Estimate, Estimate]:
        low, high = (excess_sums(sums[:, side], sums[:, 2], level=coverage) for side in (0, 1))
        return low, high

    return bounds_of_ends(estimates, level)


def _extremes(table: Floats, lost: Codes, takes: Mask, n_labels: int) -> Floats:
    """Return the least and the largest excess of every item and condition that is taken, shape (2, number of them).

    Few differ among many: an item's labels and answers are small numbers.
    """
    items, conditions = np.nonzero(takes)
    pairs, gone = (
        np.stack([each[items, 0], each[items, conditions + 1]], axis=1) for each in (table, lost.astype(np.float64))
    )
    numbers = _row_numbers(np.column_stack([pairs.reshape(len(pairs), -1), gone]))
    _, first, kind = np.unique(numbers, return_index=True, return_inverse=True)
    known: dict[tuple[object, ...], tuple[float, float]] = {}
    found = np.zeros((2, len(first)))
    for place, row in enumerate(first):
        pair = pairs[row][:, pairs[row].any(axis=0)]
        key = (tuple(sorted(map(tuple, pair.T))), *gone[row].tolist())
        if key not in known:
            known[key] = _item_extremes(pair, lost[items[row], [0, conditions[row] + 1]], n_labels)
        found[:, place] = known[key]
    return found[:, kind]


def _row_numbers(rows: Floats) -> Codes:
    """Return a number for every row of counts, equal for equal rows alone."""
    number: Codes = np.zeros(len(rows), dtype=np.int64)
    kinds = 1
    for column in rows.astype(np.int64).T:
        levels = int(column.max(initial=0)) + 1
        if kinds * levels >= _LARGEST:
            _, number = np.unique(number, return_inverse=True)
            kinds = int(number.max()) + 1
        number, kinds = number * levels + column, kinds * levels
    return number


def bounds_of_ends(estimates: Callable[[float], tuple[Estimate, Estimate]], level: float) -> Bounds | None:
    """Return the values of two estimates and Imbens and Manski's interval around both."""
    low, high = estimates(level)
    if low.value is None or high.value is None:
        return None
    spans = [(each.low, each.high) for each in (low, high)]
    widths = [end - start for start, end in spans if start is not None and end is not None]
    interval = None
    if len(widths) == len(spans):
        error = max(widths) / (2 * z_quantile(level))
        reach = imbens_manski_quantile(max(high.value - low.value, 0.0), error, level=level)
        least, most = estimates(2 * NormalDist().cdf(reach) - 1)
        if least.low is not None and most.high is not None:
            interval = least.low, most.high
    return Bounds(low=low.value, high=high.value, interval=interval)


@frozen(kw_only=True, eq=False)
class _Fillings:
    """The masses of pairs by their two labels, with blocks of missing labels to be filled."""

    table: Floats
    """Mass of the complete pairs, shape (L, L)."""
    blocks: tuple[tuple[int, int, float], ...]
    """Label of the first side, of the second (-1: missing), and mass."""
    names: Codes
    """Code of every label, shape (L,)."""
    may: Codes
    """Places of the labels that a missing one may be."""
    distance: Floats

    @classmethod
    def of(cls, one: Codes, other: Codes, mass: Floats, may: Codes, weighting: Weighting) -> _Fillings:
        names = np.union1d(np.concatenate([one, other]), may)
        names = names[names >= 0]
        size = len(names)
        rows, columns = (np.where(side < 0, size, np.searchsorted(names, side)) for side in (one, other))
        masses = np.zeros((size + 1, size + 1))
        np.add.at(masses, (rows, columns), mass)
        half = [*((-1, label, masses[size, label]) for label in range(size))]
        half += [(label, -1, masses[label, size]) for label in range(size)]
        both = [(-1, -1, masses[size, size] / _PARTS)] * _PARTS
        return cls(
            table=masses[:size, :size],
            blocks=tuple(block for block in (*half, *both) if block[2] > _NOISE),
            names=names,
            may=np.searchsorted(names, may),
            distance=label_distance(names[:, None], names[None, :], weighting),
        )

    def options(self, block: tuple[int, int, float]) -> list[tuple[int, int]]:
        """List the pairs of labels that a block may have."""
        may = self.may.tolist()
        return list(product(may if block[0] < 0 else [block[0]], may if block[1] < 0 else [block[1]]))

    def best(self, sign: float) -> tuple[tuple[int, int], ...] | None:
        """Find the filling with the largest kappa, or the smallest; None where kappa is never defined."""
        options = [np.array(self.options(block)) for block in self.blocks]
        found: tuple[float, tuple[tuple[int, int], ...]] | None = None
        for start in self._starts():
            value, chosen = self._climbed(start, options, sign)
            if not np.isnan(value) and (found is None or sign * value > sign * found[0] + _NOISE):
                found = value, chosen
            if found is not None and sign * found[0] > 1 - _NOISE:
                break  # kappa never leaves [-1, 1]
        return None if found is None else found[1]

    def _starts(self) -> Iterator[list[tuple[int, int]]]:
        """Yield fillings to start from: agreement, and one label for each side."""
        yield [self._agreeing(block) for block in self.blocks]
        for one, other in product(self.may.tolist(), repeat=2):
            yield [(one if a < 0 else a, other if b < 0 else b) for a, b, _ in self.blocks]
            if not self.blocks:
                return

    def _agreeing(self, block: tuple[int, int, float]) -> tuple[int, int]:
        one, other, _ = block
        known = max(one, other)
        if known < 0:
            return (int(self.may[0]), int(self.may[0]))
        nearest = int(self.may[np.argmin(np.abs(self.may - known))])
        return (one if one >= 0 else nearest, other if other >= 0 else nearest)

    def _climbed(
        self, start: list[tuple[int, int]], options: list[Codes], sign: float
    ) -> tuple[float, tuple[tuple[int, int], ...]]:
        chosen, table = list(start), self.table.copy()
        for (one, other), (*_, mass) in zip(chosen, self.blocks, strict=True):
            table[one, other] += mass
        value = self._kappa(table, np.zeros((1, 2), dtype=np.int64), 0.0)[0]
        for _ in range(_SWEEPS):
            before = value
            for place, (*_, mass) in enumerate(self.blocks):
                table[chosen[place]] -= mass
                values = self._kappa(table, options[place], mass)
                ranked = np.where(np.isnan(values), -np.inf, sign * values)
                at = int(ranked.argmax())
                if np.isnan(value) or ranked[at] > sign * value + _NOISE:
                    value, chosen[place] = values[at], (int(options[place][at, 0]), int(options[place][at, 1]))
                table[chosen[place]] += mass
            if not self.blocks or value == before:
                break
        return float(value), tuple(chosen)

    def _kappa(self, table: Floats, added: Codes, mass: float) -> Floats:
        """Return kappa of a table with a mass added to each of some cells in turn; NaN where it is undefined."""
        total = table.sum() + mass
        seen = ((table * self.distance).sum() + mass * self.distance[added[:, 0], added[:, 1]]) / total
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        left, right = self.distance @ columns, rows @ self.distance
        chance = rows @ left + mass * (left[added[:, 0]] + right[added[:, 1]])
        chance = (chance + mass**2 * self.distance[added[:, 0], added[:, 1]]) / total**2
        defined = chance > _NOISE
        return np.where(defined, 1 - seen / np.where(defined, chance, 1.0), np.nan)

    def filled(
        self, chosen: tuple[tuple[int, int], ...], one: Codes, other: Codes, of: Codes, mass: Floats
    ) -> tuple[Codes, Codes, Codes, Floats]:
        """Return the pairs with their labels filled in; those that lack both labels once per part."""
        whole = dict(zip(((a, b) for a, b, _ in self.blocks), chosen, strict=True))
        rows, columns = one.copy(), other.copy()
        for (a, b), (filled_one, filled_other) in whole.items():
            here = (one < 0) & (other == self.names[b]) if a < 0 <= b else (other < 0) & (one == self.names[a])
            if a >= 0 or b >= 0:
                rows[here], columns[here] = self.names[filled_one], self.names[filled_other]
        parts = [pair for pair, (a, b, _) in zip(chosen, self.blocks, strict=True) if a < 0 and b < 0]
        lacking = (one < 0) & (other < 0)
        pieces = [(rows[~lacking], columns[~lacking], of[~lacking], mass[~lacking])]
        for a, b in parts:
            number = int(lacking.sum())
            filled = np.full(number, self.names[a]), np.full(number, self.names[b])
            pieces.append((*filled, of[lacking], mass[lacking] / len(parts)))
        joined = [np.concatenate(each) for each in zip(*pieces, strict=True)]
        return joined[0], joined[1], joined[2], joined[3]


def _item_extremes(pair: Floats, gone: Codes, n_labels: int) -> tuple[float, float]:
    """Return the least and the largest excess of an item and condition over all fillings of its missing answers.

    Args:
        pair: answers under the reference and the condition, by the labels that the item got, shape (2, labels).
        gone: missing answers of both, shape (2,).
        n_labels: labels of the scale.
    """
    others = min(_OTHERS, n_labels - pair.shape[1]) if gone.any() else 0
    padded = np.hstack([pair, np.zeros((2, max(others, 0)))])
    size = padded.shape[1]
    listed = comb(int(gone[0]) + size - 1, size - 1) * comb(int(gone[1]) + size - 1, size - 1) <= _MOST_FILLINGS
    ways = [np.array(list(ways_to_deal(int(number), size)) if listed else np.eye(size) * number) for number in gone]
    first, second = (padded[side] + ways[side] for side in (0, 1))
    tables = np.stack(
        [np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))], axis=1, dtype=np.float64
    )
    values = excess_of_pairs(tables)
    # The excess is convex in the answers of either side: its largest value is where all missing ones have one label.
    return float(values.min()) if listed else -0.5, float(values.max())


def ways_to_deal(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to deal so many answers to so many labels."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in ways_to_deal(total - first, parts - 1):
            yield (first, *rest)
