"""Read files that a suite names: only regular ones of a bounded size, since devices and pipes never end."""

from __future__ import annotations

import codecs
import errno
import stat
from pathlib import Path
from typing import Final

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a text that a suite names."""
UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_plain(path: Path, most: int = LARGEST) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it cannot be read, is a device, a pipe or a directory, or is larger than `most` bytes.
    """
    check_plain(path, most)
    with path.open("rb") as file:
        return file.read(most)


def check_plain(path: Path, most: int) -> None:
    """Check that a file can be read to its end.

    Raises:
        OSError: it does not exist, is a device, a pipe or a directory, or is larger than `most` bytes.
    """
    if "\0" in str(path):  # Pythons differ in what they say
        raise OSError(errno.EINVAL, "a file name cannot contain a NUL character")
    known = path.stat()
    if stat.S_ISDIR(known.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    if not stat.S_ISREG(known.st_mode):
        raise OSError("it is not a regular file")
    if known.st_size > most:
        raise OSError(f"it is larger than {most // 1_000_000:,} MB")


def not_utf8(content: bytes) -> str:
    """Say what is wrong with a text that is not UTF-8: its encoding where it is known."""
    return "UTF-16 text; save the file as UTF-8" if content[:2] in UTF16 else "not UTF-8 text; save the file as UTF-8"
