"""Group commit: a thread that owns an SQLite connection and commits queued jobs together."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeAlias

from jrh.errors import DamagedStoreError, StoreError

Row: TypeAlias = Sequence[Any]
Statement: TypeAlias = tuple[str, Iterable[Row]]
"""One SQL statement and its parameter rows, which are taken when it is written, one after the other."""

SALVAGE: Final = "`jrh salvage '{name}'` copies what can be read to a new run directory, without model calls."
_FULL: Final = "disk is full"
_ROOM: Final = "; free space on its disk and in the directory for temporary files (TMPDIR, otherwise /var/tmp)"
"""SQLite does not tell which of the two is full."""
BUSY_SECONDS: Final = 30.0
GATHER_SECONDS: Final = 0.0005
"""How long a group waits for more jobs. Fewer transactions also mean fewer switches of the interpreter lock."""
PORTION: Final = 8
"""Waiting tasks that go on at once; others, and what came over the network meanwhile, have their turn in between."""


class _Job(NamedTuple):
    statements: Sequence[Statement]
    done: Future[None] | asyncio.Future[None] | None = None
    first: bool = False


def connect(path: Path, *, synchronous: str) -> sqlite3.Connection:
    """Open a database in WAL mode; `synchronous` is FULL (durable) or NORMAL (consistent)."""
    # Transactions are begun by hand, and the thread that opens a connection is not the one that writes with it.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    with close_on_error(connection):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


@contextmanager
def close_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    """Close the connection if the block raises."""
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.close()
        raise


def store_error(failed: str, name: str, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return the error for a file that SQLite refuses: that it is damaged, or what `failed` and what SQLite says."""
    code = getattr(error, "sqlite_errorcode", None)
    # Python reads text as UTF-8: its error has no code, and that of a column's name is not SQLite's at all.
    not_text = isinstance(error, UnicodeDecodeError) or "Could not decode to UTF-8" in str(error)
    if not_text if code is None else code & 0xFF == sqlite3.SQLITE_CORRUPT:
        return DamagedStoreError(f"'{name}' is damaged ({error}). {SALVAGE.format(name=Path(name).parent)}")
    return StoreError(f"{failed}: {error}{_ROOM if _FULL in str(error) else ''}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_dev, known.st_ino


class Writer:
    """Commit queued jobs in groups: jobs that arrive during one transaction go into the next.

    A job is atomic: its statements share one transaction. After a failed transaction every later job fails with the
    same error, so that nothing is written after a gap.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, *, watched: Path | None = None) -> None:
        """Take ownership of the connection.

        Args:
            connection: to the database.
            name: what messages call the file.
            watched: the file. Writing fails once it is deleted or replaced, since SQLite would go on writing to a file
                that has no name any more.
        """
        self._watched = watched
        self._identity = _identity(watched) if watched is not None else None
        self._connection = connection
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._failure: StoreError | None = None
        self._closed = False
        self._ranks: dict[str, int] = {}
        self._thread = threading.Thread(target=self._work, name=f"jrh-writer-{name}", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> StoreError | None:
        """Return the error that stopped the writer, if any."""
        return self._failure

    def regroup(self, order: Sequence[str]) -> None:
        """Let statements of one group be written in this order of their SQL texts, each text at one go.

        Only for statements whose effect is the same in this order as in the order in which they were queued. Any other
        statement is written in its place between them.
        """
        self._ranks = {sql: rank for rank, sql in enumerate(order)}

    def put(self, *statements: Statement) -> None:
        """Queue a job; it is durable after the next `flush` or awaited commit."""
        self._queue(_Job(statements))

    def commit(self, *statements: Statement, first: bool = False) -> asyncio.Future[None]:
        """Queue a job and return a future of the running loop that completes once the job is durable.

        Args:
            statements: of the job.
            first: whoever waits for it goes on before the others of its group.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue(_Job(statements, done, first))
        return done

    def _queue(self, job: _Job) -> None:
        if self._closed:  # the thread has ended, so it would never be written
            raise StoreError(f"cannot write '{self._name}': it is closed")
        self._jobs.put(job)

    def flush(self, *statements: Statement) -> None:
        """Write a job and everything queued before it; wait until it is durable.

        Raises:
            StoreError: it could not be written.
        """
        done: Future[None] = Future()
        self._queue(_Job(statements, done))
        done.result()

    def close(self) -> None:
        """Write everything queued, stop the thread and close the connection; later jobs raise `StoreError`."""
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        while self._commit_next():
            pass

    def _commit_next(self) -> bool:
        """Wait for jobs and write them; a function of its own, so that written rows are freed before the next wait."""
        batch = [self._jobs.get()]
        time.sleep(GATHER_SECONDS)
        while not self._jobs.empty():
            batch.append(self._jobs.get())
        jobs = [job for job in batch if job is not None]
        if jobs:
            self._write(jobs)
        return None not in batch

    def _write(self, jobs: list[_Job]) -> None:
        if self._failure is None:
            try:
                self._check_place()
                self._transact(statement for job in jobs for statement in job.statements)
            except StoreError as error:
                self._failure = error
            except sqlite3.DatabaseError as error:
                self._failure = store_error(f"cannot write '{self._name}'", self._name, error)
            except Exception as error:  # every waiter needs an answer, whatever the error is
                self._failure = StoreError(f"cannot write '{self._name}': {error}")
        # Stable: among equals the order of queueing stays.
        jobs.sort(key=lambda job: not job.first)
        _settle([job.done for job in jobs if job.done is not None], self._failure)

    def _check_place(self) -> None:
        if self._watched is not None and _identity(self._watched) != self._identity:
            raise StoreError(f"'{self._watched}' was deleted or replaced while the run wrote to it")

    def _transact(self, statements: Iterable[Statement]) -> None:
        # Take the write lock at once: a transaction that begins by reading may fail when it starts to write.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for sql, group in groupby(self._sort_groups(statements), key=itemgetter(0)):
                if sql.startswith("CREATE"):  # which Python executes once or not at all
                    self._connection.execute(sql)
                else:
                    self._connection.executemany(sql, (row for _, rows in group for row in rows))
            self._connection.execute("COMMIT")
        except BaseException:
            # After some errors, such as a full disk, SQLite has rolled back by itself.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _sort_groups(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        ranks = self._ranks
        for ranked, some in groupby(statements, key=lambda statement: statement[0] in ranks):
            group = list(some)
            # A group ends at the first statement without a rank, so that nothing is written earlier than such a one.
            yield from sorted(group, key=lambda statement: ranks[statement[0]]) if ranked else group


def _settle(waiting: list[Future[None] | asyncio.Future[None]], failure: StoreError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for done in waiting:
        if isinstance(done, asyncio.Future):
            # A future of asyncio may be set in its own loop only.
            by_loop.setdefault(done.get_loop(), []).append(done)
        else:
            _set(done, failure)
    for loop, futures in by_loop.items():
        # An interrupted run has closed its loop, and nothing waits there any more.
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_in_loop, futures, failure)


def _settle_in_loop(futures: list[asyncio.Future[None]], failure: StoreError | None) -> None:
    for done in futures[:PORTION]:
        if not done.done():  # otherwise the waiter was cancelled
            _set(done, failure)
    if len(futures) > PORTION:
        asyncio.get_running_loop().call_soon(_settle_in_loop, futures[PORTION:], failure)


def _set(done: Future[None] | asyncio.Future[None], failure: StoreError | None) -> None:
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(failure)
