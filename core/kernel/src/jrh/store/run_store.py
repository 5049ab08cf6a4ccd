"""One run's store: a SQLite file in the run directory, locked against a second writer.

A stage replaces its table in one transaction, together with the id of what it was made from. Calls and records are
appended. A committed outcome is never lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jrh.errors import StoreError
from jrh.store.calls_table import CallsTable
from jrh.store.cases_table import CasesTable
from jrh.store.database import Database, belongs
from jrh.store.items_table import ItemsTable
from jrh.store.measures_table import MeasuresTable
from jrh.store.notes_table import NotesTable
from jrh.store.records_table import RecordsTable
from jrh.store.spending_table import SpendingTable
from jrh.store.stage_tables import StageTable
from jrh.store.trials_table import TrialsTable
from jrh.values.table_spec import TableSpec

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
        try:
            return cls(database)
        except BaseException:
            database.close()  # or the directory stays locked while this process lives
            raise

    @classmethod
    def view(cls, run_dir: Path) -> Store:
        """Open a run directory for reading, even while another process writes to it.

        Raises:
            EmptyStoreError: no run has started in it.
            StoreError: it is not a run directory or cannot be read.
        """
        database = Database.view(run_dir)
        return database.guarded(lambda: cls(database))

    @property
    def path(self) -> Path:
        """Return the path of the SQLite file."""
        return self._database.path

    @property
    def failure(self) -> StoreError | None:
        """Return the error that stopped all writing, if any."""
        return self._database.writer.failure

    def close(self) -> None:
        """Write everything queued, then release the directory."""
        self._database.close()

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
        self._database.replace(
            MeasuresTable.STAGE,
            "",
            MeasuresTable.DELETE_ALL,
            RecordsTable.DELETE_ALL,
        )
