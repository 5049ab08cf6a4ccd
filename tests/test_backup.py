"""A run is copied while it goes on; the copy reports, continues, and is for its user alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from filelock import FileLock
from jrh.store.database import Database
from jrh_testing import ChatServer, Inside, LabelAnswers, Outcome, Project, loop_over
from support.holding import Held
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report_bytes, run_files, until
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside
ITEMS = 30
RUN = ("run", "suite.yaml", "--no-cache", "--no-preflight", "--run-dir")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory):
    """Yield a project, its server, and what a backup in the middle of its run said."""
    project = Inside(tmp_path_factory.mktemp("backup"), env={KEY_VARIABLE: KEY})
    answers = Held(LabelAnswers(labels=LABELS))
    with ChatServer(answers) as server:
        write_items(project, ITEMS)
        write_suite(project, llm_suite(openai_http(server.url, concurrency=1)))
        answers.stop_before(ITEMS // 2)
        with Project.start(project, *RUN, "run") as running:
            until(lambda: server.count == ITEMS // 2, "half of the questions")
            until(lambda: one(project, "run", "SELECT count(*) FROM records") > 0, "a record")
            said = project.run("backup", "run")
            answers.go_on()
            assert running.wait().exit_code == 0
        yield project, server, said


def test_a_run_is_backed_up_while_it_writes(held) -> None:
    project, _, said = held
    assert said.exit_code == 0, said.output
    kept = one(project, "run-backup", "SELECT count(*) FROM records")
    assert 0 < kept < ITEMS
    assert f"Backed up: {kept} record" in said.stdout
    assert said.stdout.splitlines()[-1].startswith("Next: jrh report ")
    assert one(project, "run-backup", "PRAGMA integrity_check") == "ok"
    assert (project.path / "run-backup/log.jsonl").is_file()
    assert not [path.name for path in project.path.iterdir() if "unfinished" in path.name]


def test_the_backup_is_a_run_directory_that_continues_and_ends_in_the_same_report(held) -> None:
    project, server, _ = held
    assert project.run("backup", "run-backup", "again").exit_code == 0
    reported = project.run("report", "again")
    assert (reported.exit_code, "Traceback" in reported.output) == (0, False), reported.output
    before = server.count
    calls = one(project, "again", "SELECT count(*) FROM calls WHERE payload IS NOT NULL")
    assert project.run(*RUN, "again").exit_code == 0
    assert server.count - before == ITEMS - calls, "answers that the backup has are not asked for again"
    assert query(project, "again", VERDICTS) == query(project, "run", VERDICTS)


VERDICTS = "SELECT item_id, canonical FROM records ORDER BY trial_id"


def test_the_backup_of_a_run_that_ended_reports_the_same_bytes_and_is_for_its_user_alone(held) -> None:
    project, _, _ = held
    before = run_files(project, "run")
    assert project.run("backup", "run", "sub/whole").exit_code == 0
    assert run_files(project, "run") == before
    assert run_files(project, "sub/whole") == {name: text for name, text in before.items() if name != "run.lock"}
    assert project.run("report", "sub/whole").exit_code == 0
    assert report_bytes(project, "sub/whole") == report_bytes(project, "run")
    assert oct((project.path / "sub/whole").stat().st_mode & 0o777) == "0o700"
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (project.path / "sub/whole").iterdir()}
    assert set(modes.values()) == {"0o600"}, modes


@loop_over(
    ("target", "said"),
    [
        ("full", "'full' is not empty; choose another directory"),
        ("suite.yaml", "Directory 'suite.yaml' is a file"),
        ("run/inside", "'run/inside' lies in the run directory"),
        ("suite.yaml/inside", "'suite.yaml/inside' cannot be made: "),
        ("link", "'link' is a symbolic link; choose another directory"),
    ],
)
def test_a_target_that_cannot_be_one_is_one_message(held, target: str, said: str) -> None:
    project, _, _ = held
    project.write("full/notes.txt", "mine")
    with suppress(FileExistsError):
        (project.path / "link").symlink_to("nowhere")
    refused = project.run("backup", "run", target)
    assert (refused.exit_code, said in refused.stderr) == (2, True), refused.output
    assert project.read("full/notes.txt") == "mine"


@loop_over("command", [("backup", "run", "busy"), ("salvage", "run")])
def test_one_process_at_a_time_writes_a_target(held, command: tuple[str, ...]) -> None:
    project, _, _ = held
    target = project.path / ("busy" if command[0] == "backup" else "run-salvaged")
    with FileLock(f"{target}.unfinished.lock"):
        (target.with_name(f"{target.name}.unfinished")).mkdir()
        refused = project.run(*command)
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1), refused.output
        assert f"{target.name}'; wait for it, or choose another directory" in refused.stderr
        assert target.with_name(f"{target.name}.unfinished").is_dir(), "it belongs to the other process"
    assert project.run(*command).exit_code == 0


def test_of_two_merges_into_one_directory_one_wins_and_the_other_says_why(
    held, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _, _ = held
    for part in (1, 2):
        assert project.run(*RUN, f"part-{part}", "--shard", f"{part}/2").exit_code == 0
    merge = ("merge", "part-1", "part-2", "--run-dir", "whole")
    second: list[Outcome] = []
    opened = Database.open.__func__

    def open_in_the_middle(cls, run_dir: Path, suite: str) -> Database:
        if not second and run_dir.name == "whole.unfinished":
            second.append(Project.run(project, *merge))
        return opened(cls, run_dir, suite)

    monkeypatch.setattr(Database, "open", classmethod(open_in_the_middle))
    first = project.run(*merge)
    assert first.exit_code == 0, first.output
    assert (second[0].exit_code, second[0].stderr) == (
        2,
        "jrh: another jrh process is writing 'whole'; wait for it, or choose another directory\n",
    )
    assert one(project, "whole", "SELECT count(*) FROM records") == ITEMS
    assert "'whole' is not empty" in project.run(*merge).stderr


def break_a_page(path: Path, table: str) -> None:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
        (size,) = store.execute("PRAGMA page_size").fetchone()
        (page,) = store.execute("SELECT max(pageno) FROM dbstat WHERE name = ?", (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_a_page_that_breaks_while_a_run_writes_is_noticed_and_gets_no_checksum(held) -> None:
    project, _, _ = held
    assert project.run("backup", "run", "breaks").exit_code == 0
    path = project.path / "breaks/run.sqlite"
    database = Database.open(path.parent, "trial")
    database.set_meta("open", "yes")
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    break_a_page(path, "calls")
    refused = project.run("backup", "breaks", "copy")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1), refused.output
    assert "'breaks/run.sqlite' is damaged (" in refused.stderr
    assert "`jrh salvage 'breaks'`" in refused.stderr
    assert not (project.path / "copy").exists()
    with pytest.raises(Exception, match=r"run.sqlite' is damaged \("):
        database.close()
    assert path.read_bytes()[68:72] == bytes(4)


def test_a_byte_that_changes_while_a_run_writes_is_noticed_by_a_backup(held) -> None:
    project, _, _ = held
    assert project.run("backup", "run", "changes").exit_code == 0
    with closing(Database.open(project.path / "changes", "trial")) as database:
        database.writer.flush(("UPDATE calls SET payload = replace(payload, 'YES', 'NOO')", [()]))
        refused = project.run("backup", "changes", "copy")
    assert (refused.exit_code, " rows of calls in 'changes/run.sqlite' changed" in refused.stderr) == (2, True)
    assert json.loads(project.read("run/report.json")), "the whole run is untouched"
