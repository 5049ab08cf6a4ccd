"""Items and cases that are not in the store yet: many of them wait in a temporary file, not in memory."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Sequence
from typing import IO, Any, Final, Generic, TypeVar, cast

from jrh.document.serial import from_text, to_text
from jrh.store.packing import Compressor, decompressed
from jrh.values.item_blocks import BLOCK, ItemBlocks
from jrh.values.items import Item

T = TypeVar("T")

IN_MEMORY: Final = 4000
"""Items that are held: some 12 MB of essays. Reading one from the file takes some 50 microseconds each time."""


def spooled(items: Iterable[Item]) -> Sequence[Item]:
    """Return items as a sequence: as they are where they are few, and else read from a temporary file block by block.

    The file has no name and goes with the sequence.
    """
    return spooled_as(Item, items)


def spooled_as(kind: type[T], values: Iterable[T]) -> Sequence[T]:
    """Do the same with values of any kind that is stored as text."""
    spool = Spool(kind)
    spool.add(values)
    return spool.all()


class Spool(Generic[T]):
    """Values that come some at a time."""

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
            if self._file is not None:
                self._file.add(value)
                continue
            self._held.append(value)
            if len(self._held) > IN_MEMORY:
                self._file = _File(self._kind)
                for each in self._held:
                    self._file.add(each)
                self._held.clear()

    def all(self) -> Sequence[T]:
        """Return all values as a sequence; after this no more are added."""
        # A sequence of values of this kind, whatever it is called.
        return tuple(self._held) if self._file is None else cast("Sequence[T]", self._file.blocks())


class _File:
    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="jrh-items-")  # noqa: SIM115 - open as long as the sequence
        weakref.finalize(self, self._file.close)
        self._ends: list[int] = [0]
        self._compressor = Compressor()
        self._waiting: list[str] = []
        self._count = 0

    def add(self, value: object) -> None:
        self._waiting.append(to_text(value))
        self._count += 1
        if len(self._waiting) == BLOCK:
            self._write()

    def blocks(self) -> ItemBlocks:
        self._write()
        return ItemBlocks(self._count, self._read)

    def _write(self) -> None:
        body = self._compressor.compressed("\n".join(self._waiting).encode())
        self._file.seek(0, 2)
        self._file.write(body)
        self._ends.append(self._ends[-1] + len(body))
        self._waiting.clear()

    def _read(self, start: int, stop: int) -> Sequence[Any]:
        begin, end = self._ends[start // BLOCK : start // BLOCK + 2]
        self._file.seek(begin)
        lines = decompressed(self._file.read(end - begin)).decode().split("\n")
        return [from_text(self._kind, line) for line in lines[: stop - start]]
