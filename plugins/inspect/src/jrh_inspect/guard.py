"""Reject a broken or maliciously large log before unpacking anything."""

from __future__ import annotations

import copy
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from attrs import frozen
from jrh import JrhError

MOST_MEMBERS: Final = 200_000
_MEGABYTE: Final = 1_000_000
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93})
"""Accepted compression methods: stored, deflated, Zstandard."""
_CHUNK: Final = 1_024
"""Bytes read at once. Zstandard unpacks everything it is given, up to 32,000 times as much."""
_SMALL: Final = 64 * _MEGABYTE
"""Sizes below this skip the ratio check: a small, repetitive file is harmless."""
_ENCRYPTED: Final = 0x1
_HEADERS: Final = ("header.json", "_journal/start.json")
_END, _END_64, _START = b"PK\x05\x06", b"PK\x06\x06", b"PK\x03\x04"
_TAIL: Final = 66_000
"""Bytes at the end of a file that are enough for the end record with its longest comment."""


@frozen(kw_only=True)
class Bounds:
    """Limits on the size of a log."""

    max_mb: int
    max_ratio: int


def check_log(path: Path, shown: str, bounds: Bounds) -> None:
    """Check a log's size and, for an archive, the number, sizes, ratios and names of its members.

    Only the archive's directory is read; nothing is unpacked.

    Raises:
        JrhError: The log is rejected; the message says why.
    """
    if path.suffix == ".eval":
        with _archive(path, shown) as archive:
            _check_members(archive.infolist(), shown, bounds)
        return
    size = path.stat().st_size
    if size > bounds.max_mb * _MEGABYTE:
        raise _too_large(shown, size, bounds)


def verify_content(path: Path, shown: str) -> None:
    """Verify sizes and checksums by unpacking every member in chunks; nothing is kept.

    Raises:
        JrhError: A member is damaged or longer than declared.
    """
    with _archive(path, shown) as archive:
        for member in archive.infolist():
            _verify(archive, member, shown)


@contextmanager
def _archive(path: Path, shown: str) -> Iterator[zipfile.ZipFile]:
    try:
        with path.open("rb") as file:
            # Before `ZipFile`, which builds the list of members: a few bytes can claim a billion of them.
            _check_count(file, shown)
            with zipfile.ZipFile(file) as archive:
                yield archive
    except OSError as error:
        raise JrhError(f"{shown}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise JrhError(f"{shown}: the archive is damaged: {error}; write the log again") from error


def _check_count(file: IO[bytes], shown: str) -> None:
    """Check the member count in the end record before building the member list."""
    size = file.seek(0, 2)
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    file.seek(0)
    start = file.read(4)
    file.seek(0)
    at = tail.rfind(_END)
    if at < 0 or at + 22 > len(tail):
        if start == _START:
            raise JrhError(f"{shown}: the archive is cut short: its end is missing; copy the log again")
        raise JrhError(f"{shown} is not an Inspect log: an .eval file is a zip archive, and this is not one")
    (count,) = struct.unpack_from("<H", tail, at + 10)
    # Archives of more than 65,535 members have a second end record with a larger count.
    wide = tail.rfind(_END_64, 0, at)
    if wide >= 0 and wide + 40 <= len(tail):
        (count,) = struct.unpack_from("<Q", tail, wide + 32)
    if count > MOST_MEMBERS:
        raise JrhError(f"{shown}: the archive has {count:,} members; the limit is {MOST_MEMBERS:,}")


def _check_members(members: list[zipfile.ZipInfo], shown: str, bounds: Bounds) -> None:
    # Again, as the end record may have lied about the number.
    if len(members) > MOST_MEMBERS:
        raise JrhError(f"{shown}: the archive has {len(members):,} members; the limit is {MOST_MEMBERS:,}")
    names: set[str] = set()
    for member in members:
        name = member.orig_filename
        quoted = repr(name[:80])
        if _leads_outside(name):
            raise JrhError(f"{shown}: the member {quoted} points outside the archive; Inspect never writes such names")
        # Readers disagree about which of two members counts: what was checked need not be what is read.
        if name in names:
            advice = "write the log again, for example with `inspect log convert`"
            raise JrhError(f"{shown}: two members are named {quoted}; {advice}")
        names.add(name)
        if member.flag_bits & _ENCRYPTED:
            raise JrhError(f"{shown}: the member {quoted} is encrypted")
        if member.compress_type not in _METHODS:
            raise JrhError(f"{shown}: the member {quoted} uses a compression method that Inspect does not")
        _check_ratio(member.file_size, member.compress_size, f"{shown}: the member {quoted}", bounds)
    size = sum(member.file_size for member in members)
    if size > bounds.max_mb * _MEGABYTE:
        raise _too_large(shown, size, bounds)
    # Each member may be within the limit for small files and all together may not.
    _check_ratio(size, sum(member.compress_size for member in members), f"{shown}: the content", bounds)
    if not names.intersection(_HEADERS):
        raise JrhError(f"{shown} is not an Inspect log: the archive has neither {' nor '.join(_HEADERS)}")


def _leads_outside(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    # Windows takes backslashes and drive letters as paths too.
    return ".." in parts or not parts[0] or ":" in parts[0] or "\x00" in name


def _check_ratio(size: int, compressed: int, what: str, bounds: Bounds) -> None:
    if size > _SMALL and size > bounds.max_ratio * max(compressed, 1):
        raise JrhError(
            f"{what} unpacks {compressed:,} bytes to {size:,}, more than {bounds.max_ratio} times as much; if you "
            "trust the log, raise `max_ratio`"
        )


def _too_large(shown: str, size: int, bounds: Bounds) -> JrhError:
    return JrhError(
        f"{shown}: the log holds {size / _MEGABYTE:,.0f} MB, more than {bounds.max_mb:,} MB; select "
        "fewer samples with Inspect, or raise `max_mb`"
    )


def _verify(archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str) -> None:
    # Allow one byte more than declared, to detect a member that does not end where it should.
    longer = copy.copy(member)
    longer.file_size += 1
    length = 0
    try:
        with cast("zipfile.ZipExtFile", archive.open(longer)) as content:
            # `zipfile` reads 4 kB at once by default, which can unpack to a hundred megabytes.
            content.MIN_READ_SIZE = _CHUNK
            while chunk := content.read(_CHUNK):
                length += len(chunk)
    except Exception as error:  # every decompressor raises its own errors
        raise _damage_error(shown, member, str(error)) from error
    if length != member.file_size:
        raise _damage_error(shown, member, f"its size is not the declared {member.file_size:,} bytes")


def _damage_error(shown: str, member: zipfile.ZipInfo, reason: str) -> JrhError:
    return JrhError(f"{shown}: the member {member.filename[:80]!r} is damaged: {reason[:200]}; copy the log again")
