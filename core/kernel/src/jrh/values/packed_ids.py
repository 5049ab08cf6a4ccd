"""Many ids in 16 bytes each: a Python text for every id of a large run takes more than all its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from jrh.hashing import ID_LENGTH
from jrh.values.column_file import ColumnFile, Gathering

_WORDS: Final = ID_LENGTH // 16
_WORD: Final = np.dtype(">u8")
"""As the digits are written, so that the order of the numbers is that of the texts."""


class PackedIds(Sequence[str]):
    """A sequence of ids as `content_id` makes them; texts are made of them one at a time, when they are asked for."""

    __slots__ = ("_blank", "_order", "_words")

    def __init__(
        self, words: NDArray[np.unsignedinteger], *, blank: bool = False, order: NDArray[np.signedinteger] | None = None
    ) -> None:
        """Keep ids as big-endian words of shape (n, 2).

        Args:
            words: of the ids.
            blank: whether the empty text comes before the first.
            order: places in `words`, in the order of the sequence; None: as they stand.
        """
        self._words = words
        self._blank = blank
        self._order = order

    def to_bytes(self) -> memoryview:
        """Return the ids as bytes; the empty text of `blank` is left out."""
        return as_bytes(self._words)

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> PackedIds:
        """Return the ids of which `to_bytes` made bytes."""
        return cls(np.frombuffer(data, dtype=_WORD).reshape(-1, _WORDS))

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self._words) + self._blank

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        """Return the id in a place."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        number = range(len(self))[place] - self._blank
        if number < 0:
            return ""
        words = self._words[number if self._order is None else self._order[number]]
        return bytes(words).hex()

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the place of an id; the empty text, which many ask for, needs no search."""
        if value == "" and not self._blank:
            raise ValueError(f"{value!r} is not in the sequence")
        return super().index(value, start, len(self) if stop is None else stop)

    def kept_in(self, file: ColumnFile) -> PackedIds:
        """Return the same ids, which wait in a file."""
        return PackedIds(
            file.put(self._words), blank=self._blank, order=None if self._order is None else file.put(self._order)
        )

    def ordered(self) -> tuple[PackedIds, NDArray[np.int32]]:
        """Return the ids sorted after the empty text, and the new place of each; -1 takes the last, which is the empty.

        Returns:
            The sorted sequence, and an array of shape (n + 1,).
        """
        order = _order(self._words)[0]
        place = np.zeros(len(order) + 1, dtype=np.int32)
        place[order] = np.arange(1, len(order) + 1, dtype=np.int32)
        return PackedIds(self._words, blank=True, order=order), place


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array without copying them, if they are in order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


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
        words = _words(values)
        if words is not None:
            self._parts.add(words)
        return words is not None

    def rows(self) -> Iterable[list[str]]:
        """Yield what was gathered, as texts."""
        return (list(PackedIds(part)) for part in self._parts)

    def column(self) -> tuple[NDArray[np.signedinteger], PackedIds]:
        """Return a code for every row, and the distinct ids in order of first appearance."""
        words = self._parts.joined(_WORD)
        order, new = _order(words)
        # The order is stable: the first row of every group is where its id appears first.
        first = np.sort(order[new])
        place = np.empty(len(first), dtype=np.int32)
        place[np.argsort(order[new], kind="stable")] = np.arange(len(first), dtype=np.int32)
        codes = np.empty(len(order), dtype=np.int32)
        codes[order] = place[np.cumsum(new, dtype=np.int32) - 1]
        return codes, PackedIds(words if len(first) == len(words) else words[first])


def _order(words: NDArray[np.unsignedinteger]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the rows by their ids, equal ones as they came, and which of them in this order start another id."""
    # Two ids with an equal first half are nearly always the same: sorting halves takes a third of the memory.
    half = words[:, 0].astype(np.uint64)
    order = np.argsort(half, kind="stable").astype(np.int32)
    half = half[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = half[1:] != half[:-1]
    again = np.flatnonzero(~new)
    if (words[order[again], 1] != words[order[again - 1], 1]).any():
        order = np.lexsort(words.T[::-1]).astype(np.int32)
        new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    return order, new


def _words(values: Sequence[str | None]) -> NDArray[np.unsignedinteger] | None:
    if None in values or any(len(value) != ID_LENGTH for value in values if value is not None):
        return None
    text = "".join(value for value in values if value is not None)
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    # White space and capitals would be lost.
    return np.frombuffer(found, dtype=_WORD).reshape(-1, _WORDS) if found.hex() == text else None
