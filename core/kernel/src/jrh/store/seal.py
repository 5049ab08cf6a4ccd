"""The checksum of a whole store, kept in the file itself from one orderly close to the next opening for writing.

SQLite notices broken pages and not changed bytes: a digit of a cost, a letter of an id. The checksum stands where a
database names its application (bytes 68 to 71 of its header, which SQLite leaves alone); 0 means that the store is
being written, or that its process was killed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import crc32

from jrh.errors import DamagedStoreError
from jrh.store.writer import SALVAGE

_PLACE: Final = slice(68, 72)
_VERSION: Final = slice(60, 64)
"""Where SQLite keeps `user_version`."""
_NONE: Final = bytes(4)
_AT_ONCE: Final = 1 << 20
_OPEN: Final[Counter[Path]] = Counter()
"""Stores that this process has open. Closing any handle of such a file would drop the locks that SQLite has on it."""

_FOUND_WHOLE: Final[dict[Path, tuple[int, int, int]]] = {}
"""Stores that were found whole, as they were then: who pages through a large run reads its file once."""


def check(path: Path, version: int) -> None:
    """Compare a store of this schema version with its checksum, unless it has none or this process has it open.

    Raises:
        DamagedStoreError: it changed after it was closed.
    """
    place = path.resolve()
    if _OPEN[place] or (path.is_file() and _FOUND_WHOLE.get(place) == _state(path)):
        return
    before = _NONE
    while (kept := _kept(path, version)) not in (_NONE, before):
        state = _state(path)
        if _computed(path) == kept:
            _FOUND_WHOLE[place] = state
            return
        before = kept  # another process may have begun to write meanwhile: then the checksum is gone or another
    if kept != _NONE:
        raise DamagedStoreError(
            f"'{path}' is damaged (it changed after jrh wrote it). {SALVAGE.format(name=path.parent)}"
        )


def lift(path: Path, version: int) -> None:
    """Check a store and take its checksum away, before it is opened for writing."""
    if path.is_file() and path.stat().st_size:
        check(path, version)
        if _kept(path, version) != _NONE:
            _write(path, _NONE)


def close(path: Path) -> None:
    """Write the checksum of a store that was closed; not where its log still holds pages, which a reader keeps open."""
    log = path.with_name(f"{path.name}-wal")
    with suppress(OSError):
        if not _OPEN[path.resolve()] and not (log.is_file() and log.stat().st_size):
            _write(path, _computed(path))


def opened(path: Path) -> None:
    """Note that this process has a store open."""
    _OPEN[path.resolve()] += 1


def closed(path: Path) -> None:
    """Note that this process has closed it."""
    _OPEN[path.resolve()] -= 1


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _kept(path: Path, version: int) -> bytes:
    try:
        with path.open("rb") as file:
            header = file.read(_PLACE.stop)
    except OSError:
        return _NONE  # opening the store says why
    # A store of another version is refused for that.
    known = len(header) == _PLACE.stop and int.from_bytes(header[_VERSION], "big") == version
    return header[_PLACE] if known else _NONE


def _computed(path: Path) -> bytes:
    total = 0
    for part in _parts(path):
        total = crc32(part, total)
    return (total or 1).to_bytes(4, "big")


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        start = bytearray(file.read(_AT_ONCE))
        start[_PLACE] = _NONE
        yield bytes(start)
        while part := file.read(_AT_ONCE):
            yield part


def _write(path: Path, four: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(_PLACE.start)
        file.write(four)
        file.flush()
        os.fsync(file.fileno())
