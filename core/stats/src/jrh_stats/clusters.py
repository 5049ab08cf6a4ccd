"""Sum per cluster, and compute the cluster-robust variance of a ratio in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from jrh_stats.arrays import Codes, Floats

# Passes over rows go through blocks of this size, so that a table of a million trials needs no second one of its size.
PART: Final = 2**16
"""Rows at once: half a megabyte of numbers. Fewer would take longer, more no less time."""


def parts_of(number: int, size: int = PART) -> Iterator[slice]:
    """Yield slices of at most so many of a number of rows, in order; one, which is empty, of no rows."""
    for start in range(0, max(number, 1), size):
        yield slice(start, min(start + size, number))


def by_parts(
    function: Callable[..., tuple[Floats, ...]], *arrays: NDArray[np.generic], size: int = PART
) -> tuple[Floats, ...]:
    """Return what a function that treats each row by itself returns of all rows, calling it for some at a time."""
    results = [function(*(array[part] for array in arrays)) for part in parts_of(len(arrays[0]), size)]
    return tuple(np.concatenate(columns) for columns in zip(*results, strict=True))


_DECIMALS: Final = 12
"""Sums are rounded to so many decimals, which makes them independent of the order of the rows."""
_SPARSE: Final = 8
"""Whole numbers up to so many times their count are counted rather than sorted."""
_SMALL: Final = 1024
_LARGEST_KEY: Final = 2.0**53
_LARGEST_NUMBER: Final = 2**62
_SHORT: Final = 2**15
_LARGE_TABLE: Final = 1 << 20
"""Sums, of which the table is not made; 8 MB."""


def cluster_sums(clusters: ArrayLike, *values: ArrayLike, rows: NDArray[np.signedinteger] | None = None) -> Floats:
    """Sum values within clusters.

    Args:
        clusters: cluster of every row as a whole number >= 0, shape (n,).
        values: one array of shape (n,) per column.
        rows: places of the rows that are summed; None: all. They take less memory than arrays of their own.

    Returns:
        Shape (clusters that occur, columns), ordered by the cluster's number, rounded to 12 decimals so that equal
        contents give equal sums in whatever order they were added.

    Raises:
        ValueError: the shapes differ.
    """
    codes = whole_codes(clusters)
    # Not converted: numbers that fit in fewer bytes are read as they are, a block at a time.
    columns = [np.asarray(column) for column in values]
    if any(column.shape != codes.shape for column in columns):
        raise ValueError(f"values must have the shape of the clusters, {codes.shape}")
    numbering = Numbering.of(codes, rows)
    sums = np.zeros((len(columns), len(numbering.present)))
    for some in numbering.parts():
        dense = numbering.of_rows(some)
        for column, total in zip(columns, sums, strict=True):
            np.add.at(total, dense, column[some])  # in the order of the rows: the sums are those of `numpy.bincount`
    return np.ascontiguousarray(sums.round(_DECIMALS, out=sums).T)


def cluster_margins(clusters: ArrayLike, labels: ArrayLike, weights: ArrayLike, *, n_labels: int) -> Floats:
    """Sum weights per cluster and label.

    Args:
        clusters: cluster of every row as a whole number >= 0, shape (n,).
        labels: label of every row, 0 to `n_labels` - 1, shape (n,).
        weights: what every row counts, shape (n,).
        n_labels: number of columns L of the result.

    Returns:
        Shape (clusters that occur, L), ordered and rounded as by `cluster_sums`.

    Raises:
        ValueError: a label is not one of 0 to `n_labels` - 1.
    """
    codes, label, mass = whole_codes(clusters), whole_codes(labels), np.asarray(weights)
    if label.size and not 0 <= int(label.min()) <= int(label.max()) < n_labels:
        # It would count for another cluster.
        raise ValueError(f"labels must go from 0 to {n_labels - 1}")
    numbering = Numbering.of(codes)
    flat = np.zeros(len(numbering.present) * n_labels)
    for some in numbering.parts():
        np.add.at(flat, numbering.of_rows(some).astype(np.int64) * n_labels + label[some], mass[some])
    return flat.round(_DECIMALS, out=flat).reshape(len(numbering.present), n_labels)


def whole_codes(codes: ArrayLike) -> NDArray[np.signedinteger]:
    """Return codes as whole numbers, in as many bytes as they have."""
    numbers = np.asarray(codes)
    return numbers if numbers.dtype.kind == "i" else numbers.astype(np.int64)


@frozen(kw_only=True, eq=False)
class Numbering:
    """Codes of rows, numbered from 0 on in the order of the codes that occur."""

    codes: NDArray[np.signedinteger]
    rows: NDArray[np.signedinteger] | None
    present: Codes
    """The codes that occur."""
    place: Codes | None
    """Number of every code from 0 on; None: the codes are the numbers."""
    number: int
    """Rows."""

    @classmethod
    def of(cls, codes: NDArray[np.signedinteger], rows: NDArray[np.signedinteger] | None = None) -> Numbering:
        """Number the codes of all rows, or of some."""
        number = len(codes) if rows is None else len(rows)
        ends = [(int(some.min()), int(some.max())) for some in _some(codes, rows, number) if len(some)]
        least, top = min((low for low, _ in ends), default=0), max((high for _, high in ends), default=-1)
        # A table as long as the largest code would be mostly empty: sorting is cheaper there.
        if top > _SPARSE * number + _SMALL or least < 0:
            present, dense = np.unique(codes if rows is None else codes[rows], return_inverse=True)
            back = dense if rows is None else np.zeros(len(codes), dtype=np.int64)
            if rows is not None:
                back[rows] = dense
            return cls(codes=back, rows=rows, present=present.astype(np.int64), place=None, number=number)
        occurs = np.zeros(top + 1, dtype=np.bool_)
        for some in _some(codes, rows, number):
            occurs[some] = True
        present = np.flatnonzero(occurs)
        place = None
        if len(present) < len(occurs):
            place = np.zeros(len(occurs), dtype=np.int64)
            place[present] = np.arange(len(present))
        return cls(codes=codes, rows=rows, present=present, place=place, number=number)

    def parts(self) -> Iterator[slice | NDArray[np.signedinteger]]:
        """Yield the rows, some at a time."""
        for part in parts_of(self.number):
            yield part if self.rows is None else self.rows[part]

    def of_rows(self, some: slice | NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
        """Return the numbers of some rows."""
        codes = self.codes[some]
        return codes if self.place is None else self.place[codes]


def _some(
    codes: NDArray[np.signedinteger], rows: NDArray[np.signedinteger] | None, number: int
) -> Iterator[NDArray[np.signedinteger]]:
    for part in parts_of(number):
        yield codes[part] if rows is None else codes[rows[part]]


def dense_codes(codes: Codes) -> tuple[Codes, Codes]:
    """Number the codes that occur from 0 on, in their order; return the number of every row, and the codes.

    Codes that are not much larger than their number are counted instead of sorted.
    """
    numbering = Numbering.of(codes)
    return numbering.of_rows(slice(None)).astype(np.int64, copy=False), numbering.present


def row_numbers(rows: Codes) -> Codes:
    """Return a number for every row of codes, shape (n, columns): equal for equal rows alone, in the order of rows."""
    number: Codes = np.zeros(len(rows), dtype=np.int64)
    kinds = 1
    for column in rows.T:
        levels = int(column.max(initial=0)) + 1
        # Numbered without gaps before the next column would not fit into 64 bits.
        if kinds * levels >= _LARGEST_NUMBER:
            _, number = np.unique(number, return_inverse=True)
            kinds = int(number.max()) + 1
        number, kinds = number * levels + column, kinds * levels
    return number


def number_pairs(
    one: NDArray[np.signedinteger], other: NDArray[np.signedinteger]
) -> tuple[NDArray[np.signedinteger], NDArray[np.signedinteger], Codes]:
    """Number the labels of both sides from 0 on, in their order; return the numbers of either side, and the labels."""
    both = Numbering.of(one).present, Numbering.of(other).present
    labels = np.union1d(*both).astype(np.int64, copy=False)
    # The number of a pair of labels has to fit.
    kind = np.int32 if len(labels) < _SHORT else np.int64
    return _places(labels, one, kind), _places(labels, other, kind), labels


def _places(labels: Codes, codes: NDArray[np.signedinteger], kind: type[np.signedinteger]) -> NDArray[np.signedinteger]:
    places = np.empty(codes.shape, dtype=kind)
    for part in parts_of(len(codes)):
        places[part] = np.searchsorted(labels, codes[part])
    return places


@frozen(kw_only=True, eq=False)
class Kinds:
    """The distinct rows of per-cluster sums, in an order that does not depend on that of the clusters."""

    rows: Floats
    """Shape (kinds, columns)."""
    counts: Codes
    """Clusters of each kind, shape (kinds,)."""

    def __len__(self) -> int:
        """Return the number of clusters."""
        return int(self.counts.sum())

    @property
    def total(self) -> Floats:
        """Return the sums over all clusters, shape (columns,)."""
        return np.asarray(self.counts @ self.rows, dtype=np.float64)

    def times(self, matrix: Floats) -> Kinds:
        """Return linear combinations of the columns; kinds that become equal are not join_kinds."""
        return Kinds(rows=self.rows @ matrix, counts=self.counts)


def kinds_of(sums: Floats) -> Kinds:
    """Return the kinds of per-cluster sums of shape (clusters, columns)."""
    rows, counts = distinct(sums)
    return Kinds(rows=rows, counts=counts)


def margin_kinds(clusters: ArrayLike, labels: ArrayLike, weights: ArrayLike, *, n_labels: int) -> Kinds:
    """Return the kinds of `cluster_margins`; where its table would be large, it is never made.

    Args:
        clusters: cluster of every row as a whole number >= 0, shape (n,).
        labels: label of every row, 0 to `n_labels` - 1, shape (n,).
        weights: what every row counts, shape (n,).
        n_labels: number of labels L, the columns of the result.
    """
    dense, present = dense_codes(np.asarray(clusters, dtype=np.int64))
    if len(present) * n_labels <= _LARGE_TABLE:
        return kinds_of(cluster_margins(dense, labels, weights, n_labels=n_labels))
    # Only cells that hold something are listed; clusters with equally many of them are compared row by row.
    flat = dense * n_labels + np.asarray(labels, dtype=np.int64)
    cells, of_cell = np.unique(flat, return_inverse=True)
    sums = np.bincount(of_cell, weights=np.asarray(weights, dtype=np.float64)).round(_DECIMALS)
    cells, sums = cells[sums != 0], sums[sums != 0]
    cluster = cells // n_labels
    filled = np.bincount(cluster, minlength=len(present))
    rows, counts = [], []
    for width in np.unique(filled):
        here = (filled == width)[cluster]
        entries = np.stack([cells[here] % n_labels, sums[here]]).reshape(2, -1, width) if width else None
        alike, number = _alike(entries, int(np.count_nonzero(filled == width)))
        table = np.zeros((len(alike), n_labels))
        np.put_along_axis(table, alike[:, :width].astype(np.int64), alike[:, width:], axis=1)
        rows.append(table)
        counts.append(number)
    table = np.concatenate(rows)
    # Labels that never occur cannot decide the order, and there may be thousands of them.
    used = table[:, (table != 0).any(axis=0)]
    order = np.lexsort(used.T[::-1]) if used.size else np.arange(len(table))
    return Kinds(rows=table[order], counts=np.concatenate(counts)[order])


def _alike(entries: Floats | None, clusters: int) -> tuple[Floats, Codes]:
    """Return the distinct rows of labels and, to their right, sums, and how many clusters have each."""
    if entries is None:  # all sums are 0
        return np.zeros((1, 0)), np.array([clusters], dtype=np.int64)
    return _distinct_any(np.concatenate(list(entries), axis=1))


def distinct(sums: Floats | Kinds) -> tuple[Floats, Codes]:
    """Return the distinct rows of per-cluster sums, sorted, and how many clusters have each.

    Resampling clusters is resampling their kinds: far fewer, and without an order of clusters to depend on.
    """
    if isinstance(sums, Kinds):
        return sums.rows, sums.counts
    if not len(sums):
        return sums, np.zeros(0, dtype=np.int64)
    return _distinct_whole(sums) or _distinct_any(sums)


def join_kinds(parts: Iterable[tuple[Floats, Codes]]) -> Kinds:
    """Join distinct rows, as `distinct` returns them, of parts of the clusters: those of all clusters."""
    part_rows, part_counts = zip(*parts, strict=True)
    rows, counts = np.concatenate(part_rows), np.concatenate(part_counts)
    # lexsort takes its last key first: reversed, the first column decides, as in `distinct`.
    order = np.lexsort(rows.T[::-1])
    rows, counts = rows[order], counts[order]
    new = np.concatenate([[True], np.any(rows[1:] != rows[:-1], axis=1)])[: len(rows)]
    starts = np.flatnonzero(new)
    return Kinds(rows=rows[starts], counts=np.add.reduceat(counts, starts) if len(rows) else counts)


def _distinct_whole(sums: Floats) -> tuple[Floats, Codes] | None:
    """Return the distinct rows of whole numbers or halves, each row as one key; None where that cannot be done."""
    # Halves are whole numbers at the scale 2. Other fractions take the slower way of `_distinct_any`.
    for scale in (1.0, 2.0):
        scaled = np.asarray(sums if scale == 1 else sums * scale)
        if np.array_equal(scaled, np.rint(scaled)):
            break
    else:
        return None
    columns = np.ascontiguousarray(scaled.T)
    low = columns.min(axis=1)
    widths = columns.max(axis=1) - low + 1
    size = float(np.prod(widths))
    if not size < _LARGEST_KEY:
        return None
    steps = np.append(np.cumprod(widths[::-1])[-2::-1], 1.0)
    # Whole numbers below 2^53, so that this product of floating-point numbers is exact.
    keys = (steps @ (columns - low[:, None])).astype(np.int64)
    if size <= _SPARSE * len(sums) + _SMALL:
        every = np.bincount(keys)
        present = np.flatnonzero(every)
        counts = every[present]
    else:
        present, counts = np.unique(keys, return_counts=True)
    kinds = (present[:, None] // steps.astype(np.int64) % widths.astype(np.int64) + low) / scale
    return kinds, counts.astype(np.int64)


def _distinct_any(sums: Floats) -> tuple[Floats, Codes]:
    # Many times faster than numpy.unique over rows, with the same result: sorted by the first column first.
    ordered = sums[np.lexsort(sums.T[::-1])]
    first = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    starts = np.flatnonzero(first)
    return ordered[starts], np.diff(np.append(starts, len(ordered))).astype(np.int64)


def ratio_variance(numerators: ArrayLike, denominators: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Compute the cluster-robust variance of the ratio sum(numerators) / sum(denominators), in closed form.

    With r the ratio and K clusters:

        K / (K - 1) * sum_k (y_k - r m_k)^2 / (sum_k m_k)^2

    Source: Taylor linearisation of a ratio estimator, Cochran (1977), Sampling Techniques, 3rd ed., section 6.3; with
    denominators of 1 it is the squared standard error of the mean.

    Args:
        numerators: sum of the scores of each cluster, shape (K,).
        denominators: number (or weight) of trials of each cluster, shape (K,).
        counts: where the rows are kinds of clusters, how many there are of each; 1 by default.

    Returns:
        The variance in the squared unit of the ratio.

    Raises:
        ValueError: fewer than two clusters, or a total denominator of 0.
    """
    y, m = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    many = np.ones(y.shape) if counts is None else np.asarray(counts, dtype=np.float64)
    clusters, total = float(many.sum()), float(many @ m)
    if clusters <= 1 or total <= 0:
        raise ValueError("a variance between clusters needs two clusters and a positive denominator")
    # Cochran (1977), section 6.3, without the correction for finite populations: items are a sample of all like them.
    residuals = y - float(many @ y) / total * m
    return float(clusters / (clusters - 1) * float(many @ np.square(residuals)) / total**2)


def ratio_kinds(numerators: ArrayLike, denominators: ArrayLike) -> Kinds:
    """Check numerators and denominators, and return the kinds of clusters, with these two columns."""
    y, m = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if y.shape != m.shape or y.ndim != 1:
        raise ValueError(f"numerators and denominators must be two arrays of equal length, got {y.shape} and {m.shape}")
    if np.any(m <= 0):
        raise ValueError("every cluster needs a positive denominator; leave out clusters without trials")
    return kinds_of(np.stack([y, m], axis=1))
