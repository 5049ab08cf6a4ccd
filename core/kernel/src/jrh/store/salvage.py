"""Copy what can be read of a damaged store to a new one.

A broken page ends a scan of its table, so every table is read from both ends. What was made from rows that are lost is
left to be made again: a run in the new directory continues, and pays for no call whose reply was saved.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import Factory, define

from jrh.document.serial import from_plain, from_text
from jrh.errors import DamagedStoreError, StoreError
from jrh.store import calls_table
from jrh.store.database import FILENAME, SCHEMA_VERSION, Database, declared_types
from jrh.store.records_table import checksum
from jrh.store.stage_tables import CATALOGUE, create, sql_name
from jrh.store.texts_table import BROKEN, read, text_of
from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.records import COLUMNS
from jrh.values.table_spec import TableSpec

_Check: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]
"""Returns a row; raises where it is not what was written."""
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
_READ_AS: Final[Mapping[str, tuple[type, ...]]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (float, int),
    "BLOB": (bytes,),
}


@define
class Salvaged:
    """What was saved of each table."""

    kept: dict[str, int] = Factory(dict)
    changed: dict[str, int] = Factory(dict)
    """Table -> rows that are not what was written."""
    broken: list[str] = Factory(list)
    """Tables that could not be read whole."""


def salvage(run_dir: Path, target: Path) -> Salvaged:
    """Copy what can be read of the store in a run directory to a new one; the damaged one stays as it is.

    Raises:
        StoreError: there is no store, it cannot be opened at all, or the new directory has one already.
    """
    path = run_dir / FILENAME
    if not path.is_file():
        raise StoreError(f"'{run_dir}' is not a run directory: it holds no {FILENAME}")
    if (target / FILENAME).exists():
        raise StoreError(f"'{target}' exists already; move it away to salvage '{run_dir}' again")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source:
        source.text_factory = lambda text: text.decode("utf-8", "replace")
        return _copied(source, path, target)


def _copied(source: sqlite3.Connection, path: Path, target: Path) -> Salvaged:
    told = Salvaged()
    try:
        version = source.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise StoreError(f"cannot salvage '{path}': {error}") from error
    if version != SCHEMA_VERSION:
        raise StoreError(f"'{path}' was written by another version of jrh; salvage it with that version")
    rows: dict[str, list[tuple[Any, ...]]] = {}
    checks = {**_CHECKS}
    for table, key in _KEYS.items():
        rows[table] = list(_whole(source, table, key, declared_types(table), told, checks.get(table, tuple)))
        if table == "texts":
            checks.update(_packed({row[0]: text_of(row[2]) for row in rows[table]}))
    declared = {sql_name(name): from_text(TableSpec, spec) for name, spec in rows[CATALOGUE]}
    for table, spec in declared.items():
        rows[table] = list(_whole(source, table, spec.key, list(spec.columns.values()), told, tuple))
    suite = next((row[1] for row in rows["meta"] if row[0] == "suite"), None)
    if suite is None:
        raise StoreError(f"cannot salvage '{path}': the name of its suite is lost")
    lost = tuple(stage for table in (*told.broken, *told.changed) for stage in _STAGES_OF.get(table, (table,)))
    # Items and trials are made again without a call; a changed id among them would be a question that never was.
    again = (*lost, "items", "trials", "measures")
    rows["stages"] = [row for row in rows["stages"] if not str(row[0]).startswith(again)]
    database = Database.open(target, suite)
    try:
        for spec in declared.values():
            database.writer.flush(*create(spec))
        for table, found in rows.items():
            told.kept[table] = len(found)
            for start in range(0, len(found), _AT_ONCE):
                marks = ", ".join("?" * len(found[0]))
                sql = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"  # noqa: S608 - fixed names
                database.writer.flush((sql, found[start : start + _AT_ONCE]))
    finally:
        database.close()
    return told


def _whole(
    source: sqlite3.Connection, table: str, key_columns: str, types: Sequence[str], told: Salvaged, check: _Check
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table that are what was written, each once."""
    keys = key_columns.split(", ")
    seen: set[tuple[Any, ...]] = set()
    for row in _both_ways(source, table, keys, told):
        key, values = row[: len(keys)], row[len(keys) :]
        if key in seen:
            continue
        seen.add(key)
        try:
            yield check(_typed(values, types, table))
        except (DamagedStoreError, *BROKEN):
            told.changed[table] = told.changed.get(table, 0) + 1


def _both_ways(
    source: sqlite3.Connection, table: str, keys: Sequence[str], told: Salvaged
) -> Iterator[tuple[Any, ...]]:
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{key} {direction}" for key in keys)
        sql = f"SELECT {', '.join(keys)}, * FROM {table} NOT INDEXED ORDER BY {order}"  # noqa: S608 - fixed names
        try:
            yield from source.execute(sql)
        except (sqlite3.Error, UnicodeDecodeError):  # the latter: the name of a column
            if table not in told.broken:
                told.broken.append(table)
        else:
            return


def _typed(row: Sequence[Any], types: Sequence[str], table: str) -> Sequence[Any]:
    """Check that every value has its column's type: one changed bit makes a number of a text, or bytes."""
    known = [value is None or isinstance(value, _READ_AS[kind]) for value, kind in zip(row, types, strict=True)]
    if all(known):
        return row
    if table != "calls":
        raise DamagedStoreError("changed")
    # A call was paid for whatever else is lost of it; without an outcome it counts at its worst case.
    empty = calls_table.UNREADABLE
    return [value if whole else other for value, whole, other in zip(row, known, empty, strict=True)]


def _packed(texts: Mapping[int, str]) -> dict[str, _Check]:
    """Return the checks of the tables whose values are packed against texts."""

    def check(kind: type[Any]) -> _Check:
        def checked(row: Sequence[Any]) -> tuple[Any, ...]:
            *_, ids, blob = row
            if blob is not None:  # a kept draft is its case
                from_plain(kind, read(json.loads(ids), blob, texts))
            return tuple(row)

        return checked

    return {"items": check(Item), "cases": check(Case), "drafts": check(object)}


def _text(row: Sequence[Any]) -> tuple[Any, ...]:
    text_of(row[-1])
    return tuple(row)


def _spec(row: Sequence[Any]) -> tuple[Any, ...]:
    from_text(TableSpec, row[-1])
    return tuple(row)


def _call(row: Sequence[Any]) -> tuple[Any, ...]:
    """Keep a call whose reply is lost or changed, since it was paid for; its question is asked again."""
    *known, payload, kept = row
    whole = payload is not None and calls_table.checksum(payload) == kept
    return tuple(row) if whole else (*known, None, None)


def _record(row: Sequence[Any]) -> tuple[Any, ...]:
    if checksum(row[: len(COLUMNS)]) != row[-1]:
        raise DamagedStoreError("changed")
    return tuple(row)


_CHECKS: Final[Mapping[str, _Check]] = {
    "texts": _text,
    "calls": _call,
    "records": _record,
    CATALOGUE: _spec,
}
