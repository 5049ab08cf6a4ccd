"""Distribute the summed excess of items whose answers are dealt at random to the reference and its conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil, erfc, lcm, sqrt
from typing import Any, Final, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh_stats.agreement import count_disagreeing_pairs
from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import distinct, parts_of

_Values: TypeAlias = tuple[Floats, Floats, int]
"""Values of the excess, their probabilities, and the unit of the values."""
_CHUNK: Final = 2_000_000
"""Floats draw at once."""
ASKED_AGAIN: Final = 2
_NOISE: Final = 1e-9
_RARE: Final = 10
"""With fewer dealings as extreme, `_FINER` times as many are draw: a family of 100 tests asks for p < 0.0005."""
_FINER: Final = 20
_VARIANCE_DRAWS: Final = 500
"""Dealings of each kind of cluster from which its variance is taken."""
_TABLES: Final = 4000
"""The dealings of an item are listed where they are no more than this; otherwise as many are draw."""
_DECIMALS: Final = 12
_LATTICE: Final = 2**17
"""Up to so many values of the summed excess, its distribution is computed; with more it is draw from."""
_ROUNDING: Final = 1e-13
"""No computed probability is smaller: Fourier transforms are exact to about this."""


@frozen(kw_only=True, eq=False)
class Deals:
    """What is dealt again: the answers of items that are alone, and those of clusters of several."""

    pooled: NDArray[np.signedinteger]
    """Answers of every item by label, shape (items, labels)."""
    sizes: NDArray[np.signedinteger]
    """Answers of every item by group, shape (items, groups)."""
    blocks: tuple[SharedDeal, ...]
    seed: int

    def permutation_p(self, observed: float, resamples: int) -> float:
        """Return the share of dealings whose summed excess is as large as the one seen; 1 without anything to deal."""
        if not len(self.pooled) and not self.blocks:
            return 1.0
        kinds = self._kinds()
        # Items of a cluster are dealt alike, so their excesses are not independent and cannot be convolved.
        exact = None if self.blocks else _tail(kinds, observed)
        if exact is not None:
            return exact
        generator = np.random.default_rng(self.seed)
        extreme, draw = self._extreme(generator, kinds, observed, resamples), resamples
        # A p-value of few draws is too rough to pass a small level; only such tests are worth twenty times the work.
        if extreme < _RARE:
            draw *= _FINER
            extreme += self._extreme(generator, kinds, observed, draw - resamples)
        return (1 + extreme) / (1 + draw)

    def _extreme(self, generator: np.random.Generator, kinds: Sequence[_Kind], observed: float, number: int) -> int:
        extreme = 0
        for part in parts_of(number, max(1, _CHUNK // max(self.pooled.size * self.sizes.shape[1], 1))):
            draws = part.stop - part.start
            total = np.zeros(draws)
            for kind in kinds:
                total += kind.draw(generator, draws)
            for block in self.blocks:
                for _ in range(block.number):
                    total += item_excess(block.deal(generator, draws)).sum(axis=1)
            extreme += int((total >= observed - _NOISE).sum())
        return extreme

    def least(self) -> float:
        """Return about the probability that every item, or cluster of several, gets its most extreme dealing.

        It depends on the answers through their pooled numbers alone, as the distribution of the dealings does.
        """
        generator = np.random.default_rng(self.seed)
        log_chance = sum(kind.number * float(np.log(kind.chances[-1])) for kind in self._kinds())
        for block in self.blocks:
            dealt = item_excess(block.deal(generator, _VARIANCE_DRAWS)).sum(axis=1)
            log_chance += block.number * float(np.log((dealt >= dealt.max() - _NOISE).mean()))
        return float(np.exp(log_chance))

    def normal_p(self, observed: float) -> float:
        """Return the p-value of the normal limit: mean 0, and the variances of the dealings added up."""
        # A seed of its own for every quantity: which of them is asked for first changes none.
        generator = np.random.default_rng(self.seed)
        # Dealt at random, the expected excess is exactly 0, so the mean square is the variance.
        variance = sum(kind.number * float(kind.chances @ np.square(kind.values)) for kind in self._kinds())
        for block in self.blocks:
            total = item_excess(block.deal(generator, _VARIANCE_DRAWS)).sum(axis=1)
            variance += block.number * float(np.square(total).mean())
        return erfc(observed / sqrt(2 * variance)) / 2 if variance > 0 else 1.0

    def _kinds(self) -> list[_Kind]:
        """Return the kinds of items that have the same distribution: the same answers and the same groups."""
        rows, counts = distinct(np.hstack([self.pooled, self.sizes]).astype(np.float64))
        answers, groups = np.split(rows.astype(np.int64), [self.pooled.shape[1]], axis=1)
        return [
            _Kind.of(tuple(labels), tuple(sizes), number, self.seed)
            for labels, sizes, number in zip(answers.tolist(), groups.tolist(), counts.tolist(), strict=True)
        ]


@frozen(kw_only=True, eq=False)
class _Kind:
    """Items with the same answers and groups: the excess that one of them may have, dealt at random."""

    values: Floats
    chances: Floats
    number: int
    """How many items are of this kind."""
    unit: int
    """All values are multiples of 1 / unit; 0: drawn at random, they may be anything."""

    @classmethod
    def of(cls, answers: tuple[int, ...], sizes: tuple[int, ...], number: int, seed: int) -> _Kind:
        """List the excess of all dealings, or where they are too many, of some drawn at random."""
        # What is listed depends on no seed: the many tests of a report meet the same items again.
        values, chances, unit = _list_excess(answers, sizes) or _sample_excess(answers, sizes, seed)
        return cls(values=values, chances=chances, number=number, unit=unit)

    def draw(self, generator: np.random.Generator, draws: int) -> Floats:
        """Draw the summed excess of all items of the kind: how many have each value is multinomial."""
        # Rounding may leave a sum just above 1, which `multinomial` refuses.
        chances = self.chances / self.chances.sum()
        return np.asarray(generator.multinomial(self.number, chances, size=draws) @ self.values)


@lru_cache(maxsize=4096)
def _list_excess(answers: tuple[int, ...], sizes: tuple[int, ...]) -> _Values | None:
    """Return the excess of all dealings, its probabilities, and the unit; None where there are too many."""
    dealt = all_dealings(answers, sizes, most=_TABLES)
    if dealt is None:
        return None
    return (*_merge_equal(*dealt), lcm(*(_unit(sizes[0], size) for size in sizes[1:])))


@lru_cache(maxsize=256)
def _sample_excess(answers: tuple[int, ...], sizes: tuple[int, ...], seed: int) -> _Values:
    dealt = _deal(np.random.default_rng(seed), np.array([answers]), np.array([sizes]), _TABLES)[:, 0]
    return (*_merge_equal(dealt, np.full(_TABLES, 1 / _TABLES)), 0)


def _merge_equal(tables: Floats, chances: Floats) -> tuple[Floats, Floats]:
    excess = item_excess(tables[:, None])[:, 0]
    # The mean over all dealings is exactly 0; that of those drawn is not.
    values, at = np.unique((excess - chances @ excess).round(_DECIMALS), return_inverse=True)
    return values, np.bincount(at.reshape(-1), weights=chances).astype(np.float64)


def _unit(reference: int, condition: int) -> int:
    """Return a common denominator of the disagreements between two groups of answers and within each."""
    parts = (reference * condition, reference * (reference - 1), condition * (condition - 1))
    return 2 * lcm(*(part or 1 for part in parts))


def _tail(kinds: Sequence[_Kind], observed: float) -> float | None:
    """Return the probability of a summed excess of at least `observed`, exactly; None where that would take too long.

    Multiples of one unit, the excesses of independent items are convolved, the narrowest distributions first.
    """
    unit = lcm(*(kind.unit for kind in kinds))
    if not unit:
        return None
    places = [np.rint((kind.values - kind.values[0]) * unit).astype(np.int64) for kind in kinds]
    step = int(np.gcd.reduce(np.concatenate(places))) or 1
    span = sum(kind.number * int(place[-1]) // step for kind, place in zip(kinds, places, strict=True))
    if span >= _LATTICE:
        return None
    parts = [_distribute_sum(place // step, kind) for kind, place in zip(kinds, places, strict=True)]
    while len(parts) > 1:
        # Two short transforms cost less than one short and one long.
        parts.sort(key=len, reverse=True)
        parts.append(_convolve(parts.pop(), parts.pop()))
    least = sum(kind.number * float(kind.values[0]) for kind in kinds)
    start = ceil((observed - _NOISE - least) * unit / step)
    tail = float(parts[0][max(start, 0) :].sum())
    return min(max(tail, _ROUNDING), 1.0)


def _distribute_sum(places: Codes, kind: _Kind) -> Floats:
    """Return the distribution of the sum over the items of a kind, on the lattice."""
    mass = np.bincount(places, weights=kind.chances)
    if kind.number == 1:
        return mass.astype(np.float64)
    span = kind.number * int(places[-1])
    # A power of two at least as long as the result, so that the circular convolution does not wrap around.
    length = 2 ** (span + 1).bit_length()
    # A power of the transform is the sum of as many independent items.
    return np.fft.irfft(np.fft.rfft(mass, length) ** kind.number, length)[: span + 1]


def _convolve(one: Floats, other: Floats) -> Floats:
    size = len(one) + len(other) - 1
    length = 2 ** (size - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(one, length) * np.fft.rfft(other, length), length)[:size]


def raw_and_floor(table: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """Return raw disagreement and floor per item and condition, shape (..., conditions); any number where none."""
    leading, (groups, labels) = table.shape[:-2], table.shape[-2:]
    shares = table / np.maximum(answers, 1)[..., None]
    raw = 1 - (shares[..., 1:, :] * shares[..., :1, :]).sum(axis=-1)
    differing, pairs = count_disagreeing_pairs(table.reshape(int(np.prod(leading)) * groups, labels))
    within = (differing / np.maximum(pairs, 1)).reshape(*leading, groups)
    again = answers[..., 1:] >= ASKED_AGAIN
    return raw, np.where(again, (within[..., :1] + within[..., 1:]) / 2, within[..., :1])


def item_excess(tables: Floats) -> Floats:
    """Sum the excess over conditions; (..., items, groups, labels) -> (..., items)."""
    answers = tables.sum(axis=-1)
    raw, floor = raw_and_floor(tables, answers)
    return np.asarray(((raw - floor) * takes_part(answers)).sum(axis=-1))


def takes_part(answers: NDArray[np.floating[Any] | np.signedinteger[Any]]) -> Mask:
    """Return which conditions have an excess, from the answers per group: (..., groups) -> (..., conditions)."""
    return np.asarray((answers[..., :1] >= ASKED_AGAIN) & (answers[..., 1:] >= 1))


def _deal(generator: np.random.Generator, pooled: Codes, sizes: Codes, draws: int) -> Floats:
    """Deal each item's labels (items, labels) to its groups of the sizes (items, groups), `draws` times."""
    items, labels = pooled.shape
    groups = sizes.shape[1]
    dealt = np.zeros((draws, items, groups, labels))
    left = np.broadcast_to(pooled, (draws, items, labels)).copy()
    for group in range(groups - 1):
        wanted = np.broadcast_to(sizes[:, group], (draws, items)).copy()
        others_left = left.sum(axis=2)
        # Label by label: each is hypergeometric among what is left of it and of those after it.
        for label in range(labels - 1):
            others_left -= left[:, :, label]
            taken = generator.hypergeometric(left[:, :, label], others_left, wanted)
            dealt[:, :, group, label] = taken
            wanted -= taken
        dealt[:, :, group, labels - 1] = wanted
        left -= dealt[:, :, group, :].astype(np.int64)
    dealt[:, :, groups - 1, :] = left
    return dealt


def all_dealings(answers: Sequence[int], sizes: Sequence[int], *, most: int) -> tuple[Floats, Floats] | None:
    """List the tables that an item's answers may form, dealt at random to groups; None where there are too many.

    A table has a multivariate hypergeometric row per group, of the answers that the groups before it left.

    Args:
        answers: answers of the item per label.
        sizes: answers of each group; they add up to those of the item.
        most: give up beyond so many tables.

    Returns:
        Answers per table, group and label, shape (tables, groups, labels), and the probability of each table.
    """
    from jrh_stats.special import comb

    left, chances = np.array([answers], dtype=np.float64), np.ones(1)
    tables = np.zeros((1, 0, left.shape[1]))
    for place, size in enumerate(sizes):
        # Counted before they are listed: a few labels and thousands of answers have 10^9 rows.
        number = _number_of_rows(size, answers)
        if len(tables) * number > most * len(answers) * max(answers) or (place == 0 and number > most):
            return None
        if place == len(sizes) - 1:
            return np.concatenate([tables, left[:, None]], axis=1), chances
        rows = _rows(size, answers)
        at, row = np.nonzero((rows[None] <= left[:, None]).all(axis=2))
        if len(at) > most:
            return None
        chances = chances[at] * comb(left[at], rows[row]).prod(axis=1) / comb(left[at].sum(axis=1), size)
        tables = np.concatenate([tables[at], rows[row][:, None]], axis=1)
        left = left[at] - rows[row]
    return tables, chances


def _number_of_rows(size: int, answers: Sequence[int]) -> int:
    ways = [1] + [0] * size
    for number in answers:
        added = list(accumulate(ways))
        ways = [total - (added[taken - number - 1] if taken > number else 0) for taken, total in enumerate(added)]
    return ways[-1]


def _rows(size: int, answers: Sequence[int]) -> Floats:
    """List the ways to take so many answers, of each label no more than there are."""
    ways = np.zeros((1, 0))
    for number in answers[:-1]:
        taken = np.arange(min(size, number) + 1, dtype=np.float64)
        ways = np.hstack([np.repeat(ways, len(taken), axis=0), np.tile(taken, len(ways))[:, None]])
        ways = ways[ways.sum(axis=1) <= size]
    last = size - ways.sum(axis=1)
    return np.asarray(np.hstack([ways, last[:, None]])[last <= answers[-1]])


@frozen(kw_only=True, eq=False)
class SharedDeal:
    """Clusters with the same answers, whose items are dealt the same way."""

    tables: Floats
    """Answers per item, group and label, shape (items, groups, labels)."""
    number: int
    """How many clusters have these answers."""

    def deal(self, generator: np.random.Generator, draws: int) -> Floats:
        """Deal the answers of one such cluster `draws` times, shape (draws, items, groups, labels).

        The answers of an item lie in a row, group by group and within a group by label. All items whose groups have the
        same sizes are reordered alike: items with the same answers stay the same.
        """
        dealt = np.zeros((draws, *self.tables.shape))
        _, kind = np.unique(self.tables.sum(axis=2), axis=0, return_inverse=True)
        for number in range(int(kind.max()) + 1):
            items = np.flatnonzero(kind.reshape(-1) == number)
            dealt[:, items] = _reorder(generator, self.tables[items], draws)
        return dealt


def group_deals(tables: Floats, clusters: Codes) -> tuple[SharedDeal, ...]:
    """Group the items by cluster; clusters with the same answers are one kind, in an order that rows do not change.

    Args:
        tables: answers per item, group and label, shape (items, groups, labels).
        clusters: the cluster of every item, shape (items,).
    """
    kinds: Counter[bytes] = Counter()
    tables_of: dict[bytes, Floats] = {}
    for cluster in np.unique(clusters):
        block = tables[clusters == cluster]
        block = block[np.lexsort(block.reshape(len(block), -1).T)]
        # Sorted rows of the same bytes are the same answers, whatever order the items came in.
        key = block.tobytes()
        kinds[key] += 1
        tables_of[key] = block
    return tuple(SharedDeal(tables=tables_of[key], number=kinds[key]) for key in sorted(tables_of))


def _reorder(generator: np.random.Generator, tables: Floats, draws: int) -> Floats:
    items, groups, labels = tables.shape
    sizes = tables[0].sum(axis=1).astype(np.int64)
    codes = np.tile(np.arange(labels), groups)
    labels_of_items = np.stack([np.repeat(codes, table.reshape(-1).astype(np.int64)) for table in tables])
    # One order for all items: copies of an item are dealt alike.
    order = generator.permuted(np.tile(np.arange(labels_of_items.shape[1]), (draws, 1)), axis=1)
    dealt = np.zeros((draws, items, groups, labels))
    start = 0
    for group, size in enumerate(sizes):
        part = labels_of_items[:, order[:, start : start + size]]  # (items, draws, size)
        for label in range(labels):
            dealt[:, :, group, label] = (part == label).sum(axis=2).T
        start += size
    return dealt
