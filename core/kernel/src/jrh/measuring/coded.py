"""Text columns as integer codes, and what is counted with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Codes = NDArray[np.signedinteger]
"""Positions in a list of names, -1 for none; or numbers of rows. The columns of trials have 32 bits:
what multiplies codes uses `numbered`, or makes them 64 bits long."""
Mask = NDArray[np.bool_]
"""One truth value per trial."""

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
        return np.broadcast_to(codes[:1].copy(), codes.shape)
    return codes


def is_named(column: Coded, name: str) -> Mask:
    """Return the mask of the rows that have the name."""
    code = column.names.index(name) if name in column.names else -1
    return np.asarray(column.codes == code)


def numbered(*columns: Codes) -> NDArray[np.int64]:
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
        return np.unique(key, return_inverse=True)[1].astype(np.int64, copy=False)
    occurs = np.zeros(size, dtype=np.bool_)
    occurs[key] = True
    if occurs.all():
        return key
    return (np.cumsum(occurs, dtype=np.int64) - 1)[key]


def grouped(key: Codes) -> Iterator[Codes]:
    """Yield the rows of every distinct key, in the order of the keys."""
    if key.max(initial=0) <= np.iinfo(np.int16).max:
        key = key.astype(np.int16)  # numpy sorts short numbers in one pass
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order])) + 1
    if len(order):
        yield from np.split(order.astype(np.int32), ends)
