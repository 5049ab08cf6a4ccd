"""The SQLite file of a run: schema, opening, locking, and the checksum of the whole file.

Only this package uses `Database`. All SQL of the kernel is here and in the modules of the tables.

SQLite notices broken pages and not changed bytes: a digit of a cost, a letter of an id. So the file keeps a checksum
from one orderly close to the next opening for writing, where a database names its application (bytes 68 to 71 of its
header, which SQLite leaves alone); 0 means that the store is being written, or that its process was killed.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar
from zlib import crc32

from filelock import FileLock, Timeout

from jrh.errors import DamagedStoreError, EmptyStoreError, StoreError
from jrh.places import RUN_FILE
from jrh.store.writer import SALVAGE, Statement, Writer, close_on_error, connect, store_error
from jrh.values.verdicts import COLUMNS, NUMBER_TYPES, Status

_PLACE: Final = slice(68, 72)
_VERSION: Final = slice(60, 64)
"""Where SQLite keeps `user_version`."""
# What the header of a fresh database holds there, too.
_NONE: Final = bytes(4)
_AT_ONCE: Final = 1 << 20
_OPEN: Final[Counter[Path]] = Counter()
"""Stores that this process has open. Closing any handle of such a file would drop the locks that SQLite has on it."""

_FOUND_WHOLE: Final[dict[Path, tuple[int, int, int]]] = {}
"""Stores that were found whole, as they were then: who pages through a large run reads its file once."""


def check_seal(path: Path, version: int) -> None:
    """Compare a store of this schema version with its checksum, unless it has none or this process has it open.

    Raises:
        DamagedStoreError: it changed after it was closed.
    """
    place = path.resolve()
    if _OPEN[place] or (path.is_file() and _FOUND_WHOLE.get(place) == _state(path)):
        return
    before = _NONE
    while (seal := _read_seal(path, version)) not in (_NONE, before):
        state = _state(path)
        if _compute_seal(path) == seal:
            _FOUND_WHOLE[place] = state
            return
        before = seal  # another process may have begun to write meanwhile: then the checksum is gone or another
    if seal != _NONE:
        raise _damage(path, "it changed after jrh wrote it")


def _damage(path: Path, why: str) -> DamagedStoreError:
    return DamagedStoreError(f"'{path}' is damaged ({why}). {SALVAGE.format(name=path.parent)}")


def lift_seal(path: Path, version: int) -> None:
    """Check a store and take its checksum away, before it is opened for writing."""
    # An empty file has no header that could hold a checksum.
    if path.is_file() and path.stat().st_size:
        check_seal(path, version)
        if _read_seal(path, version) != _NONE:
            _write_checksum(path, _NONE)


def write_seal(path: Path) -> None:
    """Write the checksum of a store that was closed; not where its log, which a reader keeps open, holds pages.

    Raises:
        DamagedStoreError: a page broke while the store was open, which its checksum would hide from then on.
    """
    log = path.with_name(f"{path.name}-wal")
    # A store without a checksum is read all the same, so a failure to write one must not fail the run.
    with _guard(path), suppress(OSError, sqlite3.OperationalError):
        if not _OPEN[path.resolve()] and not (log.is_file() and log.stat().st_size):
            # A connection of its own: one that wrote to the store has pages in memory as they were.
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as store:
                ((found,),) = store.execute("PRAGMA quick_check(1)")
            if found != "ok":
                raise _damage(path, "a page of it broke while it was open")
            _write_checksum(path, _compute_seal(path))


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read_seal(path: Path, version: int) -> bytes:
    try:
        with path.open("rb") as file:
            header = file.read(_PLACE.stop)
    except OSError:
        return _NONE  # opening the store says why
    # A store of another version is refused for that.
    known = len(header) == _PLACE.stop and int.from_bytes(header[_VERSION], "big") == version
    return header[_PLACE] if known else _NONE


def _compute_seal(path: Path) -> bytes:
    with path.open("rb") as file:
        start = bytearray(file.read(_AT_ONCE))
        # The checksum counts as zeros, or writing it would make it wrong.
        start[_PLACE] = _NONE
        total = crc32(start)
        while part := file.read(_AT_ONCE):
            total = crc32(part, total)
    # 0 means that there is no seal.
    return (total or 1).to_bytes(4, "big")


def _write_checksum(path: Path, four: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(_PLACE.start)
        file.write(four)
        file.flush()
        # Durable before the store is written to: a checksum that outlived a crash would call the new pages damage.
        os.fsync(file.fileno())


T = TypeVar("T")

TRANSIENT: Final = ", ".join(f"'{status.value}'" for status in Status if status.transient)
"""Statuses of trials that will be repeated, as a list in SQL."""
SCHEMA_VERSION: Final = 23
LOCK: Final = "run.lock"
LOG: Final = "log.jsonl"
"""The run's log, in the directory of the store."""
CHUNK: Final = 2000
"""Rows of a long table that are read at once."""
PAGE: Final = 500
"""Rows with texts that are read at once."""
MOST_PARAMETERS: Final = 500
"""Ids per statement; older SQLite allows 999 parameters."""

_SQL_TYPES: Final[Mapping[type | None, str]] = {float: "REAL", int: "INTEGER", None: "TEXT"}
_RECORD_COLUMNS: Final = ", ".join(f'"{name}" {_SQL_TYPES[NUMBER_TYPES.get(name)]}' for name in COLUMNS)

_SCHEMA: Final = Path(__file__).with_name("schema.sql").read_text("utf-8").format(record_columns=_RECORD_COLUMNS)

# What a stage makes is gathered here, slice by slice, and moved in one transaction: a stopped run changes nothing.
# Temporary tables are seen by the writer alone, and are not synced. They have no rollback journal, which was most of
# what making cases wrote: the writer takes no job after one that failed, and their file goes with the connection.
_STAGING: Final = """
PRAGMA temp.journal_mode=OFF;
CREATE TEMP TABLE new_items AS SELECT * FROM items WHERE 0;
CREATE TEMP TABLE new_cases AS SELECT * FROM cases WHERE 0;
CREATE TEMP TABLE new_drafts AS SELECT * FROM drafts WHERE 0;
CREATE TEMP TABLE new_trials AS SELECT * FROM trials WHERE 0;
"""

_SET_META: Final = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
_SET_STAGE: Final = "INSERT OR REPLACE INTO stages VALUES (?, ?)"


@cache
def layouts() -> Mapping[str, tuple[Mapping[str, str], Sequence[str]]]:
    """Return the tables of jrh: their columns with the declared types, and the columns that order the stored rows."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(_SCHEMA)
        layout = {}
        for table, sql in empty.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = empty.execute(f"PRAGMA table_info({table})").fetchall()
            key = [name for _, name, *_, part in columns if part] if "WITHOUT ROWID" in sql else ["rowid"]
            layout[table] = {name: kind for _, name, kind, *_ in columns}, key
        return layout


class Database:
    """A connection for reading; when opened for writing, also a writer and the lock of the directory."""

    def __init__(
        self,
        path: Path,
        open_reader: Callable[[], sqlite3.Connection],
        writing: sqlite3.Connection | None,
        lock: FileLock | None,
    ) -> None:
        """Use `Database.open` or `Database.view` instead."""
        self.path = path
        self._open_reader = open_reader
        with _guard(path):
            self._reader = open_reader()
        # While a query of a connection is under way, every other one of it sees what that one sees. A thread that has
        # just written would then read what was there before.
        self._reading = Lock()
        self._writer = None if writing is None else Writer(writing, str(path), watched=path)
        self._lock = lock
        _OPEN[path.resolve()] += 1

    @classmethod
    def open(cls, run_dir: Path, suite: str) -> Database:
        """Open a run directory for writing; create it if missing.

        Raises:
            StoreError: it is in use, belongs to another suite, is not writable, or is not a run directory.
        """
        # First of all: nothing is checked or made in a directory that another process writes to.
        lock = _lock_directory(run_dir)
        path = run_dir / RUN_FILE
        try:
            _check_emptied(path)
            with _guard(path):
                lift_seal(path, SCHEMA_VERSION)
                if not path.exists():  # SQLite would let every user read it, and gives its other files the same mode
                    path.touch(mode=0o600)
                connection = _with_tables(path)
                owner = connection.execute("SELECT value FROM meta WHERE key = 'suite'").fetchone()
                if owner and owner[0] != suite:
                    connection.close()
                    write_seal(path)
                    raise StoreError(belongs(run_dir, owner[0], suite))
                if not owner:
                    connection.execute(_SET_META, ("suite", suite))
            return cls(path, lambda: connect(path, synchronous="FULL"), connection, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def view(cls, run_dir: Path) -> Database:
        """Open a run directory for reading, even while another process writes to it.

        Raises:
            EmptyStoreError: no run has started in it.
            StoreError: it is not a run directory or cannot be read.
        """
        path = run_dir / RUN_FILE
        if not path.is_file():
            raise StoreError(f"'{run_dir}' is not a run directory: it holds no {RUN_FILE}")

        def open_reader() -> sqlite3.Connection:
            check_seal(path, SCHEMA_VERSION)
            reader = sqlite3.connect(f"{path.resolve().as_uri()}?{_read_mode(path)}", uri=True, isolation_level=None)
            with close_on_error(reader):
                # The mode may be `rw`, see `_read_mode`: a reader must not write all the same.
                reader.execute("PRAGMA query_only=ON")
                if _check_version(reader, path) == 0:  # its process was killed before the tables were made
                    raise EmptyStoreError(f"'{run_dir}' holds no run yet; run the suite first")
            return reader

        return cls(path, open_reader, None, None)

    def close(self) -> None:
        """Write everything queued, then release the directory."""
        if self._writer:
            self._writer.close()
        # The last connection to close moves the write-ahead log into the file. Only then is there a checksum of all of
        # it.
        self._reader.close()
        _OPEN[self.path.resolve()] -= 1
        try:
            if self._writer:
                write_seal(self.path)
        finally:
            if self._lock:
                self._lock.release()

    def back_up(self, target: Path) -> None:
        """Copy what is committed to a new file, also while another process writes, and check the pages of the copy."""
        target.touch(mode=0o600)
        # In one step, which sees one state. In several, every commit of the other process would start it again.
        with self._reading, _guard(target), closing(sqlite3.connect(target)) as copy:
            self._reader.backup(copy)
        write_seal(target)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; it sees committed data only."""
        with self._reading, _guard(self.path):
            return self._reader.execute(sql, parameters).fetchall()

    def chunks(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query, `CHUNK` at a time, so that not all are in memory at once."""
        # A connection of its own, as the query is under way until the last of them.
        with _guard(self.path), closing(self._open_reader()) as reader:
            cursor = reader.execute(sql)
            while rows := cursor.fetchmany(CHUNK):
                yield rows

    def pages(self, sql: str, *parameters: object) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query some at a time; nothing stays open between two of them.

        Args:
            sql: selects the position first; its last two parameters are that of the row before and the most rows.
            parameters: those before.
        """
        last = -1
        while rows := self.rows(sql, (*parameters, last, PAGE)):
            yield rows
            last = rows[-1][0]

    def by_id(self, sql: str, ids: Sequence[Any], *before: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, with `{ids}` replaced by some ids at a time; `before` are its other parameters."""
        for some in in_parts(ids, MOST_PARAMETERS):
            yield from self.rows(sql.replace("{ids}", marks(some)), (*before, *some))

    def text(self, sql: str, parameters: Sequence[Any] = ()) -> str | None:
        """Return the first column of the first row as text, or None if there is no row."""
        return next((str(row[0]) for row in self.rows(sql, parameters)), None)

    def meta(self, key: str) -> str | None:
        """Return a value of the run, or None."""
        return self.text("SELECT value FROM meta WHERE key = ?", (key,))

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the run, durably; one that it has is not written again."""
        if self.meta(key) != value:
            self.writer.flush((_SET_META, [(key, value)]))

    def digest(self, stage: str) -> str | None:
        """Return the id of what a stage's rows were made from, or None if they were never finished."""
        return self.text("SELECT digest FROM stages WHERE name = ?", (stage,))

    def replace(self, stage: str, digest: str, *statements: Statement) -> None:
        """Replace a stage's rows together with the id of what they were made from, atomically and durably."""
        self.writer.flush(*statements, (_SET_STAGE, [(stage, digest)]))

    @property
    def writable(self) -> bool:
        """Return whether it was opened for writing."""
        return self._writer is not None

    @property
    def writer(self) -> Writer:
        """Return the writer; raise `StoreError` if opened for reading."""
        if self._writer is None:
            raise StoreError(f"'{self.path}' was opened for reading")
        return self._writer


def marks(values: Sequence[object]) -> str:
    """Return as many placeholders as there are values."""
    return ", ".join("?" * len(values))


def in_parts(values: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield values some at a time."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def belongs(run_dir: Path, owner: str | None, suite: str) -> str:
    """Say that a run directory belongs to another suite."""
    return f"run directory '{run_dir}' belongs to the suite '{owner}', not to '{suite}'; choose another with --run-dir"


def _lock_directory(run_dir: Path) -> FileLock:
    try:
        # Texts and replies may be private: other users of the machine cannot read them.
        run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(run_dir / LOCK, mode=0o600)
        # Without waiting: the other run may take hours.
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(
            f"run directory '{run_dir}' is in use by another jrh process; wait for it, or choose another with --run-dir"
        ) from None
    except OSError as error:
        raise StoreError(f"cannot use run directory '{run_dir}': {error.strerror or error}") from error
    return lock


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Turn an error of SQLite or of the file system into a `StoreError` that names the file."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise store_error(f"cannot use '{path}'", str(path), error) from error
    except OSError as error:
        raise StoreError(f"cannot use '{path}': {error.strerror or error}") from error


def _check_emptied(path: Path) -> None:
    """Refuse an empty store where a log shows that there was a run: its calls would be paid for again."""
    log = path.with_name(LOG)
    if path.is_file() and not path.stat().st_size and log.is_file() and log.stat().st_size:
        raise StoreError(
            f"'{path}' is empty, and '{log}' says that a run was made here: its answers are lost or elsewhere. Restore "
            "the file from a copy, choose another directory with --run-dir, or delete both files and pay again"
        )


def _with_tables(path: Path) -> sqlite3.Connection:
    connection = connect(path, synchronous="FULL")
    with close_on_error(connection):
        if _check_version(connection, path) == 0:
            # One transaction: a kill leaves either no tables or all of them with their version.
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
        connection.executescript(_STAGING)
    return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        known = f"schema {version}, this one knows {SCHEMA_VERSION}"
        raise StoreError(f"'{path}' was written by a newer jrh ({known}); upgrade jrh, or give another run directory")
    if version and version < SCHEMA_VERSION:
        raise StoreError(f"'{path}' was written by an older jrh; give another run directory, or run that version")
    return version


def _read_mode(path: Path) -> str:
    """Return the URI parameters for opening a store to read it.

    A connection in mode `ro` leaves SQLite's side files behind; one in mode `rw` removes them when it is the last to
    close. In a read-only directory SQLite cannot create them, so the file must be declared immutable. A write-ahead
    log that holds data rules that out, because SQLite would ignore it.
    """
    if os.access(path.parent, os.W_OK):
        return "mode=rw" if os.access(path, os.W_OK) else "mode=ro"
    log = path.with_name(f"{path.name}-wal")
    return "mode=ro" if log.is_file() and log.stat().st_size else "mode=ro&immutable=1"
