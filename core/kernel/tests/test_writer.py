"""Group commit: what was promised durable is durable, and nothing is written after a gap."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jrh.errors import StoreError
from jrh.store import database
from jrh.store.writer import PORTION, Writer, connect

INSERT = "INSERT INTO rows VALUES (?)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.sqlite"


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    connection = connect(path, synchronous="FULL")
    connection.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY)")
    made = Writer(connection, "rows.sqlite")
    yield made
    made.close()


def seen(path: Path) -> list[int]:
    """Read with a connection of its own: only what is committed."""
    connection = sqlite3.connect(path)
    try:
        return [row[0] for row in connection.execute("SELECT n FROM rows ORDER BY rowid")]
    finally:
        connection.close()


def test_the_database_is_in_wal_mode_and_as_durable_as_asked(tmp_path: Path) -> None:
    full, normal = (connect(tmp_path / name, synchronous=name) for name in ("FULL", "NORMAL"))
    assert full.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert full.execute("PRAGMA synchronous").fetchone() == (2,)
    assert normal.execute("PRAGMA synchronous").fetchone() == (1,)
    full.close()
    normal.close()


async def test_an_awaited_commit_can_be_read_by_another_connection(writer: Writer, path: Path) -> None:
    await writer.commit((INSERT, [(1,), (2,)]))
    assert seen(path) == [1, 2]


def test_a_flush_writes_what_was_queued_before_it(writer: Writer, path: Path) -> None:
    for number in range(100):
        writer.put((INSERT, [(number,)]))
    writer.flush()
    assert seen(path) == list(range(100))


async def test_jobs_that_wait_together_share_a_transaction(writer: Writer, path: Path) -> None:
    blocker = connect(path, synchronous="FULL")
    blocker.execute("BEGIN IMMEDIATE")
    first = writer.commit((INSERT, [(0,)]))  # the writer waits for the blocker
    await asyncio.sleep(0.05)
    others = [writer.commit((INSERT, [(number,)])) for number in range(1, 50)]
    versions = []
    blocker.execute("COMMIT")
    for waiting in (first, *others):
        await waiting
        versions.append(blocker.execute("PRAGMA data_version").fetchone()[0])
    blocker.close()
    assert seen(path) == list(range(50))
    # The version a connection sees changes with every commit of another: 50 jobs, two transactions.
    assert len(set(versions)) <= 2


async def test_a_job_is_written_whole_or_not_at_all(writer: Writer, path: Path) -> None:
    await writer.commit((INSERT, [(1,)]))
    with pytest.raises(StoreError, match=r"cannot write 'rows\.sqlite': UNIQUE"):
        await writer.commit((INSERT, [(2,)]), ("INSERT INTO rows SELECT ?", [(1,)]))
    assert seen(path) == [1]


async def test_every_waiter_of_a_failed_transaction_is_told(writer: Writer, path: Path) -> None:
    first = writer.commit((INSERT, [(1,)]))
    with held(writer):
        together = [writer.commit((INSERT, [(n,)])) for n in (2, 1, 3)]
    await first
    outcomes = await asyncio.gather(*together, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StoreError] * 3
    assert seen(path) == [1]


async def test_nothing_is_written_after_a_gap(writer: Writer, path: Path) -> None:
    with pytest.raises(StoreError):
        await writer.commit(("INSERT INTO no_such_table VALUES (?)", [(1,)]))
    writer.put((INSERT, [(2,)]))
    with pytest.raises(StoreError, match="no_such_table"):
        await writer.commit((INSERT, [(3,)]))
    with pytest.raises(StoreError, match="no_such_table"):
        writer.flush((INSERT, [(4,)]))
    assert writer.failure is not None
    assert seen(path) == []


async def test_a_value_that_cannot_be_stored_fails_the_job_and_not_the_thread(writer: Writer) -> None:
    with pytest.raises(StoreError, match="surrogate"):
        await writer.commit((INSERT, [("\ud800",)]))
    with pytest.raises(StoreError):
        writer.flush()


async def test_a_cancelled_waiter_costs_the_others_nothing(writer: Writer, path: Path) -> None:
    abandoned = writer.commit((INSERT, [(1,)]))
    abandoned.cancel()
    await writer.commit((INSERT, [(2,)]))
    assert seen(path) == [1, 2]


def test_closing_writes_what_is_queued(path: Path) -> None:
    connection = connect(path, synchronous="FULL")
    connection.execute("CREATE TABLE rows (n)")
    made = Writer(connection, "rows")
    for number in range(1000):
        made.put((INSERT, [(number,)]))
    made.close()
    assert seen(path) == list(range(1000))


def test_a_loop_that_is_gone_does_not_stop_the_writer(writer: Writer, path: Path) -> None:
    blocker = connect(path, synchronous="FULL")
    blocker.execute("BEGIN IMMEDIATE")

    async def leave() -> None:
        writer.commit((INSERT, [(1,)]))

    asyncio.run(leave())
    blocker.execute("COMMIT")
    blocker.close()
    writer.flush((INSERT, [(2,)]))
    assert seen(path) == [1, 2]


async def test_a_closed_writer_refuses_further_jobs_at_once(writer: Writer, path: Path) -> None:
    writer.close()
    for put in (writer.put, writer.flush, writer.commit):
        with pytest.raises(StoreError, match="it is closed"):
            put((INSERT, [(1,)]))
    assert seen(path) == []


async def test_who_is_to_go_first_goes_before_the_others_of_a_group_and_they_go_in_portions(writer: Writer) -> None:
    went: list[str] = []
    turns = 0

    async def wait(name: str, number: int, *, first: bool) -> None:
        await writer.commit((INSERT, [(number,)]), first=first)
        went.append(name)

    async def count_turns() -> None:
        nonlocal turns
        while len(went) <= 5 * PORTION:
            await asyncio.sleep(0)
            turns += bool(went)

    with held(writer):
        waiting = [asyncio.create_task(wait("later", number, first=False)) for number in range(5 * PORTION)]
        waiting.append(asyncio.create_task(wait("first", 5 * PORTION, first=True)))
        await asyncio.sleep(0)  # all are queued
    await asyncio.gather(count_turns(), *waiting)
    assert went == ["first", *["later"] * (5 * PORTION)]
    assert turns >= 5  # what else is to be done has a turn between the portions


def test_statements_that_may_be_regrouped_are_written_in_their_order_and_others_in_their_place(path: Path) -> None:
    connection = connect(path, synchronous="FULL")
    connection.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE marks (n INTEGER)")
    mark, forget = "INSERT INTO marks VALUES (?)", "DELETE FROM rows WHERE n = ?"
    written: list[str] = []
    writer = Writer(connection, "rows.sqlite")
    writer.regroup([INSERT, mark])
    with held(writer):
        connection.set_trace_callback(lambda sql: written.append(sql.split(" VALUES")[0].split(" WHERE")[0]))
        for number in range(3):
            writer.put((mark, [(number,)]), (INSERT, [(number,)]))
        writer.put((forget, [(1,)]))
        writer.put((mark, [(3,)]), (INSERT, [(1,)]))
    writer.close()
    rows, marks = "INSERT INTO rows", "INSERT INTO marks"
    between = [each for each in written if each.startswith(("INSERT", "DELETE"))]
    assert between == [rows] * 3 + [marks] * 3 + ["DELETE FROM rows", rows, marks]
    assert seen(path) == [0, 1, 2]


@contextmanager
def held(writer: Writer) -> Iterator[None]:
    """Keep the writer busy, so that what is queued meanwhile is one group."""
    free, busy = threading.Event(), threading.Event()

    def rows() -> Iterator[tuple[int]]:
        busy.set()
        free.wait(10)
        yield from ()

    writer.put(("DELETE FROM rows WHERE n = ?", rows()))
    busy.wait(10)
    try:
        yield
    finally:
        free.set()


@pytest.mark.parametrize("where", ["main", "temp"])
async def test_a_full_disk_names_both_places_that_may_be_full(path: Path, where: str) -> None:
    connection = connect(path, synchronous="FULL")
    connection.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("CREATE TEMP TABLE staged (n INTEGER PRIMARY KEY, text TEXT)")
    connection.execute(f"PRAGMA {where}.max_page_count = 10")
    writer = Writer(connection, "rows.sqlite")
    table = "rows" if where == "main" else "staged"
    with pytest.raises(StoreError, match=r"'rows\.sqlite': .*full; free space on its disk and in the directory"):
        await writer.commit((f"INSERT INTO {table} VALUES (?, ?)", [(n, "x" * 9000) for n in range(20)]))
    writer.close()


def test_a_full_disk_names_both_places_when_a_store_is_read(path: Path) -> None:
    reader = connect(path, synchronous="FULL")
    reader.execute("PRAGMA temp.max_page_count = 10")

    reader.execute("CREATE TEMP TABLE staged (text TEXT)")
    match = r"cannot use .*full; free space on its disk and in the directory"
    with pytest.raises(StoreError, match=match), database._guard(path):
        reader.executemany("INSERT INTO staged VALUES (?)", [("x" * 9000,)] * 20)
    reader.close()
