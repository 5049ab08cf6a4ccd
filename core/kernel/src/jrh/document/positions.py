"""Files that a suite names, and a parsed document with the line and column of every value, for messages."""

from __future__ import annotations

import codecs
import errno
import stat
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeAlias

from attrs import Factory, frozen

from jrh.errors import Problem
from jrh.values.json_values import Json

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a text that a suite names."""
UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_plain(path: Path, most: int = LARGEST) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it cannot be read, is a device, a pipe or a directory, or is larger than `most` bytes.
    """
    # Checked first: reading a device or a pipe may never end.
    check_plain(path, most)
    with path.open("rb") as file:
        # No more than was checked, as the file may grow meanwhile.
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


Location: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys and list positions."""

Position: TypeAlias = tuple[int, int]
"""1-based line and column."""


@frozen(kw_only=True)
class Document:
    """Plain values, and where each of them was written."""

    value: Json
    source: str = "suite"
    """The file's name as the user wrote it."""
    positions: Mapping[Location, Position] = Factory(dict)
    """Of a value in a mapping the position of its key; empty for values that come from a program."""
    settings: Mapping[Location, str] = Factory(dict)
    """What was set on the command line: location -> the key as the user wrote it."""

    def problem(self, location: Location, message: str) -> Problem:
        """Report a mistake at a location, or at the nearest place around it that is known."""
        for end in range(len(location), -1, -1):
            around = location[:end]
            if around in self.settings:
                return Problem(message=message, source=f"--set {self.settings[around]}")
            if around in self.positions:
                line, column = self.positions[around]
                return Problem(message=message, source=self.source, line=line, column=column)
        return Problem(message=message, source=path_text(location) or self.source)

    def wrong(self, location: Location, message: str) -> Problem:
        """Report a wrong value: like `problem`, and the message names the value's key."""
        problem = self.problem(location, message)
        name = label(location)
        # Without a line, the source of a problem is its path, which names the key already.
        return self.problem(location, f"{name}: {message}") if name and problem.line else problem


def path_text(location: Location) -> str:
    """Write a location as `tests[2].validate[0]`."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def label(location: Location) -> str:
    """Write the last key of a location with the list positions behind it: `validate[0]`."""
    start = max((index for index, part in enumerate(location) if isinstance(part, str)), default=0)
    return path_text(location[start:])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `Did you mean 'x'? ` for a close match among the known names, else the empty text."""
    names = list(known)
    # Reversed, so that the first of several names that differ in case only is the one that stays.
    folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    close = get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return f"Did you mean '{folded[close[0]]}'? " if close else ""


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Say that a key is unknown, what may be meant, and which keys there are."""
    names = list(dict.fromkeys(known))
    return f"unknown key\n{did_you_mean(key, names)}Known keys: {', '.join(names) or 'none'}."
