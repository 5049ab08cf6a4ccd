"""Many ids in 16 bytes each: a Python text for every id of a large run takes more than all its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from jrh.hashing import ID_LENGTH
from jrh.values.column_file import ColumnFile, Gathering

WORDS: Final = ID_LENGTH // 16
WORD: Final = np.dtype(">u8")
"""As the digits are written, so that the order of the numbers is that of the texts."""
PART: Final = 2**16
"""Rows of a column that are gone through at once."""
_SHARES: Final = 4
"""Ids are sorted in shares by so many of their first bits: what sorting needs besides the ids takes a 16th."""


class PackedIds(Sequence[str]):
    """A sequence of ids as `content_id` makes them; texts are made of them one at a time, when they are asked for."""

    __slots__ = ("_blank", "_order", "words")

    def __init__(
        self, words: NDArray[np.unsignedinteger], *, blank: bool = False, order: NDArray[np.signedinteger] | None = None
    ) -> None:
        """Keep ids as big-endian words of shape (n, 2).

        Args:
            words: of the ids.
            blank: whether the empty text comes before the first.
            order: places in `words`, in the order of the sequence; None: as they stand.
        """
        self.words = words
        self._blank = blank
        self._order = order

    def __len__(self) -> int:
        """Return the number of ids."""
        return len(self.words) + self._blank

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
        words = self.words[number if self._order is None else self._order[number]]
        return bytes(words).hex()

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the place of an id; the empty text, which many ask for, needs no search."""
        if value == "" and not self._blank:
            raise ValueError(f"{value!r} is not in the sequence")
        return super().index(value, start, len(self) if stop is None else stop)

    def kept_in(self, file: ColumnFile) -> PackedIds:
        """Return the same ids, which wait in a file."""
        return PackedIds(
            file.put(self.words), blank=self._blank, order=None if self._order is None else file.put(self._order)
        )

    def ordered(self) -> tuple[PackedIds, NDArray[np.int32]]:
        """Return the ids sorted after the empty text, and the new place of each; -1 takes the last, which is the empty.

        Returns:
            The sorted sequence, and an array of shape (n + 1,).
        """
        order, at = np.empty(len(self.words), dtype=np.int32), 0
        place = np.zeros(len(order) + 1, dtype=np.int32)
        for rows, _ in _sorted_shares(self.words):
            order[at : at + len(rows)] = rows
            place[rows] = np.arange(at + 1, at + 1 + len(rows), dtype=np.int32)
            at += len(rows)
        return PackedIds(self.words, blank=True, order=order), place


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

    def column(self, file: ColumnFile) -> tuple[NDArray[np.signedinteger], PackedIds]:
        """Return a code for every row, and the distinct ids in order of first appearance; all of it in a file."""
        own = ColumnFile()
        words = self._parts.joined(own, WORD)
        first = np.empty(len(words), dtype=np.int32)
        """The first row with the same id."""
        for rows, new in _sorted_shares(words):
            first[rows] = rows[new][np.cumsum(new) - 1]
        own.release()
        is_first = first == np.arange(len(first), dtype=np.int32)
        number = np.cumsum(is_first, dtype=np.int32)
        number -= 1
        for part in _parts(len(first)):
            first[part] = number[first[part]]
        ids = (words[part][is_first[part]] for part in _parts(len(first)))
        distinct = int(number[-1]) + 1 if len(number) else 0
        return file.put(first), PackedIds(file.joined(ids, (distinct, WORDS), WORD))


def _parts(rows: int) -> Iterator[slice]:
    return (slice(start, start + PART) for start in range(0, rows, PART))


def _sorted_shares(words: NDArray[np.unsignedinteger]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.bool_]]]:
    """Yield rows by their ids, equal ones as they came, and which of them start another id; a share at a time."""
    if len(words) <= PART:
        yield _sorted(np.arange(len(words), dtype=np.int32), words)
        return
    share = np.concatenate([words[part, 0] >> (64 - _SHARES) for part in _parts(len(words))], dtype=np.uint8)
    for number in range(2**_SHARES):
        rows = np.flatnonzero(share == number).astype(np.int32)
        yield _sorted(rows, words[rows])


def _sorted(rows: NDArray[np.int32], words: NDArray[np.unsignedinteger]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    # Two ids with an equal first half are nearly always the same: sorting halves takes a third of the memory.
    half = words[:, 0].astype(np.uint64)
    order = np.argsort(half, kind="stable")
    half = half[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = half[1:] != half[:-1]
    again = np.flatnonzero(~new)
    if (words[order[again], 1] != words[order[again - 1], 1]).any():
        order = np.lexsort(words.T[::-1])
        new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    return rows[order], new


def _words(values: Sequence[str | None]) -> NDArray[np.unsignedinteger] | None:
    if None in values or any(len(value) != ID_LENGTH for value in values if value is not None):
        return None
    text = "".join(value for value in values if value is not None)
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    # White space and capitals would be lost.
    return np.frombuffer(found, dtype=WORD).reshape(-1, WORDS) if found.hex() == text else None
