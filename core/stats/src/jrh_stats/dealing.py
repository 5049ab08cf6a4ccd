"""Deal the answers of items again: list all ways for one item, or draw them for a cluster, all items the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from attrs import frozen
from numpy.typing import NDArray


def all_dealings(
    answers: Sequence[int], sizes: Sequence[int], *, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """List the tables that an item's answers may form, dealt at random to groups; None where there are too many.

    A table has a multivariate hypergeometric row per group, of the answers that the groups before it left.

    Args:
        answers: answers of the item per label.
        sizes: answers of each group; they add up to those of the item.
        most: give up beyond so many tables.

    Returns:
        Answers per table, group and label, shape (tables, groups, labels), and the probability of each table.
    """
    from scipy.special import comb

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


def _rows(size: int, answers: Sequence[int]) -> NDArray[np.float64]:
    """List the ways to take so many answers, of each label no more than there are."""
    found = np.zeros((1, 0))
    for number in answers[:-1]:
        taken = np.arange(min(size, number) + 1, dtype=np.float64)
        found = np.hstack([np.repeat(found, len(taken), axis=0), np.tile(taken, len(found))[:, None]])
        found = found[found.sum(axis=1) <= size]
    last = size - found.sum(axis=1)
    return np.asarray(np.hstack([found, last[:, None]])[last <= answers[-1]])


@frozen(kw_only=True, eq=False)
class SharedDeal:
    """Clusters with the same answers, whose items are dealt the same way."""

    tables: NDArray[np.float64]
    """Answers per item, group and label, shape (items, groups, labels)."""
    number: int
    """How many clusters have these answers."""

    def deal(self, generator: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """Deal the answers of one such cluster `draws` times, shape (draws, items, groups, labels).

        The answers of an item lie in a row, group by group and within a group by label. All items whose groups have the
        same sizes are reordered alike: items with the same answers stay the same.
        """
        dealt = np.zeros((draws, *self.tables.shape))
        for items in _alike(self.tables):
            dealt[:, items] = _reordered(generator, self.tables[items], draws)
        return dealt


def shared_deals(tables: NDArray[np.float64], clusters: NDArray[np.int64]) -> tuple[SharedDeal, ...]:
    """Group the items by cluster; clusters with the same answers are one kind, in an order that rows do not change.

    Args:
        tables: answers per item, group and label, shape (items, groups, labels).
        clusters: the cluster of every item, shape (items,).
    """
    kinds: Counter[bytes] = Counter()
    found: dict[bytes, NDArray[np.float64]] = {}
    for cluster in np.unique(clusters):
        own = tables[clusters == cluster]
        own = own[np.lexsort(own.reshape(len(own), -1).T)]
        key = own.tobytes()
        kinds[key] += 1
        found[key] = own
    return tuple(SharedDeal(tables=found[key], number=kinds[key]) for key in sorted(found))


def _alike(tables: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    _, kind = np.unique(tables.sum(axis=2), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    for number in range(int(kind.max()) + 1):
        yield np.flatnonzero(kind == number)


def _reordered(generator: np.random.Generator, tables: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    items, groups, labels = tables.shape
    sizes = tables[0].sum(axis=1).astype(np.int64)
    codes = np.tile(np.arange(labels), groups)
    given = np.stack([np.repeat(codes, table.reshape(-1).astype(np.int64)) for table in tables])
    order = generator.permuted(np.tile(np.arange(given.shape[1]), (draws, 1)), axis=1)
    dealt = np.zeros((draws, items, groups, labels))
    start = 0
    for group, size in enumerate(sizes):
        part = given[:, order[:, start : start + size]]  # (items, draws, size)
        for label in range(labels):
            dealt[:, :, group, label] = (part == label).sum(axis=2).T
        start += size
    return dealt
