"""What a run holds outside of memory until it is stored: items and cases, and numbers of every trial."""

from __future__ import annotations

import sqlite3
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import IO, Any, Final, Generic, TypeVar, cast

from jrh.document.convert import from_text, to_text
from jrh.errors import StoreError
from jrh.store.texts_table import Compressor, Decompressor
from jrh.values.clusters import BLOCK, ItemBlocks
from jrh.values.items import Item

T = TypeVar("T")

IN_MEMORY: Final = 4000
"""Items that are held: some 12 MB of essays. Reading one from the file takes some 50 microseconds each time."""


def spool_items(items: Iterable[Item]) -> Sequence[Item]:
    """Return items as a sequence: as they are where they are few, and else read from a temporary file block by block.

    The file has no name and goes with the sequence.
    """
    return spool_values(Item, items)


def spool_values(kind: type[T], values: Iterable[T]) -> Sequence[T]:
    """Do the same with values of any kind that is stored as text."""
    spool = Spool(kind)
    spool.add(values)
    return spool.all()


class Spool(Generic[T]):
    """Values that come some at a time; once they are many, all but the last ones wait in a temporary file."""

    def __init__(self, kind: type[T]) -> None:
        """Start without values of a kind that is stored as text."""
        self._kind = kind
        self.clear()

    def clear(self) -> None:
        """Forget all values."""
        self._held: list[T] = []
        self._file: _File | None = None

    def add(self, values: Iterable[T]) -> None:
        """Add values."""
        for value in values:
            self._held.append(value)
            if self._file is None and len(self._held) > IN_MEMORY:
                self._file = _File(self._kind)
            # Written in blocks as `ItemBlocks` reads them.
            while self._file is not None and len(self._held) >= BLOCK:
                self._file.write(self._held[:BLOCK])
                del self._held[:BLOCK]

    def all(self) -> Sequence[T]:
        """Return all values as a sequence; after this no more are added."""
        # Few values stay as they are: reading from a file takes a while each time.
        if self._file is None:
            return tuple(self._held)
        self._file.write(self._held)
        # A sequence of values of this kind, whatever it is called.
        return cast("Sequence[T]", ItemBlocks(self._file.count, self._file.read))


class _File:
    """Blocks of values as compressed lines of text."""

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="jrh-items-")  # noqa: SIM115 - open as long as the sequence
        weakref.finalize(self, self._file.close)
        self._ends: list[int] = [0]
        self._compressor = Compressor()
        self.count = 0

    def write(self, values: Sequence[object]) -> None:
        body = self._compressor.compress("\n".join(map(to_text, values)).encode())
        self._file.seek(0, 2)
        self._file.write(body)
        self._ends.append(self._ends[-1] + len(body))
        self.count += len(values)

    def read(self, start: int, stop: int) -> Sequence[Any]:
        begin, end = self._ends[start // BLOCK : start // BLOCK + 2]
        self._file.seek(begin)
        lines = Decompressor().decompress(self._file.read(end - begin)).decode().split("\n")
        return [from_text(self._kind, line) for line in lines[: stop - start]]


_HELD: Final = 8192
"""Keys in memory: about 1 MB."""
_CACHE: Final = "PRAGMA cache_size = -1000"
"""Kilobytes of the file that SQLite holds."""
_BITS: Final = 2**24
"""Places of the filter: 2 MB. A tenth of the keys that are not there is looked up in vain at three million."""
_SHIFT: Final = 24
_PART: Final = 2**64 - 1
_SIGN: Final = 2**63
"""SQLite's numbers have a sign."""


class NumberTable:
    """Counts by key: the latest in memory, all others in a temporary file.

    The file has no name and goes with the table. Most keys that a run asks for are new: two bits of a filter say so
    without a look into the file (Bloom 1970, not consulted).
    """

    def __init__(self) -> None:
        """Start empty."""
        self._held: dict[int, int] = {}
        self._bits = bytearray()
        """Empty as long as there is no file."""

    def __bool__(self) -> bool:
        """Tell whether there is any key."""
        return bool(self._held or self._bits)

    def get(self, key: int, otherwise: int = 0) -> int:
        """Return the number of a key from 1 to 2**64 - 1, which is part of a hash: its digits spread evenly."""
        number = self._held.get(key)
        if number is not None:
            return number
        # A bit that is not set proves that the key is not in the file. Set bits prove nothing.
        if not self._bits or not all(self._bits[place >> 3] >> (place & 7) & 1 for place in _places(key)):
            return otherwise
        row = self._file.execute("SELECT value FROM numbers WHERE key = ?", (key - _SIGN,)).fetchone()
        return otherwise if row is None else int(row[0])

    def put(self, key: int, value: int) -> None:
        """Set the number of a key, from -2**31 to 2**31 - 1.

        Raises:
            StoreError: the temporary file cannot be written.
        """
        self._held[key] = value
        if len(self._held) >= _HELD:
            self._write()

    def number_of(self, text: str, otherwise: int) -> int:
        """Return the number of a text, and set it where there is none; two texts may share one, once in 2**64."""
        key = part_of(text)
        known = self.get(key, -1)
        if known < 0:
            self.put(key, otherwise)
        return otherwise if known < 0 else known

    def _write(self) -> None:
        """Move all that is held into the file, in the order of its pages."""
        self._bits = self._bits or bytearray(_BITS // 8)
        for key in self._held:
            for place in _places(key):
                self._bits[place >> 3] |= 1 << (place & 7)
        rows = [(key - _SIGN, value) for key, value in sorted(self._held.items())]
        try:
            self._file.executemany("INSERT OR REPLACE INTO numbers VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise StoreError(f"cannot write a temporary file: {error}") from error
        self._held.clear()

    @cached_property
    def _file(self) -> sqlite3.Connection:
        # Without a name SQLite keeps a database in a temporary file; a thread may go on where another stopped.
        file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, file.close)
        file.execute(_CACHE)
        # Nothing is ever rolled back: what is written is lost with the process.
        file.execute("PRAGMA journal_mode = OFF")
        file.execute("CREATE TABLE numbers (key INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
        file.execute("BEGIN")
        return file


def _places(key: int) -> tuple[int, int]:
    # Two places from different bits of one hash: they are independent enough for the filter.
    return key % _BITS, (key >> _SHIFT) % _BITS


def part_of(text: str) -> int:
    """Return a number for a text, the same for this process's life and never 0."""
    return hash(text) & _PART or 1
