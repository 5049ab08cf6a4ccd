"""One run's store: a SQLite file in the run directory, locked against a second writer.

A stage replaces its table in one transaction, together with the id of what it was made from. Calls and records are
appended. A committed outcome is never lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from jrh.document.convert import from_text, to_text
from jrh.errors import EmptyStoreError, StoreError
from jrh.places import RUN_FILE
from jrh.store.calls_table import CallsTable, NotesTable, SpendingTable
from jrh.store.cases_table import CasesTable, ItemsTable
from jrh.store.database import Database, belongs
from jrh.store.records_table import RecordsTable, TrialsTable
from jrh.store.stage_tables import StageTable, TableSpec
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
        rows = [(position, to_text(measure)) for position, measure in enumerate(measures)]
        # Below 0, so that the position of a measure is its place in the report, and both are replaced in one statement.
        marks = [(-1 - position, to_text(note)) for position, note in enumerate(notes)]
        self._database.replace(
            self.STAGE, digest, self.DELETE_ALL, ("INSERT INTO measures VALUES (?, ?)", rows + marks)
        )

    def wholes(self, task: str, names: Sequence[str]) -> tuple[Measure, ...]:
        """Read the measures of whole tests of a task by name; much faster than reading all."""
        rows = self._database.rows(
            # Only question marks are put into the text of the statement; the names are parameters.
            "SELECT payload FROM measures WHERE position >= 0 AND json_extract(payload, '$.task') = ? "  # noqa: S608
            f"AND json_extract(payload, '$.name') IN ({', '.join('?' * len(names))}) "
            # Defaults are left out of the text: a measure of a whole test has no cell in it.
            "AND coalesce(json_extract(payload, '$.cell'), '{}') = '{}' ORDER BY position",
            (task, *names),
        )
        return tuple(from_text(Measure, payload) for (payload,) in rows)

    def read(self) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
        """Read the measures and the notes."""
        rows = self._database.rows("SELECT position, payload FROM measures ORDER BY position")
        notes = tuple(from_text(str, payload) for position, payload in reversed(rows) if position < 0)
        return tuple(from_text(Measure, payload) for position, payload in rows if position >= 0), notes


SHARD: Final = "shard"
"""Key of a store's values: which part of a run it holds, such as `3/8`; empty: all of it."""
SEED: Final = "seed"
"""Key of a store's values: the seed of the run."""
ALIKE: Final = "alike"
"""Key of a store's values: what the shards of one run have in common, by name, with an id of its content, as JSON."""


class Store:
    """The tables of one run."""

    def __init__(self, database: Database) -> None:
        """Use `Store.open` or `Store.view` instead."""
        self._database = database
        self.items = ItemsTable(database)
        self.cases = CasesTable(database)
        """Cases, and the outcome of every draft."""
        self.trials = TrialsTable(database)
        """The plan."""
        self.records = RecordsTable(database)
        self.calls = CallsTable(database)
        """Attempts sent to models."""
        self.notes = NotesTable(database)
        """What models note about calls that are answered later."""
        self.spending = SpendingTable(database)
        """What the replies the run rests on cost, each once."""
        self.measures = MeasuresTable(database)

    @classmethod
    def open(cls, run_dir: Path, suite: str) -> Store:
        """Open a run directory for writing; create it if missing.

        Raises:
            StoreError: it is in use, belongs to another suite, is not writable, or is not a run directory.
        """
        database = Database.open(run_dir, suite)
        # Of one call, each is queued after those before it; of two calls, none refers to another's rows.
        database.writer.regroup([*CallsTable.OF_A_CALL, *SpendingTable.OF_A_REPLY, *RecordsTable.OF_A_TRIAL])
        return cls(database)

    @classmethod
    def view(cls, run_dir: Path) -> Store:
        """Open a run directory for reading, even while another process writes to it.

        Raises:
            EmptyStoreError: no run has started in it.
            StoreError: it is not a run directory or cannot be read.
        """
        return cls(Database.view(run_dir))

    @staticmethod
    def exists(run_dir: Path) -> bool:
        """Tell whether a directory holds a store; it may be empty, or one that cannot be opened."""
        return (run_dir / RUN_FILE).is_file()

    @classmethod
    def view_earlier(cls, run_dir: Path) -> Store | None:
        """Open what earlier runs stored for reading; None where no run has started in the directory.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            return cls.view(run_dir) if cls.exists(run_dir) else None
        except EmptyStoreError:
            return None

    @property
    def path(self) -> Path:
        """Return the path of the SQLite file."""
        return self._database.path

    @property
    def writable(self) -> bool:
        """Return whether it was opened for writing."""
        return self._database.writable

    @property
    def failure(self) -> StoreError | None:
        """Return the error that stopped all writing, if any."""
        return self._database.writer.failure

    def close(self) -> None:
        """Write everything queued, then release the directory."""
        self._database.close()

    def back_up(self, target: Path) -> None:
        """Copy the store as it is now to a new file, also while another process writes to it.

        Raises:
            DamagedStoreError: a page of it is broken.
        """
        self._database.back_up(target)

    def table(self, spec: TableSpec) -> StageTable:
        """Return a table that a stage declares; it is there from its first row on.

        Raises:
            StoreError: the store has it with other columns.
        """
        return StageTable(self._database, spec)

    def meta(self, key: str) -> str | None:
        """Return a value of the run, or None."""
        return self._database.meta(key)

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the run, durably."""
        self._database.set_meta(key, value)

    def check_owner(self, suite: str) -> None:
        """Raise `StoreError` if the directory belongs to another suite."""
        owner = self.meta("suite")
        if owner not in (None, suite):
            raise StoreError(belongs(self.path.parent, owner, suite))

    def flush(self) -> None:
        """Wait until everything queued is durable; raise `StoreError` if writing fails."""
        self._database.writer.flush()

    def forget_results(self) -> None:
        """Delete all records and what was made from them, so that an import can replace another."""
        self._database.replace(MeasuresTable.STAGE, "", MeasuresTable.DELETE_ALL, RecordsTable.DELETE_ALL)
