"""Text columns as integer codes, and what is counted with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh_stats import parts_of
from numpy.typing import NDArray

Codes = NDArray[np.signedinteger]
"""Positions in a list of names, -1 for none; or numbers of rows. The columns of trials have 32 bits:
what multiplies codes uses `combine_codes`, or makes them 64 bits long."""
Mask = NDArray[np.bool_]
"""One truth value per trial."""
Floats = NDArray[np.float64]
"""Numbers, such as scores."""

_COUNTED: Final = 2
"""Keys for each row that are counted rather than sorted; a count takes less memory than sorting."""
_SMALL: Final = 1024
_LARGEST: Final = 2**31


@frozen(kw_only=True)
class Coded:
    """A text column as positions in a sorted list of names; None is the empty text."""

    codes: Codes
    names: Sequence[str]


def compact(codes: Codes) -> Codes:
    """Return codes as a column of trials: 32 bits each; where all are equal, the room of one. Not to be written."""
    if codes.dtype != np.int32 and codes.max(initial=0) < _LARGEST:
        codes = codes.astype(np.int32)
    if len(codes) > 1 and (codes == codes[0]).all():
        # A view of a single code: a constant column takes four bytes, however many rows there are.
        return np.broadcast_to(codes[:1].copy(), codes.shape)
    return codes


def is_named(column: Coded, name: str) -> Mask:
    """Return the mask of the rows that have the name."""
    code = column.names.index(name) if name in column.names else -1
    return np.asarray(column.codes == code)


def number_of(codes: Codes, rows: Codes) -> int:
    """Count the distinct codes, -1 among them, of some rows."""
    top = max((int(codes[rows[part]].max()) for part in parts_of(len(rows)) if len(rows)), default=-1)
    occurs = np.zeros(top + 2, dtype=np.bool_)
    for part in parts_of(len(rows)):
        occurs[codes[rows[part]]] = True  # the place of -1 is the last
    return int(np.count_nonzero(occurs))


def combine_codes(*columns: Codes) -> NDArray[np.int64]:
    """Number the distinct combinations of codes, which are 0 or more, in their order; shape (n,), 64 bits each."""
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width > _COUNTED * len(key) + _SMALL:  # the product of many sizes would overflow
            key = _dense(key, size)
            size = int(key.max(initial=0)) + 1
        key *= width
        key += column
        size *= width
    return _dense(key, size)


def _dense(key: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Number the keys that occur, in their order; keys below a small size are counted instead of sorted."""
    if size > _COUNTED * len(key) + _SMALL:
        return _number_by_sorting(key)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[key] = True
    # Every number occurs: they have no gaps.
    if occurs.all():
        return key
    number = np.cumsum(occurs, dtype=np.int32 if size < _LARGEST else np.int64) - 1
    for part in parts_of(len(key)):  # each number is of use once: it makes room for the new one
        key[part] = number[key[part]]
    return key


def _number_by_sorting(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number keys in their order by sorting them, in half the memory that `numpy.unique` takes; the keys are lost."""
    order = np.argsort(key, kind="stable")
    number = -1
    last = None
    for part in parts_of(len(order)):
        rows = order[part]
        sorted_keys = key[rows]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = sorted_keys[1:] != sorted_keys[:-1]
        if len(rows):
            new[0] = sorted_keys[0] != last
            last = sorted_keys[-1]
        key[rows] = number + np.cumsum(new)  # a row is read once: its key makes room for its number
        number += int(np.count_nonzero(new))
    return key


def split_rows(key: Codes) -> Iterator[Codes]:
    """Yield the rows of every distinct key, in the order of the keys."""
    if key.max(initial=0) <= np.iinfo(np.int16).max:
        key = key.astype(np.int16)  # numpy sorts short numbers in one pass
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order])) + 1
    if len(order):
        yield from np.split(order.astype(np.int32), ends)
