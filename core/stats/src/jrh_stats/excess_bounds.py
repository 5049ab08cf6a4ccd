"""Bound the excess disagreement by what missing verdicts could have been."""

from __future__ import annotations

from math import comb
from statistics import NormalDist
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import cluster_sums, row_numbers
from jrh_stats.estimate import Estimate
from jrh_stats.excess import excess_sums
from jrh_stats.excess_null import item_excess, takes_part
from jrh_stats.exchange import compositions
from jrh_stats.missing import imbens_manski_quantile
from jrh_stats.score_intervals import z_quantile

_FURTHER: Final = 2
"""Of the labels that an item never got, two stand for all: what is lost on either side may be a label of its own."""
_MOST_FILLINGS: Final = 20_000


@frozen(kw_only=True)
class Bounds:
    """What the excess disagreement could be, whatever the missing verdicts would have been."""

    low: float
    """The excess with the missing answers at their least."""
    high: float
    """With all at their most."""
    interval: tuple[float, float] | None
    """Imbens and Manski's interval: it allows for the sampling error of both ends. None where an end has none."""


def excess_bounds(
    counts: ArrayLike, missing: ArrayLike, clusters: ArrayLike | None = None, *, n_labels: int, level: float = 0.95
) -> Bounds | None:
    """Bound the excess disagreement of `excess_disagreement` by what missing answers could have been.

    An item's excess is smallest and largest at one of the fillings of its missing answers, which are listed; the mean
    over items has its extremes at theirs. Several conditions of an item are filled separately, and where an item lacks
    so many answers that listing takes too long, its least excess is taken to be -1/2: the bounds can only be too wide.

    Source: bounds without assumptions: Manski (1989), Journal of Human Resources 24:343-360; missing outcomes on both
    sides: Horowitz and Manski (2000), Journal of the American Statistical Association 95:77-84; interval: Imbens and
    Manski (2004), Econometrica 72:1845-1857. Not consulted; the listing is ours.

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
    takes = takes_part(table.sum(axis=2) + lost)
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

    low, high = estimates(level)
    if low.value is None or high.value is None:
        return None
    widths = [side.high - side.low for side in (low, high) if side.low is not None and side.high is not None]
    interval = None
    if len(widths) == len(sides):
        # A half-width is z standard errors; Imbens and Manski take the larger of the two.
        error = max(widths) / (2 * z_quantile(level))
        reach = imbens_manski_quantile(max(high.value - low.value, 0.0), error, level=level)
        # The level of a two-sided interval that extends `reach` standard errors beyond each bound.
        least, most = estimates(2 * NormalDist().cdf(reach) - 1)
        if least.low is not None and most.high is not None:
            interval = least.low, most.high
    return Bounds(low=low.value, high=high.value, interval=interval)


def _extremes(table: Floats, lost: Codes, takes: Mask, n_labels: int) -> Floats:
    """Return the least and the largest excess of every item and condition that is taken, shape (2, number of them).

    Few differ among many: an item's labels and answers are small numbers.
    """
    items, conditions = np.nonzero(takes)
    pairs, gone = (
        np.stack([side[items, 0], side[items, conditions + 1]], axis=1) for side in (table, lost.astype(np.float64))
    )
    numbers = row_numbers(np.column_stack([pairs.reshape(len(pairs), -1), gone]).astype(np.int64))
    _, first, kind = np.unique(numbers, return_index=True, return_inverse=True)
    known: dict[tuple[object, ...], tuple[float, float]] = {}
    extremes = np.zeros((2, len(first)))
    for place, row in enumerate(first):
        pair = pairs[row][:, pairs[row].any(axis=0)]
        # The excess does not know which label is which, so equal columns in another order are one kind.
        key = (tuple(sorted(map(tuple, pair.T))), *gone[row].tolist())
        if key not in known:
            known[key] = _item_extremes(pair, lost[items[row], [0, conditions[row] + 1]], n_labels)
        extremes[:, place] = known[key]
    return extremes[:, kind]


def _item_extremes(pair: Floats, gone: Codes, n_labels: int) -> tuple[float, float]:
    """Return the least and the largest excess of an item and condition over all fillings of its missing answers.

    Args:
        pair: answers under the reference and the condition, by the labels that the item got, shape (2, labels).
        gone: missing answers of both, shape (2,).
        n_labels: labels of the scale.
    """
    further = min(_FURTHER, n_labels - pair.shape[1]) if gone.any() else 0
    padded = np.hstack([pair, np.zeros((2, max(further, 0)))])
    size = padded.shape[1]
    # Stars and bars: the ways in which g missing answers may have n labels.
    listed = comb(int(gone[0]) + size - 1, size - 1) * comb(int(gone[1]) + size - 1, size - 1) <= _MOST_FILLINGS
    ways = [compositions(int(number), size) if listed else np.eye(size) * number for number in gone]
    first, second = (padded[side] + ways[side] for side in (0, 1))
    tables = np.stack(
        [np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))], axis=1, dtype=np.float64
    )
    values = item_excess(tables)
    # The excess is convex in the answers of either side: its largest value is where all missing ones have one label.
    return float(values.min()) if listed else -0.5, float(values.max())
