"""The tables that stages of plugins declare: one SQL table each, and a row of the catalogue that says what it is."""
# ruff: noqa: S608 - names of tables and columns are checked where they are declared

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import deep_mapping, in_, matches_re, min_len

from jrh.document.convert import from_text, to_text
from jrh.errors import DamagedStoreError, StoreError
from jrh.store.database import Database, marks
from jrh.store.writer import Statement

Where: TypeAlias = tuple[str, Literal["=", "<=", ">", "in"], Any]
"""A column, how it is compared, and with what; `in` takes a collection of any size."""
CATALOGUE: Final = "stage_tables"
"""The table that has the specification of every declared one."""
_KINDS: Final[Mapping[str, type]] = {"TEXT": str, "INTEGER": int, "REAL": float}
_PREFIX: Final = "stage_"
"""Starts the names of declared tables, so that none is called like a table of jrh."""


class Merge(Enum):
    """What becomes of a table where the shards of a run are merged."""

    NONE = "none"
    """The stage makes its rows again."""
    UNION = "union"
    """The rows of all shards, one shard after the other; rows with a number as key are numbered again."""
    LATEST = "latest"
    """The rows of the last shard that has some."""
    REFUSE = "refuse"
    """A shard with rows cannot be merged."""


_NAME = r"[a-z][a-z0-9_]*"


@frozen(kw_only=True)
class TableSpec:
    """Declare a table of a stage. It is kept, copied and merged even where its plugin is not installed."""

    name: str = field(validator=matches_re(_NAME))
    """Unique among plugins: begin it with the name of the stage."""
    columns: Mapping[str, str] = field(
        validator=[min_len(1), deep_mapping(matches_re(_NAME), in_(("TEXT", "INTEGER", "REAL")))]
    )
    """Column -> its type: `TEXT`, `INTEGER` or `REAL`."""
    key: str = field()
    """The column that names and orders the rows. An `INTEGER` one that is given as None counts up from 1."""
    indexes: tuple[tuple[str, ...], ...] = Factory(tuple)
    """Columns that rows are looked up by."""
    merge: Merge = Merge.NONE

    @key.validator
    def _check_key(self, _: object, key: str) -> None:
        unknown = {key, *(name for index in self.indexes for name in index)} - set(self.columns)
        if unknown:
            raise ValueError(f"the table '{self.name}' has no column '{sorted(unknown)[0]}'")


class StageTable:
    """The rows of a declared table; it is made by the first write."""

    def __init__(self, database: Database, spec: TableSpec) -> None:
        """Use `Store.table` instead.

        Raises:
            StoreError: the table was written with other columns.
        """
        self._database, self._spec = database, spec
        self._name = sql_name(spec.name)
        self._insert = f"INSERT INTO {self._name} VALUES ({marks(tuple(spec.columns))})"
        # Compared whole: rows in other columns would be read as something else.
        if read_specs(database).get(spec.name) not in (None, spec):
            raise StoreError(
                f"'{database.path}': another version of a plugin wrote the table '{spec.name}'; use that version, or "
                "give another run directory"
            )

    def digest(self) -> str | None:
        """Return the id of what the rows were made from, or None if they were never replaced."""
        return self._database.digest(self._name) or None

    def append(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows in one transaction; they are durable when this returns."""
        self._database.writer.flush(*create(self._spec), (self._insert, rows))

    def replace(self, digest: str, rows: Iterable[Sequence[Any]]) -> None:
        """Replace all rows in one transaction.

        The rows are written as they come, and never held together. If one cannot be made, the rows before stay.
        """
        self._database.replace(
            self._name, digest, *create(self._spec), (f"DELETE FROM {self._name}", [()]), (self._insert, rows)
        )

    def last(self) -> Any:
        """Return the largest key; None where there are no rows."""
        return next((row[0] for row in self._query(f"SELECT max({self._spec.key}) FROM {{table}}", ())), None)

    def count(self, where: Sequence[Where] = ()) -> int:
        """Count the rows that fit."""
        condition, values = _condition(where)
        return sum(row[0] for row in self._query(f"SELECT count(*) FROM {{table}} WHERE {condition}", values))

    def select(
        self,
        where: Sequence[Where] = (),
        *,
        columns: Sequence[str] = (),
        order: str = "",
        descending: bool = False,
        start: int = 0,
        limit: int = -1,
    ) -> list[tuple[Any, ...]]:
        """Return the rows that fit.

        Args:
            where: all of it holds for the rows.
            columns: the columns; all where empty.
            order: the column that sorts them, rows without a value last; equal ones are in the order of the key.
            descending: the largest values come first.
            start: rows that are passed over.
            limit: of rows; -1: all.
        """
        key, names = self._spec.key, ", ".join(map(_quote, columns or self._spec.columns))
        by = "" if order in ("", key) else f"{_quote(order)} IS NULL, {_quote(order)} {'DESC' if descending else ''}, "
        condition, values = _condition(where)
        return self._query(
            f"SELECT {names} FROM {{table}} WHERE {condition} ORDER BY {by}{_quote(key)} LIMIT ? OFFSET ?",
            (*values, limit, start),
            *(columns or self._spec.columns),
        )

    def values(self, column: str, where: Sequence[Where] = ()) -> tuple[Any, ...]:
        """Return the different values of a column, sorted."""
        condition, values = _condition(where)
        name = _quote(column)
        rows = self._query(f"SELECT DISTINCT {name} FROM {{table}} WHERE {condition} ORDER BY {name}", values, column)
        return tuple(value for (value,) in rows)

    def _query(self, sql: str, values: Sequence[Any], *columns: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query for some columns; none where the table is not made yet."""
        if self._spec.name not in read_specs(self._database):
            return []
        # A view that somebody put in its place may never end.
        if self._database.rows("SELECT type FROM sqlite_master WHERE name = ?", (self._name,)) != [("table",)]:
            raise DamagedStoreError(f"'{self._database.path}' is damaged: '{self._spec.name}' is no table")
        rows = self._database.rows(sql.replace("{table}", self._name), values)
        kinds = [_KINDS[self._spec.columns[name]] for name in columns]
        # SQLite keeps a value of any type in any column, and a changed one would end wherever it is used.
        pairs = (pair for row in rows for pair in zip(row, kinds, strict=False))
        if not all(value is None or isinstance(value, kind) for value, kind in pairs):
            raise DamagedStoreError(
                f"'{self._database.path}' is damaged: '{self._spec.name}' has a value of a wrong type"
            )
        return rows


def read_specs(database: Database) -> Mapping[str, TableSpec]:
    """Return the declared tables that a store has, by name."""
    rows = database.rows(f"SELECT name, spec FROM {CATALOGUE} ORDER BY name")
    return {name: from_text(TableSpec, spec) for name, spec in rows}


def create(spec: TableSpec) -> list[Statement]:
    """Return the statements that make a declared table where it is missing."""
    name = sql_name(spec.name)
    columns = ", ".join(
        f"{_quote(column)} {kind}{' PRIMARY KEY' if column == spec.key else ''}"
        for column, kind in spec.columns.items()
    )
    indexes = (
        f"CREATE INDEX IF NOT EXISTS {name}_{'_'.join(index)} ON {name} ({', '.join(map(_quote, index))})"
        for index in spec.indexes
    )
    tables = (f"CREATE TABLE IF NOT EXISTS {name} ({columns})", *indexes)
    row = (f"INSERT OR IGNORE INTO {CATALOGUE} VALUES (?, ?)", [(spec.name, to_text(spec))])
    return [*((sql, [()]) for sql in tables), row]


def sql_name(table: str) -> str:
    """Return the name of a declared table in the file."""
    return f"{_PREFIX}{table}"


def _quote(column: str) -> str:
    # Column names are checked, but may be words of SQL, such as `order`.
    return f'"{column}"'


def _condition(where: Sequence[Where]) -> tuple[str, list[Any]]:
    # A condition that always holds, so that there is one without any.
    clauses, values = ["1"], []
    for column, compare, value in where:
        many = compare == "in"
        clauses.append(f"{_quote(column)} {compare} {'(SELECT value FROM json_each(?))' if many else '?'}")
        # As one JSON list: SQLite limits the number of parameters.
        values.append(json.dumps(list(value)) if many else value)
    return " AND ".join(clauses), values
