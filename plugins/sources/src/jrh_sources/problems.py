"""Collect the mistakes of a data file and report them all at once."""

from __future__ import annotations

from typing import Final

from jrh import SuiteError
from jrh.errors import Problem

SHOWN: Final = 20
"""Problems listed per file; the rest are only counted."""


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
