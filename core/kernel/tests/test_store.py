"""One run, one file, one writer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from jrh.errors import StoreError
from jrh.places import RUN_FILE as FILENAME
from jrh.store.cache import FILENAME as CACHE
from jrh.store.cache import Cache
from jrh.store.database import SCHEMA_VERSION
from jrh.store.records_table import TrialRow
from jrh.store.run_store import Store
from jrh.values.verdicts import Record, Status
from jrh_testing import sample_records


def plan(store: Store, *trials: str) -> None:
    rows = [TrialRow(position, trial, f"case-{trial}", "judge", 0, position) for position, trial in enumerate(trials)]
    store.trials.replace("digest", rows)


def record(trial: str, status: Status = Status.OK, **changes: Any) -> Record:
    return attrs.evolve(sample_records(missing=0.0)[0], trial_id=trial, status=status, **changes)


def test_a_run_directory_is_made_where_it_is_missing(tmp_path: Path) -> None:
    where = tmp_path / "runs" / "deep" / "essays"
    Store.open(where, "essays").close()
    assert (where / FILENAME).is_file()


def test_what_was_flushed_is_there_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path, "essays")
    store.set_meta("a", "1")
    store.set_meta("a", "2")
    store.close()
    again = Store.open(tmp_path, "essays")
    assert again.meta("a") == "2"
    assert again.meta("suite") == "essays"
    assert again.meta("b") is None
    again.close()


class SlowReader:
    """A connection of which every query that asks for values is halfway through until another thread has read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.halfway, self.read = threading.Event(), threading.Event()

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        cursor = self.connection.execute(sql, parameters)
        if "value," in sql:
            self.halfway.set()
            self.read.wait(1)  # long enough for another thread that reads at once, which it must not
        return cursor

    def close(self) -> None:
        self.connection.close()


def test_a_thread_reads_what_it_wrote_while_another_reads(tmp_path: Path) -> None:
    store = Store.open(tmp_path, "essays")
    store.set_meta("decided", "no")
    database: Any = store.records._database
    database._reader = slow = SlowReader(database._reader)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(database.rows, "SELECT value, key FROM meta")
        assert slow.halfway.wait(60)
        database.writer.flush(("UPDATE meta SET value = 'yes' WHERE key = 'decided'", [()]))
        seen = store.meta("decided")
        slow.read.set()
        assert len(reading.result(60)) == 2
    store.close()
    assert seen == "yes"


def test_a_long_reading_hides_nothing_that_is_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path, "essays")
    store.set_meta("decided", "no")
    monkeypatch.setattr("jrh.store.database.CHUNK", 1)
    feed = store.records._database.chunks("SELECT key FROM meta")
    first = next(feed)
    store.set_meta("decided", "yes")
    assert store.meta("decided") == "yes"
    assert sorted([*first, *next(feed)]) == [("decided",), ("suite",)]
    store.close()


HOLDER = """
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from jrh.store.run_store import Store
store = Store.open(Path(sys.argv[1]), "essays")
print("ready", flush=True)
sys.stdin.read()
store.close()
"""


def test_a_directory_in_use_by_another_process_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match="is in use by another jrh process; wait for it, or choose another"):
            Store.open(tmp_path, "essays")
    Store.open(tmp_path, "essays").close()


def test_a_directory_of_another_suite_is_refused_and_untouched(tmp_path: Path) -> None:
    store = Store.open(tmp_path, "essays")
    plan(store, "t")
    store.close()
    with pytest.raises(StoreError, match="belongs to the suite 'essays', not to 'poems'; choose another"):
        Store.open(tmp_path, "poems")
    again = Store.open(tmp_path, "essays")
    assert again.trials.count() == 1
    again.close()


def test_a_store_of_a_newer_jrh_is_refused_for_writing_and_reading(tmp_path: Path) -> None:
    Store.open(tmp_path, "essays").close()
    connection = sqlite3.connect(tmp_path / FILENAME)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    connection.close()
    for opened in (lambda: Store.open(tmp_path, "essays"), lambda: Store.view(tmp_path)):
        with pytest.raises(StoreError, match=f"newer jrh \\(schema {SCHEMA_VERSION + 1}, this one knows"):
            opened()


def test_a_store_of_an_older_jrh_is_refused_for_writing_and_reading(tmp_path: Path) -> None:
    Store.open(tmp_path, "essays").close()
    connection = sqlite3.connect(tmp_path / FILENAME)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION - 1}")
    connection.close()
    for opened in (lambda: Store.open(tmp_path, "essays"), lambda: Store.view(tmp_path)):
        with pytest.raises(StoreError, match="older jrh; give another run directory"):
            opened()


def test_a_file_that_is_no_database_is_refused_for_writing_and_reading(tmp_path: Path) -> None:
    (tmp_path / FILENAME).write_text("this is a shopping list, " * 100)
    for opened in (lambda: Store.open(tmp_path, "essays"), lambda: Store.view(tmp_path)):
        with pytest.raises(StoreError, match=r"cannot use '.*': file is not a database"):
            opened()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_refused_file_is_closed(tmp_path: Path) -> None:
    (tmp_path / FILENAME).write_text("this is a shopping list, " * 100)
    for opened in (lambda: Store.open(tmp_path, "essays"), lambda: Store.view(tmp_path), lambda: Cache.open(tmp_path)):
        (tmp_path / CACHE).write_text("another list, " * 100)
        with pytest.raises((StoreError, sqlite3.DatabaseError)) as caught:
            opened()
        assert caught.traceback, "what was raised still holds what was opened"
        opened_files = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
        assert [name for name in opened_files if name.startswith(str(tmp_path))] == []


def test_a_refused_directory_is_not_left_locked(tmp_path: Path) -> None:
    (tmp_path / FILENAME).write_text("nonsense " * 200)
    with pytest.raises(StoreError):
        Store.open(tmp_path, "essays")
    (tmp_path / FILENAME).unlink()
    Store.open(tmp_path, "essays").close()


def test_a_path_that_cannot_be_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot use run directory '.*file/run'"):
        Store.open(tmp_path / "file" / "run", "essays")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="cannot use run directory"):
            Store.open(tmp_path / "run", "essays")
    finally:
        tmp_path.chmod(0o700)


def test_a_directory_without_a_run_cannot_be_viewed(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is not a run directory: it holds no run\.sqlite"):
        Store.view(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_kill_left_without_tables_cannot_be_viewed_but_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / FILENAME).touch()
    with pytest.raises(StoreError, match="holds no run yet; run the suite first"):
        Store.view(tmp_path)
    Store.open(tmp_path, "essays").close()
    Store.view(tmp_path).close()


def test_a_run_can_be_viewed_while_it_is_written(store: Store, tmp_path: Path) -> None:
    viewed = Store.view(tmp_path / "run")
    plan(store, "a", "b")
    store.records.put([(record("b"), None, None)])
    store.flush()
    assert columns_of(viewed)["trial_id"] == ("b",)
    viewed.close()


def test_what_a_kill_left_in_the_log_is_read_where_the_directory_is_read_only(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set_meta("key", "value")
    shutil.copytree(store.path.parent, tmp_path / "copy")
    assert (tmp_path / "copy" / f"{FILENAME}-wal").stat().st_size
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    viewed = Store.view(tmp_path / "copy")
    assert viewed.meta("key") == "value"
    viewed.close()


def test_reading_leaves_nothing_behind_and_changes_nothing(store: Store, tmp_path: Path) -> None:
    store.set_meta("key", "value")
    store.close()
    content = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    viewed = Store.view(tmp_path / "run")
    assert viewed.meta("key") == "value"
    viewed.close()
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == content


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize(("directory", "file"), [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)])
def test_what_may_not_be_written_can_be_read(store: Store, tmp_path: Path, directory: int, file: int) -> None:
    store.set_meta("key", "value")
    store.close()
    (tmp_path / "run" / FILENAME).chmod(file)
    (tmp_path / "run").chmod(directory)
    try:
        viewed = Store.view(tmp_path / "run")
        assert viewed.meta("key") == "value"
        viewed.close()
    finally:
        (tmp_path / "run").chmod(0o700)


def test_a_viewed_store_cannot_be_written(store: Store, tmp_path: Path) -> None:
    viewed = Store.view(tmp_path / "run")
    with pytest.raises(StoreError, match="was opened for reading"):
        viewed.set_meta("a", "b")
    with pytest.raises(StoreError, match="readonly"):
        viewed._database.rows("DELETE FROM meta")
    viewed.close()


def test_a_stage_is_replaced_with_its_digest_or_not_at_all(store: Store, tmp_path: Path) -> None:
    plan(store, "a")
    assert store.trials.digest() == "digest"
    broken = [TrialRow(0, "b", "c", "j", 0, 0), TrialRow(0, "d", "c", "j", 0, 0)]
    with pytest.raises(StoreError):
        store.trials.replace("other", broken)
    viewed = Store.view(tmp_path / "run")
    assert viewed.trials.digest() == "digest"
    assert [trial.trial_id for trial in viewed.trials.trials_to_run("judge")] == ["a"]
    assert viewed.items.digest() is None
    viewed.close()


def columns_of(store: Store) -> dict[str, tuple[Any, ...]]:
    """Return the records of the plan, which are few, as columns."""
    return next(store.records.slices(), {})


def test_records_come_in_plan_order_whatever_order_they_were_written_in(store: Store) -> None:
    plan(store, "a", "b", "c")
    store.records.put([(record("c"), None, None), (record("a"), "{}", None)])
    store.records.put([(record("b"), None, None)])
    store.flush()
    columns = columns_of(store)
    assert columns["trial_id"] == ("a", "b", "c")
    assert list(columns) == [field.name for field in attrs.fields(Record)]


def test_every_field_of_a_record_survives(store: Store) -> None:
    plan(store, "a")
    original = record("a", cost=None, temperature=0.7, gold=None, detail="naïve\n\x00", prompt_tokens=None)
    store.records.put([(original, None, None)])
    store.flush()
    found = {name: values[0] for name, values in columns_of(store).items()}
    expected = {**attrs.asdict(original), "status": "ok"}
    assert found == expected


def test_a_table_without_records_has_no_columns(store: Store) -> None:
    assert columns_of(store) == {}


def test_records_that_left_the_plan_are_kept_and_not_returned(store: Store) -> None:
    plan(store, "a", "b")
    store.records.put([(record("a"), None, None), (record("b"), None, None)])
    plan(store, "b")
    store.flush()
    assert columns_of(store)["trial_id"] == ("b",)
    plan(store, "a", "b")
    assert columns_of(store)["trial_id"] == ("a", "b")


def test_pending_are_trials_without_a_record_and_those_that_may_succeed_when_asked_again(store: Store) -> None:
    statuses = list(Status)
    plan(store, *(status.value for status in statuses), "never-asked")
    store.records.put([(record(status.value, status), None, None) for status in statuses])
    store.flush()
    assert [trial for trial, *_ in store.trials.trials_to_run("judge")] == [
        "timeout",
        "provider_error",
        "plugin_error",
        "never-asked",
    ]


def test_a_trial_that_is_asked_again_has_one_record_the_later(store: Store) -> None:
    plan(store, "a")
    store.records.put([(record("a", Status.TIMEOUT), None, None)])
    store.records.put([(record("a", Status.OK), None, None)])
    store.flush()
    assert columns_of(store)["status"] == ("ok",)
    assert store.trials.trials_to_run("judge") == []


async def test_calls_are_numbered_on_after_a_restart(tmp_path: Path, stored: Any) -> None:
    store = Store.open(tmp_path, "essays")
    first, durable = store.calls.intend("key", "m", "", 0.0, None)
    await durable
    await store.calls.conclude(first, outcome="ok", final=True, cost=0.5, detail="", payload="reply")
    store.close()
    again = Store.open(tmp_path, "essays")
    second, durable = again.calls.intend("key", "m", "", 0.0, 0.25)
    await durable
    assert second == first + 1
    assert stored(again, "SELECT outcome, cost, worst FROM calls ORDER BY id") == [
        ("ok", 0.5, None),
        (None, None, 0.25),
    ]
    again.close()


async def test_a_reply_that_was_paid_for_is_found_again_and_a_failed_one_is_not(tmp_path: Path) -> None:
    store = Store.open(tmp_path, "essays")
    for key, payload in (("answered", "reply"), ("failed", None)):
        call, durable = store.calls.intend(key, "m", "", 0.0, None)
        await durable
        await store.calls.conclude(call, outcome="ok", final=True, cost=None, detail="", payload=payload)
    store.close()
    again = Store.open(tmp_path, "essays")
    assert again.calls.usable_reply("answered") == "reply"
    assert again.calls.usable_reply("failed") is None
    assert again.calls.usable_reply("unheard of") is None
    again.close()


def test_a_record_stands_unless_asking_again_may_help(store: Store) -> None:
    store.records.put([(record(status.value, status), None, None) for status in Status])
    store.flush()
    failed = {"timeout", "provider_error", "plugin_error"}
    assert (
        store.trials.final_trials([status.value for status in Status]) == {status.value for status in Status} - failed
    )
