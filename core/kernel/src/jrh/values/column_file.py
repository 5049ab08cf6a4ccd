"""Large arrays wait in a temporary file, and ids take 16 bytes each: a large run holds little in memory.

What no one reads at the moment takes no memory. A Python text for every id of a large run would take more than all its
numbers.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, Final, TypeVar, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from jrh.hashing import ID_LENGTH

T = TypeVar("T")

_LEAST: Final = 2**18
"""Bytes of an array from which on it waits in the file: below, all columns of a table together are a few megabytes."""
_CHUNK: Final = 2**26
"""Bytes that are mapped at once; a file grows only by what is written."""
_ALIGNED: Final = 64
_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD` of glibc's `malloc.h`."""
_LARGE: Final = 2**19
_MAPPED: Final = hasattr(mmap, "MADV_DONTNEED") and hasattr(os, "pwrite")
"""Elsewhere, as on Windows, all arrays stay in memory."""


@attrs.define(eq=False)
class _Part:
    """A part of the file, and where in it the next array can be."""

    map: mmap.mmap
    start: int
    """Where the part starts in the file."""
    used: int = 0
    """Bytes of it that hold arrays."""


class ColumnFile:
    """A temporary file of arrays, read by mapping it; the system keeps in memory what is being read.

    The file has no name, and its room on the disk is free again once no array of it is in use. Where nothing can be
    written, as on a full disk, arrays stay in memory.
    """

    def __init__(self) -> None:
        """Start without a file."""
        self._maps: list[mmap.mmap] = []
        self._full = not _MAPPED
        self._begin_file()

    def _begin_file(self) -> None:
        self._file: IO[bytes] | None = None
        self._last: _Part | None = None
        self._writing = threading.Lock()
        self._process = os.getpid()

    def __reduce__(self) -> tuple[type[ColumnFile], tuple[()]]:
        """Pickle as another file: arrays of this one are pickled with what they hold."""
        # Neither a mapping nor a lock can be pickled.
        return ColumnFile, ()

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an equal array that is read-only, and in the file if it is large and holds nothing but its bytes."""
        # What is in a file already, or is a view of it, is not written again.
        if not self._full and array.nbytes >= _LEAST and _is_bytes(array) and not is_mapped(array):
            try:
                array = self._write(array)
            except OSError:  # no room: what is there stays, and nothing more is written
                self._full = True
            self.release()
        # Also where it stays in memory: whether an array may be written must not depend on its size.
        array.flags.writeable = False
        return array

    def release(self) -> None:
        """Let go of the memory of all arrays in the file; they are read from it again when they are needed."""
        for mapping in self._maps:
            with suppress(OSError):  # memory that the process has locked
                mapping.madvise(mmap.MADV_DONTNEED)

    def join(self, parts: Iterable[NDArray[Any]], shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        """Return parts as one read-only array, in the file if it is large.

        Args:
            parts: arrays along the first axis, taken one after the other: they are not in memory together.
            shape: of the whole.
            kind: of the whole.

        Raises:
            BufferError: together, the parts have another size.
        """
        # Filled part by part: with `np.concatenate` all parts would be in memory together.
        array: NDArray[Any] = np.empty(shape, dtype=kind)
        rows = 0
        for part in parts:
            if rows + len(part) <= len(array):
                array[rows : rows + len(part)] = part
            rows += len(part)
        if rows != len(array):
            raise BufferError(f"{rows} rows for an array of shape {shape}")
        return self.put(array)

    def _write(self, array: NDArray[Any]) -> NDArray[Any]:
        if self._process != os.getpid():  # after a fork, two processes would write over each other's arrays
            self._begin_file()
        # The axes keep their order in memory: sums along them depend on it in their last digit.
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        rows = np.asarray(array.transpose(axes), order="C")
        data, done = rows.reshape(-1).view(np.uint8).data, 0
        # Only the place is reserved under the lock: several threads write at once, each in its own place.
        with self._writing:
            number, part = self._room_for(len(data))
            offset = part.used
            part.used += -(-len(data) // _ALIGNED) * _ALIGNED
        # One call may write less than it is given, such as 2 GB on Linux.
        while done < len(data):
            done += os.pwrite(number, data[done:], part.start + offset + done)
        view = np.frombuffer(part.map, dtype=np.uint8, count=len(data), offset=offset)
        return view.view(array.dtype).reshape(rows.shape).transpose(np.argsort(axes))

    def _room_for(self, size: int) -> tuple[int, _Part]:
        """Return the file's number and the part where an array can be; map more of the file if the last has no room."""
        if self._file is None:
            # Before the first large array: the stages before have left memory that is free and still held.
            _give_back()
            self._file = tempfile.TemporaryFile(prefix="jrh-columns-")  # noqa: SIM115 - open as long as the arrays
            # The arrays keep their mapping: the system frees the file with the last of them.
            weakref.finalize(self, self._file.close)
        number, last = self._file.fileno(), self._last
        if last is None or last.used + size > len(last.map):
            length = -(-max(size, _CHUNK) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            start = last.start + len(last.map) if last is not None else 0
            # The file is longer than what it holds: a hole takes no room on the disk.
            os.truncate(number, start + length)
            last = self._last = _Part(mmap.mmap(number, length, prot=mmap.PROT_READ, offset=start), start)
            self._maps.append(last.map)
        return number, last


class Gathering:
    """An array that comes some rows at a time; rows that came earlier wait in a file."""

    def __init__(self, file: ColumnFile) -> None:
        """Start without rows."""
        self._file = file
        self._parts: list[NDArray[Any]] = []
        self._held: list[NDArray[Any]] = []

    def __bool__(self) -> bool:
        """Tell whether there are rows, or arrays without any."""
        return bool(self._parts or self._held)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield what was gathered, in order."""
        yield from self._parts
        yield from self._held

    def join(self, file: ColumnFile, kind: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Return all rows as one array, in a file if it is large, of the type given or of one that holds them all."""
        # Of no rows: the type that holds all parts, without copying any.
        none = np.concatenate([part[:0] for part in self], dtype=kind)
        return file.join(self._read(), (sum(map(len, self)), *none.shape[1:]), none.dtype)

    def _read(self) -> Iterator[NDArray[Any]]:
        for part in self:  # what was copied is let go before the next part is read
            yield part
            self._file.release()

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows."""
        # Gathered until they are worth a place in the file.
        self._held.append(rows)
        if sum(rows_held.nbytes for rows_held in self._held) >= _LEAST:
            self._parts.append(self._file.put(np.concatenate(self._held)))
            self._held.clear()


def _give_back() -> None:
    """Have the C library give memory back to the system: what is free, and each array of half a megabyte when it is.

    Left to itself, glibc keeps ever larger pieces: some 30 MB of a million records, and what the stages before used.
    """
    with suppress(OSError, AttributeError, TypeError):  # another library, or none that can be told
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)


def _is_bytes(array: NDArray[Any]) -> bool:
    """Tell whether an array is no more than its bytes: no mask, no references to objects, no value for many rows."""
    # A stride of 0 shows one value in many rows, which would fill the file.
    return type(array) is np.ndarray and not array.dtype.hasobject and 0 not in array.strides


def is_mapped(array: NDArray[Any]) -> bool:
    """Tell whether an array, or what it is a view of, is in a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


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
            return [self[index] for index in range(*place.indices(len(self)))]
        number = range(len(self))[place] - self._blank
        # NumPy drops the zeros at the end of bytes.
        return "" if number < 0 else self._ids[number].ljust(_BYTES, b"\0").hex()

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the place of an id; the empty text, which many ask for, needs no search."""
        # Or every id would be made into a text just to find that none is empty.
        if value == "" and not self._blank:
            raise ValueError(f"{value!r} is not in the sequence")
        return super().index(value, start, len(self) if stop is None else stop)

    def store_in(self, file: ColumnFile) -> PackedIds:
        """Return the same ids, which wait in a file."""
        return PackedIds(file.put(self._ids), blank=self._blank)

    def sort(self) -> tuple[PackedIds, NDArray[np.int32]]:
        """Return the ids sorted after the empty text, and the new place of each; -1 takes the last, which is the empty.

        Returns:
            The sorted sequence, and an array of shape (n + 1,).
        """
        order = np.argsort(self._ids, kind="stable")
        place = np.zeros(len(order) + 1, dtype=np.int32)
        place[order] = np.arange(1, len(order) + 1, dtype=np.int32)
        return PackedIds(self._ids[order], blank=True), place


class IdGathering(Gathering):
    """A column of ids that comes some rows at a time."""

    def add_ids(self, values: Sequence[str | None]) -> bool:
        """Add rows; do nothing and return False where one of them is no id."""
        ids = _pack_ids(values)
        if ids is not None:
            self.add(ids)
        return ids is not None

    def rows(self) -> Iterable[list[str]]:
        """Yield what was gathered, as texts."""
        return (list(PackedIds(part)) for part in self)

    def column(self, file: ColumnFile) -> tuple[NDArray[np.signedinteger], PackedIds]:
        """Return a code for every row, and the distinct ids in order of first appearance; all of it in a file."""
        ids, first, codes = np.unique(self.join(ColumnFile(), _KIND), return_index=True, return_inverse=True)
        # `np.unique` sorts the ids; categories are in order of first appearance.
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return file.put(place[codes]), PackedIds(file.put(ids[order]))


def _pack_ids(values: Sequence[str | None]) -> NDArray[np.bytes_] | None:
    if None in values or any(len(value) != ID_LENGTH for value in values if value is not None):
        return None
    text = "".join(value for value in values if value is not None)
    try:
        packed = bytes.fromhex(text)
    except ValueError:
        return None
    # White space and capitals would be lost.
    return np.frombuffer(packed, dtype=_KIND) if packed.hex() == text else None
