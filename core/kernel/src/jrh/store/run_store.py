"""One run's store: a SQLite file in the run directory, locked against a second writer.

Every stage's table is replaced as a whole, in one transaction with the digest of what it was made from. Calls and
records are appended; a committed outcome is never lost.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from filelock import FileLock, Timeout

from jrh.errors import EmptyStoreError, StoreError
from jrh.store.writer import Statement, Writer, connect
from jrh.values.records import COLUMNS
from jrh.values.types import Record, Status

T = TypeVar("T")

SCHEMA_VERSION: Final = 2
FILENAME: Final = "run.sqlite"
LOCK: Final = "run.lock"

_RECORD_TYPES: Final = {
    "strength": "REAL",
    "temperature": "REAL",
    "simulated": "INTEGER",
    "repeat": "INTEGER",
    "probability": "REAL",
    "cost": "REAL",
    "prompt_tokens": "INTEGER",
    "completion_tokens": "INTEGER",
    "latency": "REAL",
    "attempts": "INTEGER",
    "left_out": "INTEGER",
}

_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stages (name TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    task TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (task, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS drafts (
    task TEXT NOT NULL, test TEXT NOT NULL, position INTEGER NOT NULL, item_id TEXT NOT NULL, variant TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (task, test, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cases (
    task TEXT NOT NULL, test TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, payload TEXT NOT NULL,
    PRIMARY KEY (task, test, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, case_id TEXT NOT NULL, judge TEXT NOT NULL,
    repeat INTEGER NOT NULL, occasion INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, started REAL NOT NULL,
    worst REAL, outcome TEXT, final INTEGER, cost REAL, detail TEXT, payload TEXT
);
CREATE INDEX IF NOT EXISTS calls_by_key ON calls (key) WHERE payload IS NOT NULL;
CREATE TABLE IF NOT EXISTS records (
    {", ".join(f'"{name}" {_RECORD_TYPES.get(name, "TEXT")}' for name in COLUMNS)}, reply TEXT, probabilities TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_trial ON records (trial_id);
CREATE TABLE IF NOT EXISTS measures (position INTEGER PRIMARY KEY, payload TEXT NOT NULL);
"""

_VALUES: Final = attrgetter(*COLUMNS)
_STATUS: Final = COLUMNS.index("status")
_COLUMN_NAMES: Final = ", ".join(f'"{name}"' for name in COLUMNS)
_INSERT_RECORD: Final = (
    f"INSERT OR REPLACE INTO records ({_COLUMN_NAMES}, reply, probabilities) "  # noqa: S608 - fixed names
    f"VALUES ({', '.join('?' * (len(COLUMNS) + 2))})"
)
_INTENT: Final = "INSERT INTO calls (id, key, model, purpose, started, worst) VALUES (?, ?, ?, ?, ?, ?)"
_OUTCOME: Final = "UPDATE calls SET outcome = ?, final = ?, cost = ?, detail = ?, payload = ? WHERE id = ?"
_FINAL: Final = "UPDATE calls SET final = 1 WHERE id = ?"
_SET_META: Final = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
_SET_STAGE: Final = "INSERT OR REPLACE INTO stages VALUES (?, ?)"
_TRANSIENT: Final = tuple(status.value for status in Status if status.transient)


class Store:
    """The tables of one run."""

    def __init__(self, path: Path, reader: sqlite3.Connection, writer: Writer | None, lock: FileLock | None) -> None:
        """Use `Store.open` or `Store.view` instead."""
        self.path = path
        self._reader = reader
        self._writer = writer
        self._lock = lock
        self._next_call = self.read("SELECT coalesce(max(id), 0) FROM calls")[0][0] + 1
        self._answered = {key for (key,) in self.read("SELECT key FROM calls WHERE payload IS NOT NULL")}
        self._keys: dict[int, str] = {}
        """Keys of the calls under way."""

    @classmethod
    def open(cls, run_dir: Path, suite: str) -> Store:
        """Open a run directory for writing, making it where it is missing.

        Raises:
            StoreError: it is in use, belongs to another suite, is not writable, or is not a run directory.
        """
        lock = _lock(run_dir)
        path = run_dir / FILENAME
        try:
            connection = _guard(path, lambda: _prepare(path))
            owner = connection.execute("SELECT value FROM meta WHERE key = 'suite'").fetchone()
            if owner and owner[0] != suite:
                connection.close()
                raise StoreError(
                    f"run directory '{run_dir}' belongs to the suite '{owner[0]}', not to '{suite}'; "
                    "choose another with --run-dir"
                )
            if not owner:
                _guard(path, lambda: connection.execute(_SET_META, ("suite", suite)))
            reader = _guard(path, lambda: connect(path, synchronous="FULL"))
        except BaseException:
            lock.release()
            raise
        return cls(path, reader, Writer(connection, str(path)), lock)

    @classmethod
    def view(cls, run_dir: Path) -> Store:
        """Open a run directory for reading, also while another process writes it.

        Raises:
            EmptyStoreError: no run has begun in it.
            StoreError: it is not a run directory, or it cannot be read.
        """
        path = run_dir / FILENAME
        if not path.is_file():
            raise StoreError(f"'{run_dir}' is not a run directory: it holds no {FILENAME}")

        def connected() -> sqlite3.Connection:
            reader = sqlite3.connect(f"{path.resolve().as_uri()}?{_reading(path)}", uri=True, isolation_level=None)
            if _check_version(reader, path) == 0:  # its process was killed before the tables were made
                reader.close()
                raise EmptyStoreError(f"'{run_dir}' holds no run yet; run the suite first")
            return reader

        return _guard(path, lambda: cls(path, connected(), None, None))

    def close(self) -> None:
        """Write what is queued and release the directory."""
        if self._writer:
            self._writer.close()
        self._reader.close()
        if self._lock:
            self._lock.release()

    # -- what is known -----------------------------------------------------------------------------------------------

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; only what is committed is seen."""
        return self._reader.execute(sql, parameters).fetchall()

    def meta(self, key: str) -> str | None:
        """Return a value of the run, or None."""
        return self._text("SELECT value FROM meta WHERE key = ?", (key,))

    def digest(self, stage: str) -> str | None:
        """Return what the stage's table was made from, or None where it was never finished."""
        return self._text("SELECT digest FROM stages WHERE name = ?", (stage,))

    def usable_reply(self, key: str) -> str | None:
        """Return the payload of a reply this run has already paid for, or None."""
        if key not in self._answered:
            return None
        return self._text("SELECT payload FROM calls WHERE key = ? AND payload IS NOT NULL LIMIT 1", (key,))

    def pending(self) -> list[tuple[str, str, str, int, int]]:
        """Return (trial id, case id, judge, repeat, occasion) of the trials to put, in plan order.

        These are the trials without a record, and those whose record says that asking again may help.
        """
        marks = ", ".join("?" * len(_TRANSIENT))
        return self.read(
            "SELECT t.id, t.case_id, t.judge, t.repeat, t.occasion FROM trials t "  # noqa: S608 - placeholders only
            "LEFT JOIN records r ON r.trial_id = t.id "
            f"WHERE r.trial_id IS NULL OR r.status IN ({marks}) ORDER BY t.position",
            _TRANSIENT,
        )

    def lasting(self) -> frozenset[str]:
        """Return the ids of the trials whose record stands: asking them again is not going to happen."""
        marks = ", ".join("?" * len(_TRANSIENT))
        rows = self.read(f"SELECT trial_id FROM records WHERE status NOT IN ({marks})", _TRANSIENT)  # noqa: S608
        return frozenset(trial for (trial,) in rows)

    def record_columns(self) -> dict[str, tuple[Any, ...]]:
        """Return the records of the plan as columns, in plan order."""
        names = ", ".join(f'r."{name}"' for name in COLUMNS)
        rows = self.read(
            f"SELECT {names} FROM trials t JOIN records r ON r.trial_id = t.id ORDER BY t.position"  # noqa: S608
        )
        columns = zip(*rows, strict=True) if rows else (() for _ in COLUMNS)
        return dict(zip(COLUMNS, columns, strict=True))

    def _text(self, sql: str, parameters: Sequence[Any] = ()) -> str | None:
        row = self._reader.execute(sql, parameters).fetchone()
        return None if row is None else str(row[0])

    # -- what is written ---------------------------------------------------------------------------------------------

    @property
    def writer(self) -> Writer:
        """Return the writer; a viewed store has none."""
        if self._writer is None:
            raise StoreError(f"'{self.path}' was opened for reading")
        return self._writer

    def replace(self, stage: str, digest: str, statements: Iterable[Statement]) -> None:
        """Replace a stage's rows and note what they were made from, atomically and durably."""
        self.writer.flush(*statements, (_SET_STAGE, [(stage, digest)]))

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the run, durably."""
        self.writer.flush((_SET_META, [(key, value)]))

    def intend(
        self, key: str, model: str, purpose: str, started: float, worst: float | None
    ) -> tuple[int, asyncio.Future[None]]:
        """Queue the row of a call about to be sent; return its id and a future that is done when it is durable."""
        call = self._next_call
        self._next_call += 1
        self._keys[call] = key
        return call, self.writer.commit((_INTENT, [(call, key, model, purpose, started, worst)]))

    def conclude(
        self, call: int, *, outcome: str, final: bool, cost: float | None, detail: str, payload: str | None
    ) -> asyncio.Future[None]:
        """Queue the outcome of a call; return a future that is done when it is durable.

        `payload` is the reply where it can serve again; `final` tells that no further attempt follows.
        """
        key = self._keys.pop(call, None)
        if payload is not None and key is not None:
            self._answered.add(key)
        return self.writer.commit((_OUTCOME, [(outcome, final, cost, detail, payload, call)]))

    def mark_final(self, call: int) -> asyncio.Future[None]:
        """Queue the note that no further attempt follows a failed one."""
        return self.writer.commit((_FINAL, [(call,)]))

    def put_records(self, rows: Sequence[tuple[Record, str | None, str | None]]) -> None:
        """Queue records with their reply and label probabilities as JSON; durable after the next flush."""
        self.writer.put((_INSERT_RECORD, [(*_flat(record), reply, chances) for record, reply, chances in rows]))

    def flush(self) -> None:
        """Return when everything queued is durable; raise `StoreError` where it cannot be."""
        self.writer.flush()


def _flat(record: Record) -> tuple[Any, ...]:
    values = list(_VALUES(record))
    values[_STATUS] = record.status.value
    return tuple(values)


def _lock(run_dir: Path) -> FileLock:
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        lock = FileLock(run_dir / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(
            f"run directory '{run_dir}' is in use by another jrh process; wait for it, or choose another with --run-dir"
        ) from None
    except OSError as error:
        raise StoreError(f"cannot use run directory '{run_dir}': {error.strerror or error}") from error
    return lock


def _guard(path: Path, action: Callable[[], T]) -> T:
    try:
        return action()
    except sqlite3.Error as error:
        raise StoreError(f"cannot use '{path}': {error}") from error


def _prepare(path: Path) -> sqlite3.Connection:
    connection = connect(path, synchronous="FULL")
    try:
        if _check_version(connection, path) == 0:
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        known = f"schema {version}, this one knows {SCHEMA_VERSION}"
        raise StoreError(f"'{path}' was written by a newer jrh ({known}); upgrade jrh, or give another run directory")
    if 0 < version < SCHEMA_VERSION:
        raise StoreError(f"'{path}' was written by an older jrh; give another run directory, or run that version")
    return version


def _reading(path: Path) -> str:
    """Say how to open a store for reading.

    In a directory that cannot be written SQLite must be told that nobody writes the file, or it wants to make its own
    files beside it. That is so unless there is a write-ahead log with something in it, which would then be ignored.
    """
    log = path.with_name(f"{path.name}-wal")
    alone = not os.access(path.parent, os.W_OK) and not (log.is_file() and log.stat().st_size)
    return "mode=ro&immutable=1" if alone else "mode=ro"
