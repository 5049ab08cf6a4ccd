"""Copy stores row by row: rows are checked as they are read, and may be those of a damaged store.

A broken page ends a scan of its table, so every table is read from both ends. What was made from rows that are lost is
left to be made again: a run in the new directory continues, and pays for no call whose reply was copied.
"""
# ruff: noqa: S608 - the names of tables and columns are fixed, or checked where they are declared

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from jrh.document.convert import from_plain, from_text
from jrh.errors import DamagedStoreError, StoreError
from jrh.store import calls_table, records_table
from jrh.store.database import FILENAME, SCHEMA_VERSION, Database, declared_columns, marks
from jrh.store.records_table import GROWING, TrialsTable
from jrh.store.stage_tables import CATALOGUE, TableSpec, create, sql_name
from jrh.store.texts_table import BROKEN, read, text_of
from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.records import COLUMNS

Row: TypeAlias = Sequence[Any]
_AT_ONCE: Final = 500
_KEYS: Final = {
    "texts": "id",
    "meta": "key",
    "stages": "name",
    "items": "task, position",
    "drafts": "task, test, position",
    "cases": "task, test, position",
    "trials": "position",
    "occasions": "place",
    "calls": "id",
    "model_notes": "model, name",
    "uses": "owner, key, role, name",
    "records": "rowid",
    CATALOGUE: "name",
}
"""Table -> what its rows are stored by. Measures are computed again."""
_STAGES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "items": ("items",),
    "drafts": ("cases:",),
    "cases": ("cases:",),
    "trials": ("trials",),
    "records": ("rationales",),
}
"""Table -> the starts of the stages that make its rows."""
_ALWAYS_AGAIN: Final = ("items", "trials", "measures", "derived")
"""Items and trials are made again without a call; a changed id among them would be a question that never was."""
_READ_AS: Final[Mapping[str, tuple[type, ...]]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (float, int),
    "BLOB": (bytes,),
}
_PACKED: Final[Mapping[str, type]] = {"items": Item, "cases": Case, "drafts": object}
"""Table whose values are packed against texts -> what a value is."""


class StoredRows:
    """The rows of a store, which may be damaged; those that are not what jrh wrote are left out and counted."""

    def __init__(self, run_dir: Path) -> None:
        """Open the store of a run directory for reading; it stays as it is.

        Raises:
            StoreError: there is none, it cannot be opened at all, or another version wrote it.
        """
        self.run_dir = run_dir
        self.path = run_dir / FILENAME
        self.read: Counter[str] = Counter()
        """Table -> rows read so far that are what was written."""
        self.changed: Counter[str] = Counter()
        """Table -> rows that are not what was written, of the tables read so far."""
        self.changed_replies = 0
        """Calls whose reply is lost or changed; they are kept without it, since they were paid for."""
        self.broken: list[str] = []
        """Tables that could not be read whole."""
        if not self.path.is_file():
            raise StoreError(f"'{run_dir}' is not a run directory: it holds no {FILENAME}")
        self._source = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        self._source.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            version = self._source.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error as error:
            raise StoreError(f"cannot copy '{self.path}': {error}") from error
        if version != SCHEMA_VERSION:
            raise StoreError(f"'{self.path}' was written by another version of jrh; copy it with that version")

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    @cached_property
    def meta(self) -> Mapping[str, str]:
        """Return the values of the run, such as `suite`."""
        return {key: value for key, value in self.rows("meta")}  # noqa: C416 - rows are sequences

    @cached_property
    def declared(self) -> Mapping[str, TableSpec]:
        """Return the tables that stages of plugins declare, by their names in the file."""
        return {sql_name(name): from_text(TableSpec, spec) for name, spec in self.rows(CATALOGUE)}

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the names of all tables in the file, in the order in which they are written."""
        return (*_KEYS, *self.declared)

    def columns(self, table: str) -> Mapping[str, str]:
        """Return the names of a table's columns, with their types."""
        return self.declared[table].columns if table not in _KEYS else declared_columns(table)

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table that are what was written, in the order of their key."""
        keys = (self.declared[table].key if table not in _KEYS else _KEYS[table]).split(", ")
        types = list(self.columns(table).values())
        for row in self._both_ways(table, keys):
            try:
                whole = self._checked(table, _typed(row[len(keys) :], types, table))
            except (DamagedStoreError, *BROKEN):
                self.changed[table] += 1
            else:
                self.read[table] += 1
                yield whole

    def stages_to_keep(self) -> Iterator[Row]:
        """Yield the rows of `stages` whose work is whole, once all other tables are read."""
        lost = [name for table in (*self.broken, *self.changed) for name in _STAGES_OF.get(table, (table,))]
        for row in self.rows("stages"):
            if not str(row[0]).startswith((*lost, *_ALWAYS_AGAIN)):
                yield row

    def _both_ways(self, table: str, keys: Sequence[str]) -> Iterator[Row]:
        last: Row = ()
        for direction in ("ASC", "DESC"):
            order = ", ".join(f"{key} {direction}" for key in keys)
            sql = f"SELECT {', '.join(keys)}, * FROM {table} NOT INDEXED ORDER BY {order}"
            try:
                for row in self._source.execute(sql):
                    if direction == "ASC":
                        last = row[: len(keys)]
                    elif row[: len(keys)] == last:
                        return
                    yield row
            except (sqlite3.Error, UnicodeDecodeError):  # the latter: the name of a column
                if table not in self.broken:
                    self.broken.append(table)
            else:
                return

    def _checked(self, table: str, row: Row) -> Row:
        """Return a row of a table; raise where it is not what was written."""
        if table in _PACKED:
            *_, ids, blob = row
            if blob is not None:  # a kept draft is its case
                from_plain(_PACKED[table], read(json.loads(ids), blob, self._texts))
        elif table == "texts":
            text_of(row[-1])
        elif table == CATALOGUE:
            from_text(TableSpec, row[-1])
        elif table == "records" and records_table.checksum(row[: len(COLUMNS)]) != row[-1]:
            raise DamagedStoreError("changed")
        return self._call(row) if table == "calls" else row

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        return {row[0]: text_of(row[2]) for row in self.rows("texts")}

    def _call(self, row: Row) -> Row:
        *known, payload, kept = row
        if payload is not None and calls_table.checksum(payload) == kept:
            return row
        self.changed_replies += payload is not None
        return (*known, None, None)


def write_store(
    target: Path, suite: str, tables: Iterable[tuple[str, Iterable[Row]]], specs: Iterable[TableSpec] = ()
) -> Counter[str]:
    """Write a new store out of the rows of others, as they come.

    Args:
        target: the new run directory.
        suite: the name of its suite.
        tables: names and rows; a table may come several times, and a row that is there is left out.
        specs: the tables that stages of plugins declare.

    Returns:
        Table -> rows that it now has.

    Raises:
        StoreError: there is a run in the directory, or it cannot be written to.
    """
    written = []
    database = Database.open(target, suite)
    try:
        for spec in specs:
            database.writer.flush(*create(spec))
        for table, rows in tables:
            written.append(table)
            waiting = iter(rows)
            while some := list(islice(waiting, _AT_ONCE)):
                database.writer.flush((f"INSERT OR IGNORE INTO {table} VALUES ({marks(some[0])})", some))
        return Counter({name: database.rows(f"SELECT count(*) FROM {name}")[0][0] for name in written})
    finally:
        database.close()


def is_answered(run_dir: Path) -> bool:
    """Return whether the plan of a run is complete and every trial of it has a record.

    Raises:
        StoreError: the store cannot be read, or is not what jrh closed.
    """
    database = Database.view(run_dir)
    try:
        trials = TrialsTable(database)
        return trials.digest() not in (None, GROWING) and trials.count_pending() == 0
    finally:
        database.close()


def _typed(row: Row, types: Sequence[str], table: str) -> Row:
    """Check that every value has its column's type: one changed bit makes a number of a text, or bytes."""
    known = [value is None or isinstance(value, _READ_AS[kind]) for value, kind in zip(row, types, strict=True)]
    if all(known):
        return row
    if table != "calls":
        raise DamagedStoreError("changed")
    # A call was paid for whatever else is lost of it; without an outcome it counts at its worst case.
    empty = calls_table.UNREADABLE
    return [value if whole else other for value, whole, other in zip(row, known, empty, strict=True)]
