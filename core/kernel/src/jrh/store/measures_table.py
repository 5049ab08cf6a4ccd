"""The measures of a run, and a note for each metric that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from jrh.document.serial import from_text, to_text
from jrh.store.database import Database
from jrh.store.writer import Statement
from jrh.values.measures import Measure


class MeasuresTable:
    """Measures in the order they were built. Notes are in the same table, at negative positions."""

    STAGE: ClassVar = "measures"
    DELETE_ALL: ClassVar[Statement] = ("DELETE FROM measures", [()])

    def __init__(self, database: Database) -> None:
        """Use `Store.measures` instead."""
        self._database = database

    def digest(self) -> str | None:
        """Return the id of what the measures were computed from, or None if there are none."""
        return self._database.digest(self.STAGE)

    def replace(self, digest: str, measures: Sequence[Measure], notes: Sequence[str]) -> None:
        """Replace the measures and notes."""
        rows = [(position, to_text(each)) for position, each in enumerate(measures)]
        marks = [(-1 - position, to_text(note)) for position, note in enumerate(notes)]
        self._database.replace(
            self.STAGE, digest, self.DELETE_ALL, ("INSERT INTO measures VALUES (?, ?)", rows + marks)
        )

    def wholes(self, task: str, names: Sequence[str]) -> tuple[Measure, ...]:
        """Read the measures of whole tests of a task by name; much faster than reading all."""
        rows = self._database.rows(
            "SELECT payload FROM measures WHERE position >= 0 AND json_extract(payload, '$.task') = ? "  # noqa: S608
            f"AND json_extract(payload, '$.name') IN ({', '.join('?' * len(names))}) "
            "AND coalesce(json_extract(payload, '$.cell'), '{}') = '{}' ORDER BY position",
            (task, *names),
        )
        return tuple(from_text(Measure, payload) for (payload,) in rows)

    def read(self) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
        """Read the measures and the notes."""
        rows = self._database.rows("SELECT position, payload FROM measures ORDER BY position")
        measures = tuple(from_text(Measure, payload) for position, payload in rows if position >= 0)
        notes = tuple(from_text(str, payload) for position, payload in reversed(rows) if position < 0)
        return measures, notes
