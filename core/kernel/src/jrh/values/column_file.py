"""Large arrays wait in a temporary file: what no one reads at the moment takes no memory."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, Final, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

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


class _Process:
    """What must differ after a fork: two processes that go on with one file would write over each other's arrays."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Start another file in every table; a thread that wrote at the moment of the fork is not there any more."""
        self.writing = threading.Lock()
        self.own = object()


_PROCESS: Final = _Process()


@attrs.frozen(eq=False)
class _Mapped:
    """A part of the file, and where in it the next array can be."""

    map: mmap.mmap
    start: int
    """Where the part starts in the file."""
    used: int = 0
    """Bytes of it that hold arrays."""


@attrs.frozen(eq=False)
class _Room:
    """Where one array is written, and from where it is read."""

    map: mmap.mmap
    offset: int
    """Where the array starts in the map."""
    file: int
    """File descriptor."""
    position: int
    """Where the array starts in the file."""

    def write(self, data: memoryview, at: int = 0) -> None:
        """Write bytes of the array, or raise `OSError`."""
        done = 0
        while done < len(data):
            done += os.pwrite(self.file, data[done:], self.position + at + done)

    def bytes(self, size: int) -> NDArray[np.uint8]:
        """Return the first bytes of the array."""
        return np.frombuffer(self.map, dtype=np.uint8, count=size, offset=self.offset)


class ColumnFile:
    """A temporary file of arrays, read by mapping it; the system keeps in memory what is being read.

    The file has no name, and its room on the disk is free again once no array of it is in use. Where nothing can be
    written, as on a full disk, arrays stay in memory.
    """

    def __init__(self) -> None:
        """Start without a file."""
        self._file: IO[bytes] | None = None
        self._maps: list[mmap.mmap] = []
        self._last: _Mapped | None = None
        self._process = _PROCESS.own
        self._full = not _MAPPED

    def __reduce__(self) -> tuple[type[ColumnFile], tuple[()]]:
        """Pickle as another file: arrays of this one are pickled with what they hold."""
        return ColumnFile, ()

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an equal array that is read-only, and in the file if it is large and holds nothing but its bytes."""
        if not self._full and array.nbytes >= _LEAST and _is_bytes(array) and not is_mapped(array):
            try:
                array = self._written(array)
            except OSError:  # no room: what is there stays, and nothing more is written
                self._full = True
            self.release()
        array.flags.writeable = False
        return array

    def release(self) -> None:
        """Let go of the memory of all arrays in the file; they are read from it again when they are needed."""
        for each in self._maps:
            with suppress(OSError):  # memory that the process has locked
                each.madvise(mmap.MADV_DONTNEED)

    def joined(self, parts: Iterable[NDArray[Any]], shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
        """Return parts as one read-only array, in the file if it is large: they are not in memory together.

        Args:
            parts: arrays along the first axis, taken one after the other.
            shape: of the whole.
            kind: of the whole.

        Raises:
            BufferError: together, the parts have another size.
        """
        size, at = math.prod(shape) * kind.itemsize, 0
        room = self._reserved(size) if size >= _LEAST else None
        found = np.empty(size, dtype=np.uint8) if room is None else room.bytes(size)
        for part in parts:
            data = _bytes_of(np.ascontiguousarray(part, dtype=kind))
            if at + len(data) > size:
                raise BufferError(f"more than {size} bytes for an array of shape {shape}")
            if room is not None:
                try:
                    room.write(data, at)
                except OSError:
                    self._full, room = True, None
                    found = np.concatenate([found[:at], np.empty(size - at, dtype=np.uint8)])
            if room is None:
                found[at : at + len(data)] = data
            at += len(data)
            self.release()
        if at < size:
            raise BufferError(f"{at} bytes for an array of shape {shape}, which has {size}")
        whole: NDArray[Any] = found.view(kind).reshape(shape)
        whole.flags.writeable = False
        return whole

    def _written(self, array: NDArray[Any]) -> NDArray[Any]:
        # The axes keep their order in memory: sums along them depend on it in their last digit.
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        rows = np.asarray(array.transpose(axes), order="C")
        room = self._reserved(rows.nbytes)
        if room is None:
            return array
        room.write(_bytes_of(rows))
        return room.bytes(rows.nbytes).view(array.dtype).reshape(rows.shape).transpose(np.argsort(axes))

    def _reserved(self, size: int) -> _Room | None:
        """Return where an array can be; None where the file cannot grow."""
        if self._full:
            return None
        try:
            with _PROCESS.writing:
                if self._process is not _PROCESS.own:
                    self._file, self._last, self._process = None, None, _PROCESS.own
                last = self._mapped(size)
                used = last.used + size
                self._last = attrs.evolve(last, used=-(-used // _ALIGNED) * _ALIGNED)
                return _Room(last.map, last.used, self._number(), last.start + last.used)
        except OSError:  # no room: what is there stays, and nothing more is written
            self._full = True
            return None

    def _mapped(self, size: int) -> _Mapped:
        """Return the last part of the file; map more of it if that has no room for an array."""
        last = self._last
        if last is not None and last.used + size <= len(last.map):
            return last
        length = -(-max(size, _CHUNK) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        start = last.start + len(last.map) if last is not None else 0
        os.truncate(self._number(), start + length)
        more = mmap.mmap(self._number(), length, prot=mmap.PROT_READ, offset=start)
        self._maps.append(more)
        return _Mapped(more, start)

    def _number(self) -> int:
        if self._file is None:
            _give_back()
            self._file = tempfile.TemporaryFile(prefix="jrh-columns-")  # noqa: SIM115 - open as long as the arrays
            weakref.finalize(self, self._file.close)
        return self._file.fileno()


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array whose rows lie one after the other."""
    return array.reshape(-1).view(np.uint8).data


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

    def joined(self, file: ColumnFile, kind: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Return all rows as one array, in a file if it is large, of the type given or of one that holds them all."""
        none = np.concatenate([part[:0] for part in self], dtype=kind)
        shape = (sum(map(len, self)), *none.shape[1:])
        return file.joined(self._read(), shape, none.dtype)

    def _read(self) -> Iterator[NDArray[Any]]:
        for part in self:  # what was copied is let go before the next part is read
            yield part
            self._file.release()

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows."""
        self._held.append(rows)
        if sum(each.nbytes for each in self._held) >= _LEAST:
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
    return type(array) is np.ndarray and not array.dtype.hasobject and 0 not in array.strides


def is_mapped(array: NDArray[Any]) -> bool:
    """Tell whether an array, or what it is a view of, is in a file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)
