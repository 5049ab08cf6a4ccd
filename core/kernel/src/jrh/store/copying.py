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
from contextlib import closing
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from jrh.document.convert import from_plain, from_text
from jrh.errors import DamagedStoreError, StoreError
from jrh.places import RUN_FILE
from jrh.store import calls_table
from jrh.store.database import PAGE, SCHEMA_VERSION, Database, layouts, marks
from jrh.store.records_table import checksum
from jrh.store.stage_tables import CATALOGUE, TableSpec, create, sql_name
from jrh.store.texts_table import BROKEN, Decompressor
from jrh.values.cases import Case, Draft
from jrh.values.items import Item
from jrh.values.verdicts import COLUMNS

Row: TypeAlias = Mapping[str, Any]
"""The values of a row by column, in the order of the columns."""
_TYPES: Final[Mapping[str, Any]] = {"TEXT": str, "INTEGER": int, "REAL": float | int, "BLOB": bytes}
_PACKED: Final[Mapping[str, type]] = {"items": Item, "cases": Case, "drafts": Draft}
"""Table whose values are packed against texts -> what a value is."""


class StoredRows:
    """The rows of a store, which may be damaged; those that are not what jrh wrote are left out and counted."""

    def __init__(self, run_dir: Path) -> None:
        """Open the store of a run directory for reading; it stays as it is.

        Raises:
            StoreError: there is none, it cannot be opened at all, or another version wrote it.
        """
        self.run_dir = run_dir
        self.path = run_dir / RUN_FILE
        self.changed: Counter[str] = Counter()
        """Table -> rows that are not what was written, of those read so far; calls are kept without what is lost."""
        self.broken: list[str] = []
        """Tables that could not be read whole."""
        if not self.path.is_file():
            raise StoreError(f"'{run_dir}' is not a run directory: it holds no {RUN_FILE}")
        self._source = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        self._decompressor = Decompressor()
        # Text with a changed byte may be no UTF-8. Decoding must not end the reading: checksums find the row.
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
        return {row["key"]: row["value"] for row in self.rows("meta")}

    @cached_property
    def stage_tables(self) -> Mapping[str, TableSpec]:
        """Return the tables that stages of plugins declare, by their names in the file."""
        return {sql_name(row["name"]): from_text(TableSpec, row["spec"]) for row in self.rows(CATALOGUE)}

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the names of all tables in the file."""
        return (*layouts(), *self.stage_tables)

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table that are what was written, in the order in which they are stored."""
        # The file's own schema may be damaged.
        columns, order = layouts().get(table) or (self.stage_tables[table].columns, ("rowid",))
        self.changed.pop(table, None)
        for values in self._from_both_ends(table, order):
            try:
                row = dict(zip(columns, values, strict=True))
                wrong = [name for name, kind in columns.items() if not isinstance(row[name], _TYPES[kind] | None)]
                yield self._check(table, row, wrong)
            except (DamagedStoreError, *BROKEN):
                self.changed[table] += 1

    def _from_both_ends(self, table: str, order: Sequence[str]) -> Iterator[Sequence[Any]]:
        last = None
        # SQLite stops at a broken page. What lies behind it is read from the other end, up to the row read last before
        # it.
        for direction in ("ASC", "DESC"):
            by = ", ".join(f"{column} {direction}" for column in order)
            try:
                # An index may be damaged where the table is not.
                for row in self._source.execute(f"SELECT * FROM {table} NOT INDEXED ORDER BY {by}"):
                    if direction == "ASC":
                        last = row
                    elif row == last:
                        return
                    yield row
            except (sqlite3.Error, UnicodeDecodeError):  # the latter: the name of a column
                if table not in self.broken:
                    self.broken.append(table)
            else:
                return

    def _check(self, table: str, row: Row, wrong: Sequence[str]) -> Row:
        """Return a row of a table; raise where it is not what was written.

        Args:
            table: its name.
            row: what was read.
            wrong: columns with a value of another type: one changed bit makes a number of a text, or bytes.
        """
        if table == "calls":
            return self._check_call(row, wrong)
        # Records, replies and texts have checksums of their own. Other rows are checked by reading what they hold.
        if wrong or (table == "records" and checksum(tuple(row.values())[: len(COLUMNS)]) != row["checksum"]):
            raise DamagedStoreError("changed")
        if table in _PACKED and row["payload"] is not None:  # a kept draft is its case
            value = self._decompressor.value(json.loads(row["texts"]), row["payload"], self._texts)
            from_plain(_PACKED[table], value)
        elif table == "texts":
            self._decompressor.text(row["body"])
        elif table == CATALOGUE:
            from_text(TableSpec, row["spec"])
        return row

    def _check_call(self, row: Row, wrong: Sequence[str]) -> Row:
        """Return a call without what changed: it was paid for whatever else is lost of it."""
        lost = {name: calls_table.UNREADABLE.get(name) for name in wrong}
        payload = row["payload"]
        if payload is not None and ("payload" in lost or calls_table.checksum(payload) != row["checksum"]):
            lost |= {"payload": None, "checksum": None}
        if lost:
            self.changed["calls"] += 1
        return {**row, **lost}

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        return {row["id"]: self._decompressor.text(row["body"]) for row in self.rows("texts")}


def write_store(
    target: Path, suite: str, tables: Iterable[tuple[str, Iterable[Row]]], specs: Iterable[TableSpec] = ()
) -> Mapping[str, int]:
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
    names = []
    with closing(Database.open(target, suite)) as database:
        for spec in specs:
            database.writer.flush(*create(spec))
        for table, rows in tables:
            names.append(table)
            waiting = iter(rows)
            while some := [tuple(row.values()) for row in islice(waiting, PAGE)]:
                # A page a transaction: a kill leaves a directory that has not got its name yet.
                database.writer.flush((f"INSERT OR IGNORE INTO {table} VALUES ({marks(some[0])})", some))
        return {name: database.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}
