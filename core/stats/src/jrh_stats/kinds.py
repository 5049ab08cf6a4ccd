"""Group clusters by content: the distinct contents, and how many clusters have each.

A statistic of per-cluster sums depends on the kinds and their numbers alone. With few labels and few trials per cluster
there are tens of kinds, however many clusters there are.
"""

from __future__ import annotations

from math import floor, log
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import Kinds, Numbering, dense_codes, margin_kinds, parts_of, whole_codes

_BITS: Final = 53
"""Whole numbers below 2 to this power are exact as floating-point numbers, and so are their sums."""
_SCALES: Final = (1, 2, 6, 12, 60)
"""Weights that are whole numbers times one of these: halves, thirds, quarters, fifths, ..."""
_SAME: Final = 1e-9
_MOST_KEYS: Final = 8
MOST_LABELS: Final = 12
"""With more labels the table of pairs is larger than its margins are worth."""
_MOST_STEPS: Final = 1000


def label_kinds(clusters: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, *, n_labels: int) -> Kinds:
    """Return the kinds of `cluster_margins` without making its table.

    The sums of a cluster are the digits of one whole number, which takes one pass over the rows.

    Args:
        clusters: cluster of every row as a whole number >= 0, shape (n,).
        labels: label of every row, 0 to `n_labels` - 1, shape (n,).
        weights: what every row counts, shape (n,); 1 by default.
        n_labels: number of labels L, the columns of the result.
    """
    codes, label = whole_codes(clusters), whole_codes(labels)
    mass = np.broadcast_to(1.0, label.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    scale = _scale(mass)
    if not len(codes) or scale is None:
        return margin_kinds(codes, label, mass, n_labels=n_labels)
    cluster, digit = Numbering.of(codes), Numbering.of(label)
    totals = np.zeros(len(cluster.present))
    for part in cluster.parts():
        np.add.at(totals, cluster.of_rows(part), np.rint(mass[part] * scale))
    # The largest sum of a cluster bounds every digit, so digits never carry.
    base, used = float(totals.max()) + 1, digit.present
    # As many digits as fit into the 53 bits in which floating-point numbers add exactly.
    width = floor(_BITS * log(2) / log(base)) if base > 1 else len(used)
    # Too many numbers per cluster: the table is no larger.
    if width < 1 or len(used) > width * _MOST_KEYS:
        return margin_kinds(codes, label, mass, n_labels=n_labels)
    keys, counts = _distinct_keys(_keys(cluster, digit, mass, scale=scale, base=base, width=width))
    rows = np.zeros((len(counts), n_labels))
    for place, column in enumerate(used):
        rows[:, column] = keys[place // width] // base ** (width - 1 - place % width) % base / scale
    return Kinds(rows=rows, counts=counts)


def _scale(mass: Floats) -> int | None:
    """Return what makes weights whole numbers; None where they are not so simple."""
    parts = [part for part in parts_of(len(mass)) if len(mass)]
    if not all(bool(np.isfinite(mass[part]).all()) and mass[part].min() >= 0 for part in parts):
        return None
    # Weights of 1 divided by the number of repeats, such as thirds, are whole numbers at one of these scales.
    for scale in _SCALES:
        if all(np.abs(np.rint(mass[part] * scale) - mass[part] * scale).max() < _SAME for part in parts):
            return scale
    return None


def _keys(cluster: Numbering, digit: Numbering, mass: Floats, *, scale: int, base: float, width: int) -> list[Floats]:
    """Return for every `width` labels one number per cluster, whose digits are the sums of those labels."""
    labels = len(digit.present)
    powers = base ** np.arange(width - 1, -1, -1, dtype=np.float64)
    keys: list[Floats] = []
    for start in range(0, labels, width):
        worth = np.zeros(labels)
        here = powers[: min(width, labels - start)]
        worth[start : start + len(here)] = here
        key = np.zeros(len(cluster.present))
        for part in cluster.parts():
            np.add.at(key, cluster.of_rows(part), np.rint(mass[part] * scale) * worth[digit.of_rows(part)])
        keys.append(key)
    return keys


def _distinct_keys(keys: list[Floats]) -> tuple[list[Floats], Codes]:
    """Return the keys of every kind of cluster, and the clusters of each kind."""
    joined = keys[0]
    for key in keys[1:]:
        _, codes_so_far = np.unique(joined, return_inverse=True)
        values, codes = np.unique(key, return_inverse=True)
        joined = codes_so_far.astype(np.float64) * len(values) + codes
    _, first, counts = np.unique(joined, return_index=True, return_counts=True)
    return [key[first] for key in keys], counts.astype(np.int64)


def pair_kinds(first: ArrayLike, second: ArrayLike, clusters: ArrayLike) -> tuple[Kinds, Floats] | None:
    """Return the kinds of per-cluster tables of pairs of numbers, and the numbers.

    Args:
        first: numbers, shape (n,).
        second: numbers, pairwise, shape (n,).
        clusters: cluster of every pair as a whole number >= 0, shape (n,).

    Returns:
        Kinds with a column per pair of the L numbers that occur on either side, the first varying slowest, and these
        numbers, in order; None where there are more than 12, whose table is larger than it is worth.
    """
    numbers = np.concatenate([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
    if not numbers.size:
        return None
    lowest = numbers.min()
    # Levels are whole steps apart far more often than not; sorting them would take longest of all.
    if numbers.max() - lowest < _MOST_STEPS and np.array_equal(steps := numbers - lowest, np.rint(steps)):
        dense, present = dense_codes(steps.astype(np.int64))
        levels = present + lowest
    else:
        levels, dense = np.unique(numbers, return_inverse=True)
    size = len(levels)
    if size > MOST_LABELS:
        return None
    rows, columns = np.split(dense, 2)
    return label_kinds(clusters, rows * size + columns, n_labels=size * size), levels
