"""Merge a mistake that many rows share into one message with the count and the first lines."""

from __future__ import annotations

from typing import Final

from jrh import Scale, ScaleKind, Task

from jrh_sources.columns import ColumnMap, did_you_mean
from jrh_sources.problems import Problems

_LINES: Final = 5


class _Lines:
    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.first) < _LINES:
            self.first.append(line)

    def __str__(self) -> str:
        if self.count == 1:
            return ""
        more = ", ..." if self.count > len(self.first) else ""
        return f" ({self.count} rows: {', '.join(map(str, self.first))}{more})"


class Tally:
    """Counts empty cells by target and labels outside the scale by label."""

    def __init__(self, task: Task, columns: ColumnMap, problems: Problems) -> None:
        """Start at nothing."""
        self._task = task
        self._columns = columns
        self._problems = problems
        self._missing: dict[str, _Lines] = {}
        self._off_scale: dict[str, _Lines] = {}

    def __bool__(self) -> bool:
        """Return whether anything was counted."""
        return bool(self._missing or self._off_scale)

    def missing(self, target: str, line: int) -> None:
        """Count a row without a value that the task requires."""
        self._missing.setdefault(target, _Lines()).add(line)

    def off_scale(self, label: str, line: int) -> None:
        """Count a row whose label is not on the scale."""
        self._off_scale.setdefault(label, _Lines()).add(line)

    def report(self, there: list[str]) -> None:
        """Add everything counted to the problems; `there` are the file's columns."""
        absent = dict(self._columns.missing(there))
        for message in absent.values():
            self._problems.add(message)
        for target, lines in self._missing.items():
            if target not in absent:
                self._report_missing(target, lines, there)
        for label, lines in self._off_scale.items():
            labels = ", ".join(self._task.scale.labels)
            message = f"label '{label}' is not on the scale {labels}{lines}{_hint(label, self._task.scale)}"
            self._problems.add(message, line=lines.first[0])

    def _report_missing(self, target: str, lines: _Lines, there: list[str]) -> None:
        column = self._columns.column.get(target)
        if column in there:
            named = f"column '{column}' ({target})"
            self._problems.add(f"{named} is empty{lines}; fill it or remove the row", line=lines.first[0])
            return
        mode = self._task.mode.value
        self._problems.add(
            f"a {mode} task needs the field '{target}'; name its column with `columns: {{{target}: ...}}`"
            f"{did_you_mean(target, there)}"
        )


def _hint(label: str, scale: Scale) -> str:
    meant = scale.match(label)
    if meant is not None:
        return f"; labels are compared exactly, write '{meant}'"
    if scale.kind is ScaleKind.ORDINAL and (equal := _same_number(label, scale)) is not None:
        return f"; labels are compared as text, write '{equal}'"
    return "; fix the label, the scale, or `columns: {label: ...}`"


def _same_number(label: str, scale: Scale) -> str | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return next((level for level in scale.labels if level.isdecimal() and float(level) == number), None)
