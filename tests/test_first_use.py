"""What somebody meets who uses jrh for the first time: wrong directories, wrong files, and nothing to do."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from jrh_testing import Outcome, Project, call
from support.looking import query, snapshot
from support.suites import simulated_suite, write_items, write_suite
from support.verdicts import import_judges, right_with

SMALL = {"metrics": ["as-expected", "gold-accuracy"], "reports": ["terminal"]}
SECRET = "sk-do-not-show-me"


def refused(project: Project, *arguments: str) -> Outcome:
    """Call the program, which says in one message what is wrong, ends with 2, and writes nothing."""
    before = kept(project)
    done = call(project, *arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert "Traceback" not in done.stderr
    assert kept(project) == before
    return done


def kept(project: Project) -> dict[str, bytes]:
    """Return all files, but for those that SQLite and a lock put beside a store."""
    return {name: text for name, text in snapshot(project.path).items() if not name.endswith(("-shm", "-wal", ".lock"))}


# -- directories that hold no run --------------------------------------------------------------------------------------

READERS = {
    "report": ("report", "{}"),
    "report elsewhere": ("report", "{}", "--format", "markdown", "--output", "elsewhere"),
    "gate": ("gate", "{}", "--rule", "as-expected >= 0.5", "--junit", "made/gate.xml"),
    "compare": ("compare", "{}"),
    "compare first": ("compare", "{}", "good"),
    "compare second": ("compare", "good", "{}"),
    "compare judges": ("compare", "{}:mini", "good:large"),
    "advise": ("advise", "{}"),
    "card": ("card", "{}", "--judge", "mini"),
    "swap": ("swap", "{}", "--old", "mini", "--new", "large"),
    "review": ("review", "{}", "--reviewer", "ann"),
    "export": ("export", "{}", "--to", "csv", "--output", "made"),
    "export-transcripts": ("export-transcripts", "{}", "--jsonl", "out.jsonl"),
}
"""Every command that reads a run directory."""
NO_RUNS = {
    "nowhere": "a run directory",
    "bare": "'bare' is not a run directory: it holds no run.sqlite",
    "a-file": "a-file",
    "broken": "cannot use 'broken/run.sqlite': file is not a database",
    "newer": "'newer/run.sqlite' was written by a newer jrh (schema 99, this one knows",
    "older": "'older/run.sqlite' was written by an older jrh; give another run directory, or run that version",
    "begun": "'begun' holds no run yet; run the suite first",
    "started": "'started' holds nothing to report yet; run the suite first",
}


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a run, and everything that is none."""
    project = Project(tmp_path_factory.mktemp("directories"))
    for name in ("good", "newer", "older", "started"):
        import_judges(project.path / name, {"mini": right_with(0.9), "large": right_with(0.8)}, items=6)
    for name, change in (
        ("newer", "PRAGMA user_version=99"),
        ("older", "PRAGMA user_version=1"),
        ("started", "DELETE FROM meta WHERE key IN ('summary', 'imported')"),
    ):
        with closing(sqlite3.connect(project.path / name / "run.sqlite")) as connection:
            connection.execute(change)
            connection.execute("PRAGMA application_id=0")  # no checksum of the whole file
            connection.commit()
    for name in ("bare", "begun"):
        (project.path / name).mkdir()
    with closing(sqlite3.connect(project.path / "begun" / "run.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    project.write("a-file", "x")
    project.write("broken/run.sqlite", b"no database" * 500)
    return project


@pytest.mark.parametrize("name", NO_RUNS)
@pytest.mark.parametrize("command", READERS)
def test_every_command_that_reads_a_run_refuses_what_is_none(directories: Project, command: str, name: str) -> None:
    arguments = [part.format(name) for part in READERS[command]]
    if command == "gate" and name in ("begun", "started"):
        done = call(directories, *arguments)
        assert done.exit_code == 3, "a run that is not finished is a finding of the gate"
        assert "the run has not ended: it is still running, was killed, or was merged and not run" in done.stdout
        shutil.rmtree(directories.path / "made")
    else:
        assert NO_RUNS[name] in refused(directories, *arguments).stderr


def test_a_command_that_has_come_since_is_in_the_table() -> None:
    from jrh.cli import COMMANDS
    from jrh.cli.plugin_commands import plugin_commands

    reads_no_run = {
        "run",
        "plan",
        "ping",
        "plugins",
        "init",
        "schema",
        "audit",
        "check",
        "import",
        "init-from",
        "selftest",
        "label",
        "hunt",
        "automate",  # takes a table, too: tests/test_automate.py
        "gate-risk",  # takes a suite, too: tests/test_gate_risk.py
        "backup",  # copies a run: tests/test_backup.py
        "merge",  # reads the parts of a run: tests/test_shards.py
        "court",  # draws cases of a run, or reads them: tests/test_court.py
        "rank",  # takes a table, too: tests/test_rank.py
        "salvage",  # reads damaged runs: tests/test_damage.py
        "watch",  # takes a store, too: tests/test_watch.py
        "view",  # serves the runs below a directory, also those that are still to come
    }
    assert {*COMMANDS, *plugin_commands()} - reads_no_run == {arguments[0] for arguments in READERS.values()}


# -- a suite that was changed ------------------------------------------------------------------------------------------


@pytest.fixture
def ran(project: Project) -> Project:
    """Provide a finished run, with a judge of one's own."""
    write_items(project, 6)
    project.write("own.py", "def judge(question):\n    return 'YES'\n")
    write_suite(project, changed())
    assert call(project, "run", "suite.yaml", "--run-dir", "run").exit_code == 0
    return project


def changed(**parts: object) -> dict[str, object]:
    own = {"name": "own", "judge": "function", "function": "own.py:judge"}
    sim = {"name": "sim", "judge": "simulated"}
    return simulated_suite(**{"judges": [sim, own], "tests": [{"format": {"variants": ["spaces"]}}], **SMALL, **parts})


NO_MODULE = {"name": "mine", "judge": "function", "function": "no_such_module:judge"}
NO_FUNCTION = {"name": "mine", "judge": "function", "function": "own.py:jugde"}


@pytest.mark.parametrize("judge", [NO_MODULE, NO_FUNCTION], ids=["no module", "no function"])
@pytest.mark.parametrize(
    "parts",
    [{}, {"tests": [{"format": {"variants": ["blank-lines"]}}]}, {"seed": 5}],
    ids=["new judge", "and new test", "and new seed"],
)
def test_a_judge_that_cannot_be_built_is_found_before_a_run_that_exists_is_touched(
    ran: Project, judge: dict[str, object], parts: dict[str, object]
) -> None:
    write_suite(ran, changed(judges=[{"name": "sim", "judge": "simulated"}, judge], **parts))
    done = refused(ran, "run", "suite.yaml", "--run-dir", "run")
    assert done.stderr.startswith("jrh: function"), "nothing was begun"
    assert call(ran, "gate", "run", "--rule", "as-expected >= 0").exit_code != 3


def test_a_judge_whose_code_is_gone_is_refused_and_its_verdicts_are_still_reported(ran: Project) -> None:
    (ran.path / "own.py").unlink()
    for command in ("run", "plan"):
        done = refused(ran, command, "suite.yaml", "--run-dir", "run")
        assert re.match(r"jrh: suite\.yaml:\d+:\d+: function: file 'own\.py' not found", done.stderr)
    assert call(ran, "report", "run").exit_code == 0
    assert query(ran, "run", "SELECT count(DISTINCT judge) FROM records") == [(2,)]


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_line_of_the_environment_file_that_is_no_variable_ends_the_command(project: Project, command: str) -> None:
    write_items(project, 4)
    write_suite(project, simulated_suite(**SMALL))
    project.write("keys.env", f"# keys\n\nexport A=1\n{SECRET}\n")
    done = refused(project, command, "suite.yaml", "--env-file", "keys.env")
    assert done.stderr.startswith("jrh: --env-file: keys.env:4: expected KEY=VALUE\nWrite one KEY=VALUE")
    assert SECRET not in done.output


def test_the_gate_makes_the_directories_of_its_files_and_says_what_is_in_the_way(directories: Project) -> None:
    rule = ("--rule", "as-expected >= 0")
    assert "creates missing directories" in " ".join(call(directories, "gate", "--help").stdout.split())
    done = call(directories, "gate", "good", *rule, "--junit", "new/deep/gate.xml")
    assert done.exit_code == 0, done.output
    assert (directories.path / "new" / "deep" / "gate.xml").read_text().startswith("<?xml")
    shutil.rmtree(directories.path / "new")
    for option in ("--junit", "--json", "--markdown"):
        done = refused(directories, "gate", "good", *rule, option, "a-file/gate.xml")
        assert done.stderr == "jrh: cannot write 'a-file/gate.xml': Not a directory\n"


def test_a_run_without_transcripts_has_nothing_to_export_and_says_so(directories: Project) -> None:
    for option in (("--jsonl", "out.jsonl"), ("--log", "out.eval")):
        done = refused(directories, "export-transcripts", "good", *option)
        assert done.stderr == (
            "jrh: 'good': nothing to export: the run has no transcripts; none of its tasks has `mode: transcript`\n"
        )


def test_schemas_that_cannot_be_written_are_told(directories: Project) -> None:
    done = refused(directories, "schema", "--output", "a-file/schemas")
    assert done.stderr == "jrh: cannot write into 'a-file/schemas': Not a directory\n"


def test_init_names_the_next_command_as_a_shell_takes_it_and_no_directory(project: Project, tmp_path: Path) -> None:
    assert call(project, "init", "my suite.yaml").stdout == "Wrote my suite.yaml.\nNext: jrh run 'my suite.yaml'\n"
    (tmp_path / "there").mkdir()
    told = "jrh: 'there' is a directory; name a file, such as there/suite.yaml\n"
    assert refused(project, "init", "there").stderr == told
    assert refused(project, "init", "there", "--force").stderr == told
