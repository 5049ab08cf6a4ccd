"""Many ids in 16 bytes each: a Python text for every id of a large run takes more than all its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from jrh.hashing import ID_LENGTH
from jrh.values.column_file import ColumnFile, Gathering

_BYTES: Final = ID_LENGTH // 2
_KIND: Final = np.dtype(f"S{_BYTES}")
"""Bytes in the order of the digits, so that ids are sorted as their texts are."""


class PackedIds(Sequence[str]):
    """A sequence of ids as `content_id` makes them; texts are made of them one at a time, when they are asked for."""

    __slots__ = ("_blank", "_ids")

    def __init__(self, ids: NDArray[np.bytes_], *, blank: bool = False) -> None:
        """Keep ids of 16 bytes, shape (n,); `blank`: the empty text comes before the first."""
        self._ids = ids
        self._blank = blank

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self._ids) + self._blank

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        """Return the id in a place."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        number = range(len(self))[place] - self._blank
        # NumPy drops the zeros at the end of bytes.
        return "" if number < 0 else self._ids[number].ljust(_BYTES, b"\0").hex()

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the place of an id; the empty text, which many ask for, needs no search."""
        if value == "" and not self._blank:
            raise ValueError(f"{value!r} is not in the sequence")
        return super().index(value, start, len(self) if stop is None else stop)

    def kept_in(self, file: ColumnFile) -> PackedIds:
        """Return the same ids, which wait in a file."""
        return PackedIds(file.put(self._ids), blank=self._blank)

    def ordered(self) -> tuple[PackedIds, NDArray[np.int32]]:
        """Return the ids sorted after the empty text, and the new place of each; -1 takes the last, which is the empty.

        Returns:
            The sorted sequence, and an array of shape (n + 1,).
        """
        order = np.argsort(self._ids, kind="stable")
        place = np.zeros(len(order) + 1, dtype=np.int32)
        place[order] = np.arange(1, len(order) + 1, dtype=np.int32)
        return PackedIds(self._ids[order], blank=True), place


class IdGathering:
    """Gathers a column of ids some rows at a time."""

    def __init__(self, file: ColumnFile) -> None:
        """Start without rows; rows that came earlier wait in a file."""
        self._parts = Gathering(file)

    def __bool__(self) -> bool:
        """Tell whether there are rows."""
        return bool(self._parts)

    def add(self, values: Sequence[str | None]) -> bool:
        """Add rows; do nothing and return False where one of them is no id."""
        ids = _packed(values)
        if ids is not None:
            self._parts.add(ids)
        return ids is not None

    def rows(self) -> Iterable[list[str]]:
        """Yield what was gathered, as texts."""
        return (list(PackedIds(part)) for part in self._parts)

    def column(self, file: ColumnFile) -> tuple[NDArray[np.signedinteger], PackedIds]:
        """Return a code for every row, and the distinct ids in order of first appearance; all of it in a file."""
        every = self._parts.joined(ColumnFile(), _KIND)
        ids, first, codes = np.unique(every, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return file.put(place[codes]), PackedIds(file.put(ids[order]))


def _packed(values: Sequence[str | None]) -> NDArray[np.bytes_] | None:
    if None in values or any(len(value) != ID_LENGTH for value in values if value is not None):
        return None
    text = "".join(value for value in values if value is not None)
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    # White space and capitals would be lost.
    return np.frombuffer(found, dtype=_KIND) if found.hex() == text else None
