"""Rows of a file with cells exactly as it writes them, and the mistakes in them, reported all at once."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import Json, SuiteError
from jrh.errors import Problem


@frozen(kw_only=True)
class Row:
    """One row of a file, by column name."""

    line: int
    """1-based line where the row starts; in formats without lines, the 1-based row."""
    values: Mapping[str, Json]


class Written(float):
    """A number that remembers its spelling in the file: label `1.0` is not label `1`."""

    literal: str

    def __new__(cls, literal: str) -> Written:
        """Read a number; raise `ValueError` if it is too large."""
        number = super().__new__(cls, literal)
        if isinf(number):
            raise ValueError(f"number {literal[:40]} is too large")
        number.literal = literal
        return number


def is_nested(value: Json) -> bool:
    """Return whether a value is a list or an object."""
    return value is not None and not isinstance(value, str | int | float)


def as_text(value: Json) -> str | None:
    """Return a single value as the file writes it: text as it is, numbers by their digits, `true`, None for null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Written):
        return value.literal
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError("lists and objects are not single values")


def plain(value: Json) -> Json:
    """Return the value with plain Python numbers, as components expect them."""
    if isinstance(value, Written):
        return float(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


SHOWN: Final = 20
"""Problems listed per file; the rest are only counted."""


def as_written(path: Path, base: Path) -> str:
    """Return a path as the suite writes it, for messages: the loader made it absolute."""
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


class Problems:
    """The mistakes of one file."""

    def __init__(self, source: str) -> None:
        """Start without problems; `source` is the file's name as the user wrote it."""
        self.source = source
        self.count = 0
        self._first: list[Problem] = []

    def __bool__(self) -> bool:
        """Return whether there is any problem."""
        return self.count > 0

    def add(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        """Record a problem; after the first 20 only the count grows."""
        self.count += 1
        if len(self._first) < SHOWN:
            self._first.append(Problem(message=message, source=self.source, line=line, column=column))

    def place(self, line: int) -> str:
        """Return `file:line`."""
        return f"{self.source}:{line}"

    def raise_any(self) -> None:
        """Raise a `SuiteError` with all problems in the order of the file, if there are any."""
        if not self:
            return
        shown: list[Problem | str] = [*sorted(self._first, key=lambda problem: problem.line or 0)]
        if self.count > len(shown):
            shown.append(f"{self.source}: and {self.count - len(shown)} more problems of these kinds")
        raise SuiteError(shown)
