"""Collect what is wrong with a data file, so that all of it is told at once."""

from __future__ import annotations

from typing import Final

from jrh import SuiteError
from jrh.errors import Problem

SHOWN: Final = 20
"""How many problems of a file are written out; the others are counted."""


class Problems:
    """The mistakes of one file."""

    def __init__(self, source: str) -> None:
        """Start without problems; `source` is the file's name as the user wrote it."""
        self.source = source
        self.count = 0
        self._first: list[Problem] = []

    def __bool__(self) -> bool:
        """Tell whether there is any problem."""
        return self.count > 0

    def add(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        """Note a problem; beyond the first few only the number is kept."""
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
