"""A store that is damaged, emptied, changed or deleted: one message, nothing paid twice, and what can be saved is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from jrh.cli import invoke
from jrh.store import StoredRows
from jrh.store.records_table import checksum
from jrh.values.verdicts import COLUMNS
from jrh_testing import ChatServer, Inside, LabelAnswers, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, report_bytes, until
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.slow
ITEMS = 40


@frozen(kw_only=True)
class Done:
    """A finished run, and the server it asked."""

    project: Project
    server: ChatServer
    calls: int


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    project = Inside(tmp_path_factory.mktemp("done"), env={KEY_VARIABLE: KEY})
    with ChatServer(LabelAnswers(labels=LABELS)) as server:
        write_items(project, ITEMS)
        write_suite(project, llm_suite(openai_http(server.url), tests=[{"format": {"variants": ["spaces"]}}]))
        outcome = project.run("run", "suite.yaml", "--run-dir", "whole", "--no-cache")
        assert outcome.exit_code == 0, outcome.output
        yield Done(project=project, server=server, calls=server.count)


def copied(done: Done, name: str) -> Path:
    shutil.copytree(done.project.path / "whole", done.project.path / name)
    return done.project.path / name / "run.sqlite"


def run(done: Done, name: str) -> tuple[int, str, int]:
    """Run the suite in a directory; return the exit code, the messages and the calls it made."""
    before = done.server.count
    outcome = done.project.run("run", "suite.yaml", "--run-dir", name, "--no-cache")
    return outcome.exit_code, outcome.stderr, done.server.count - before


def test_a_changed_verdict_is_found_and_left_out_and_asked_for_without_a_call(done: Done) -> None:
    with closing(sqlite3.connect(copied(done, "changed"))) as store:
        store.execute(
            "UPDATE records SET canonical = CASE canonical WHEN 'YES' THEN 'NO' ELSE 'YES' END "
            "WHERE rowid = (SELECT min(rowid) FROM records)"
        )
        store.execute("PRAGMA application_id = 0")  # as a kill leaves it: without the checksum of the whole file
        store.commit()
    for command in (("report", "changed"), ("run", "suite.yaml", "--run-dir", "changed", "--no-cache")):
        refused = done.project.run(*command)
        assert refused.exit_code == 2, refused.output
        assert "jrh: 1 record of 'changed/run.sqlite' changed after jrh wrote it" in refused.stderr
        assert "`jrh salvage 'changed'`" in refused.stderr
    saved = done.project.run("salvage", "changed")
    assert saved.exit_code == 0, saved.output
    assert "Left out: 1 row of records that changed after jrh wrote them." in saved.stdout
    assert f"Saved: {ITEMS} items, {2 * ITEMS} cases, " in saved.stdout
    assert run(done, "changed-salvaged")[::2] == (0, 0), "the reply of the record was saved"
    assert report_bytes(done.project, "changed-salvaged") == report_bytes(done.project, "whole")


def test_values_of_a_wrong_type_have_no_checksum_that_any_row_could_hold() -> None:
    """A page in the place of another may bring a row of other columns, in which the checksum is missing, too."""
    values: list[Any] = [None] * len(COLUMNS)
    assert checksum(values) == checksum(list(values))
    values[COLUMNS.index("cost")] = "text"
    assert [stored for stored in (None, 0, checksum(list(values))) if checksum(values) == stored] == []


@pytest.mark.parametrize("how", ["zeros", "noise", "bits"])
def test_no_broken_page_is_a_traceback_or_another_report(
    done: Done, how: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(done.project.path)
    path = copied(done, how)
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = store.execute("PRAGMA page_size").fetchone()[0]
    whole = path.read_bytes()
    pages = range(1, len(whole) // size, max(1, len(whole) // size // 12))
    refused = 0
    for page in pages:
        part = whole[page * size : (page + 1) * size]
        broken = {
            "zeros": bytes(size),
            "noise": bytes((place * 37 + 11) % 256 for place in range(size)),
            "bits": bytes(byte ^ 1 if place % 500 == 250 else byte for place, byte in enumerate(part)),
        }[how]
        path.write_bytes(whole[: page * size] + broken + whole[(page + 1) * size :])
        code = invoke(["report", how, "--format", "json", "--output", f"{how}-out"])
        said = capfd.readouterr().err
        assert code in (0, 2), said
        assert "Traceback" not in said
        refused += code
        if code == 0:
            reported = (done.project.path / f"{how}-out" / "report.json").read_bytes()
            assert reported == (done.project.path / "whole" / "report.json").read_bytes()
    assert refused, "no page mattered"


def test_a_store_with_a_broken_page_is_salvaged_and_only_what_is_lost_is_paid_for_again(done: Done) -> None:
    path = copied(done, "broken")
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = store.execute("PRAGMA page_size").fetchone()[0]
        (page,) = store.execute(
            "SELECT pageno FROM dbstat WHERE name = 'calls' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 1"
        ).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    code, said, calls = run(done, "broken")
    assert (code, calls) == (2, 0), said
    assert "jrh: 'broken/run.sqlite' is damaged (" in said
    assert "`jrh salvage 'broken'`" in said
    assert said.count("\n") == 1
    before = path.read_bytes()
    saved = done.project.run("salvage", "broken")
    assert "Not readable to the end: calls." in saved.stdout
    assert path.read_bytes() == before
    kept = one(done.project, "broken-salvaged", "SELECT count(*) FROM calls")
    assert done.calls // 2 < kept < done.calls
    # Every record was saved, so that nothing has to be asked.
    assert run(done, "broken-salvaged")[::2] == (0, 0)
    again = done.project.run("salvage", "broken")
    assert again.exit_code == 2
    assert "exists already; move it away" in again.stderr


def test_a_table_with_a_broken_page_is_read_from_both_ends(done: Done) -> None:
    path = copied(done, "cases")
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = store.execute("PRAGMA page_size").fetchone()[0]
        every = [case for (case,) in store.execute("SELECT id FROM cases ORDER BY rowid")]
        pages = store.execute("SELECT pageno FROM dbstat WHERE name = 'cases' AND pagetype = 'leaf' ORDER BY path")
        page = pages.fetchall()[1][0]
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with closing(StoredRows(path.parent)) as source:
        kept = [row["id"] for row in source.rows("cases")]
        assert source.broken == ["cases"]
    assert {every[0], every[-1]} <= set(kept) < set(every)
    assert len(kept) == len(set(kept))


def test_a_whole_run_is_salvaged_as_it_is(done: Done) -> None:
    """Drafts that were skipped are kept, too."""
    write_suite(done.project, llm_suite(openai_http(done.server.url), tests=["label-flip", "format"]), "more.yaml")
    assert done.project.run("run", "more.yaml", "--run-dir", "more").exit_code == 0
    saved = done.project.run("salvage", "more")
    assert saved.exit_code == 0, saved.output
    assert "Left out" not in saved.stdout
    drafts = "SELECT state, reason, count(*) FROM drafts GROUP BY 1, 2 ORDER BY 1, 2"
    assert one(done.project, "more-salvaged", "SELECT count(*) FROM drafts WHERE case_id IS NULL") > 0
    rows = []
    for name in ("more", "more-salvaged"):
        with closing(sqlite3.connect(done.project.path / name / "run.sqlite")) as store:
            rows.append(store.execute(drafts).fetchall())
    assert rows[0] == rows[1]


def test_a_salvage_that_is_killed_leaves_nothing_that_looks_like_a_run(done: Done) -> None:
    copied(done, "killed")
    kill = "import os, jrh.store.copying as copying; copying.marks = lambda row: os.kill(os.getpid(), 9)"
    program = f"{kill}; from jrh.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", program, "salvage", "killed"], cwd=done.project.path, check=False)
    assert ended.returncode == -9
    assert not (done.project.path / "killed-salvaged").exists()
    assert done.project.run("salvage", "killed").exit_code == 0
    assert not (done.project.path / "killed-salvaged.unfinished").exists()


def test_a_text_that_changed_is_counted_once(done: Done) -> None:
    with closing(sqlite3.connect(copied(done, "body"))) as store:
        store.execute("UPDATE texts SET body = x'00' WHERE id = 1")
        store.commit()
    assert "Left out: 1 row of texts that changed after jrh wrote them." in done.project.run("salvage", "body").stdout


def test_revised_cases_are_salvaged_like_the_decisions_about_them(done: Done) -> None:
    with closing(sqlite3.connect(copied(done, "revised"))) as store:
        store.execute("INSERT INTO revised_cases VALUES ('case', '{}')")
        store.commit()
    assert done.project.run("salvage", "revised").exit_code == 0
    assert one(done.project, "revised-salvaged", "SELECT count(*) FROM revised_cases") == 1


def test_an_empty_store_beside_a_log_is_refused_and_nothing_is_paid_again(done: Done) -> None:
    path = copied(done, "emptied")
    path.write_bytes(b"")
    for side in ("run.sqlite-wal", "run.sqlite-shm"):
        path.with_name(side).unlink(missing_ok=True)
    code, said, calls = run(done, "emptied")
    assert (code, calls) == (2, 0), said
    assert "'emptied/run.sqlite' is empty, and 'emptied/log.jsonl' says that a run was made here" in said
    assert path.stat().st_size == 0


def test_a_run_stops_at_once_when_its_directory_is_deleted(project: Project) -> None:
    project.env[KEY_VARIABLE] = KEY
    items = write_items(project, 300)
    with ChatServer("YES", latency=0.05) as server:
        write_suite(project, llm_suite(openai_http(server.url, concurrency=4)))
        command = ("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--no-preflight")
        with project.start(*command) as running:
            until(lambda: server.count >= 20, "20 requests")
            shutil.rmtree(project.path / "run")
            deleted = server.count
            outcome = running.wait()
        asked = server.count - deleted
    assert outcome.exit_code == 3, outcome.output
    assert "jrh: not done: 'run/run.sqlite' was deleted or replaced while the run wrote to it." in outcome.stderr
    assert "jrh: to continue: jrh run suite.yaml" in outcome.stderr
    assert asked <= 3 * 4 < items
    assert not (project.path / "run" / "report.json").exists()


def test_a_log_with_half_a_line_goes_on_with_a_whole_one(done: Done) -> None:
    log = copied(done, "torn").with_name("log.jsonl")
    with log.open("a") as file:
        file.write('{"event": "run sta')
    assert run(done, "torn")[0] == 0
    *_, torn, first, _last = log.read_text().splitlines()
    assert torn == '{"event": "run sta'
    assert first.startswith("{")


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_log_that_is_a_link_or_a_pipe_is_refused(done: Done, kind: str) -> None:
    log = copied(done, kind).with_name("log.jsonl")
    log.unlink()
    target = done.project.path / "elsewhere.txt"
    target.write_text("mine\n")
    if kind == "link":
        log.symlink_to(target)
    else:
        os.mkfifo(log)
    code, said, _ = run(done, kind)
    assert code == 2, said
    assert f"cannot write '{kind}/log.jsonl': " in said
    assert "it is a symbolic link" in said or kind == "pipe"
    assert target.read_text() == "mine\n"


def test_no_link_in_a_run_directory_leads_a_report_out_of_it(done: Done) -> None:
    place = copied(done, "linked").parent
    target = done.project.path / "outside.txt"
    target.write_text("mine\n")
    for name in ("report.md", "report.html", "badge.svg"):
        (place / f".{name}.partial").symlink_to(target)
    for command in (
        ("report", "linked", "--format", "markdown,html"),
        ("card", "linked", "--badge", "linked/badge.svg"),
    ):
        written = done.project.run(*command)
        assert written.exit_code == 0, written.output
    assert target.read_text() == "mine\n"
    assert [(place / name).is_symlink() for name in ("report.md", "report.html", "badge.svg")] == [False] * 3


CHANGES = {
    "cost": "UPDATE calls SET cost = 1.0 WHERE id = 1",
    "trial": "UPDATE trials SET id = iif(id LIKE 'a%', 'b', 'a') || substr(id, 2) WHERE position = 1",
    "measure": "UPDATE measures SET payload = replace(payload, '0.', '0.1')",
    "item": "UPDATE items SET payload = CAST(payload || x'00' AS BLOB) WHERE position = 0",
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_in_a_store_that_was_closed_is_noticed(done: Done, what: str) -> None:
    path = copied(done, f"edited-{what}")
    with closing(sqlite3.connect(path)) as store:
        store.execute(CHANGES[what])
        store.commit()
    for command in (("report", path.parent.name), ("run", "suite.yaml", "--run-dir", path.parent.name)):
        refused = done.project.run(*command)
        assert refused.exit_code == 2, refused.output
        assert f"'{path.parent.name}/run.sqlite' is damaged (it changed after jrh wrote it)" in refused.stderr


ENDLESS = (
    "ALTER TABLE stage_measure_findings RENAME TO other; CREATE VIEW stage_measure_findings AS "
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS part, i AS content FROM n"
)
FORGED = {
    "trials": ("UPDATE trials SET id = 'nonsense' WHERE position = 1", ("run", "suite.yaml", "--run-dir"), "has an id"),
    "items": ("UPDATE items SET covariates = 'nonsense'", ("rank",), "covariates are a JSON object such as"),
    "views": (
        ENDLESS,
        ("report",),
        "'measure_findings' is no table",
    ),
    "findings": ("UPDATE stage_measure_findings SET content = x'fffe'", ("report",), "has a value of a wrong type"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_value_that_somebody_forged_is_one_message(done: Done, what: str) -> None:
    statement, command, message = FORGED[what]
    with closing(sqlite3.connect(copied(done, f"forged-{what}"))) as store:
        for part in statement.split(";"):
            assert store.execute(part).rowcount
        store.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        store.commit()
    refused = done.project.run(*command, f"forged-{what}")
    assert (refused.exit_code, message in refused.stderr, len(refused.stderr) < 500) == (2, True, True), refused.stderr


def test_a_text_that_changed_is_named_and_left_out_when_its_store_is_salvaged(done: Done) -> None:
    path = copied(done, "texts")
    with closing(sqlite3.connect(path)) as store:
        # One bit of the last byte before the checksum of a case.
        ((blob,),) = store.execute("SELECT payload FROM cases WHERE rowid = 1").fetchall()
        store.execute("UPDATE cases SET payload = ? WHERE rowid = 1", (blob[:-5] + bytes([blob[-5] ^ 1]) + blob[-4:],))
        store.execute("PRAGMA application_id = 0")  # as after a kill: no checksum of the whole file
        store.commit()
    saved = done.project.run("salvage", "texts")
    assert saved.exit_code in (0, 3), saved.output
    assert "Left out: 1 row of cases that changed after jrh wrote them." in saved.output
    assert run(done, "texts-salvaged")[2] == 0, "a case is made again without a call"
    assert report_bytes(done.project, "texts-salvaged") == report_bytes(done.project, "whole")


def test_a_name_of_a_column_that_changed_is_a_table_that_is_lost(done: Done) -> None:
    path = copied(done, "named")
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA application_id = 0")  # as after a kill: no checksum of the whole file
        store.commit()
    whole = path.read_bytes()
    before, after = (b"completion_tokens INTEGER,\n    not_sett" + each + b"ble" for each in (b"a", b"\xd5"))
    assert whole.count(before) == 1
    path.write_bytes(whole.replace(before, after))
    saved = done.project.run("salvage", "named")
    assert saved.exit_code in (0, 3), saved.output
    assert "Traceback" not in saved.output
    assert "uses" in saved.output


def test_a_reply_that_changed_is_left_out_when_its_store_is_salvaged(done: Done) -> None:
    path = copied(done, "replies")
    with closing(sqlite3.connect(path)) as store:
        changed = 'UPDATE calls SET payload = replace(payload, \'"text":"\', \'"text":"not \') WHERE id = 1'
        store.execute(changed)
        store.execute("DELETE FROM records")
        store.commit()
    saved = done.project.run("salvage", "replies")
    assert saved.exit_code in (0, 3), saved.output
    assert "Saved without what changed after jrh wrote it: 1 call." in saved.stdout
    lost = one(done.project, "replies-salvaged", "SELECT count(*) FROM calls WHERE payload IS NULL")
    assert (lost, run(done, "replies-salvaged")[2]) == (1, 1)
    assert report_bytes(done.project, "replies-salvaged") == report_bytes(done.project, "whole")


TYPES = (
    "UPDATE calls SET payload = CAST(payload AS BLOB) WHERE id = 1",
    "UPDATE calls SET key = CAST(key AS BLOB) WHERE id = 2",
    "UPDATE calls SET cost = 'much', started = 'once' WHERE id = 3",
    "UPDATE items SET payload = CAST(payload AS BLOB) WHERE position = 0",
    "UPDATE records SET canonical = CAST(canonical AS BLOB) WHERE rowid = 1",
    "UPDATE cases SET texts = '{}' WHERE rowid = 1",
    "DELETE FROM records WHERE rowid BETWEEN 2 AND 40",
)


def test_values_that_became_another_type_are_left_out_when_their_store_is_salvaged(done: Done) -> None:
    path = copied(done, "types")
    with closing(sqlite3.connect(path)) as store:
        assert all(store.execute(change).rowcount for change in TYPES)
        store.commit()
    saved = done.project.run("salvage", "types")
    assert saved.exit_code in (0, 3), saved.output
    assert one(done.project, "types-salvaged", "SELECT count(*) FROM calls") == done.calls
    code, said, asked = run(done, "types-salvaged")
    assert (code, asked) == (0, 2), said
    assert report_bytes(done.project, "types-salvaged") == report_bytes(done.project, "whole")
