"""Every bad input ends in one clear message, exit code 2, and nothing half-written (point 6)."""

from __future__ import annotations

import re
import sqlite3
import sys
from contextlib import closing

import pytest
from jrh_testing import ChatServer, Outcome, Project
from support.limited import can_mount, run_obeying_modes, run_on_tiny_disk, run_with_small_files
from support.looking import one, snapshot, until
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside

SUITE = """\
name: trial
data: {source: csv, path: answers.csv, columns: {id: key, request: question, response: answer, label: gold}}
task:
  instruction: Is the answer right?
  scale: {labels: [YES, NO]}
tests:
  - format: {variants: [spaces]}
judges:
  - {name: sim, judge: simulated}
resamples: 100
"""
ROWS = "key,question,answer,gold\na,What?,This one.,YES\nb,Where?,Over there.,NO\n"


@pytest.fixture(autouse=True)
def good_suite(project: Project) -> None:
    """Start from a suite that runs."""
    project.write("suite.yaml", SUITE)
    project.write("answers.csv", ROWS)


def change(project: Project, old: str, new: str, name: str = "suite.yaml") -> None:
    text = project.read(name)
    assert text.count(old) == 1, old
    project.write(name, text.replace(old, new))


def refused(project: Project, *more: str, suite: str = "suite.yaml") -> str:
    """Run, and return the one message of a run that was refused before anything was written."""
    before = snapshot(project.path)
    outcome = project.run("run", suite, *more)
    assert outcome.exit_code == 2, outcome.output
    assert "Traceback" not in outcome.output
    assert outcome.stdout == ""
    assert snapshot(project.path) == before
    assert not (project.path / "runs").exists()
    return outcome.stderr


def test_the_suite_that_all_others_are_made_of_runs(project: Project) -> None:
    outcome = project.run("run", "suite.yaml")
    assert outcome.exit_code == 0, outcome.output
    assert (project.path / "runs" / "trial" / "report.json").is_file()


# -- the suite -------------------------------------------------------------------------------------------------------


def test_an_unknown_key(project: Project) -> None:
    change(project, "judges:", "judgs: []\njudges:")
    message = refused(project)
    assert message.startswith("jrh: suite.yaml:8:1: judgs: unknown key\nDid you mean 'judges'? Known keys: name, data,")


def test_an_unknown_option_of_a_component(project: Project) -> None:
    change(project, "{variants: [spaces]}", "{variant: [spaces]}")
    assert refused(project).startswith(
        "jrh: suite.yaml:7:14: variant: unknown key\nDid you mean 'variants'? Known keys: variants, strengths,"
    )


def test_a_wrong_type(project: Project) -> None:
    change(project, "{variants: [spaces]}", '{variants: [spaces], width: "72"}')
    assert refused(project) == "jrh: suite.yaml:7:34: width: expected a whole number, got the text '72'\n"


def test_several_mistakes_are_told_at_once_in_the_order_of_the_file(project: Project) -> None:
    change(project, "{labels: [YES, NO]}", "{labels: [YES]}")
    change(project, "judge: simulated", "judge: simulatd")
    change(project, "variants: [spaces]", "variants: [spaced]")
    lines = [line for line in refused(project).removeprefix("jrh: ").splitlines() if line.startswith("suite.yaml:")]
    assert [line.split(":")[1] for line in lines] == ["5", "7", "9"]


def test_more_repeats_than_anybody_asks_for_are_refused_before_they_are_planned(project: Project) -> None:
    assert "at most 10000, got 1000000000" in refused(project, "--set", "reference.repeats=1000000000")
    change(project, "{variants: [spaces]}", "{variants: [spaces], repeats: 10001}")
    assert "suite.yaml:7:" in (message := refused(project))
    assert "at most 10000, got 10001" in message


def test_a_suite_that_is_not_there(project: Project) -> None:
    assert refused(project, suite="absent.yaml") == "jrh: absent.yaml: cannot be read: No such file or directory\n"


def test_an_empty_suite(project: Project) -> None:
    project.write("suite.yaml", "")
    assert "the suite is empty; `jrh init` writes one to start from" in refused(project)


def test_text_that_is_not_yaml(project: Project) -> None:
    project.write("suite.yaml", SUITE + "tests: [\n")
    message = refused(project)
    assert message.startswith("jrh: suite.yaml:12:1: not valid YAML: ")


def test_a_yaml_key_that_stands_twice(project: Project) -> None:
    project.write("suite.yaml", SUITE + "name: again\n")
    assert refused(project) == "jrh: suite.yaml:11:1: duplicate key 'name': it is already in line 1, column 1\n"


def test_a_yaml_tag_is_refused_and_runs_no_code(project: Project) -> None:
    change(project, "name: trial", "name: !!python/object/apply:os.system ['touch it-ran']")
    message = refused(project)
    assert message.startswith("jrh: suite.yaml:1:7: the tag '!!python/object/apply:os.system' is not allowed")
    assert not (project.path / "it-ran").exists()


def test_a_setting_on_the_command_line_that_is_wrong(project: Project) -> None:
    message = refused(project, "--set", "judges.sim.accuracy=2")
    assert message.startswith("jrh: --set judges.sim.accuracy: ")
    assert "between 0 and 1" in message


# -- the data --------------------------------------------------------------------------------------------------------


def test_a_data_file_that_is_not_there(project: Project) -> None:
    change(project, "answers.csv", "absent.csv")
    assert refused(project) == (
        "jrh: absent.csv: file not found; a relative path is relative to the suite's directory\n"
    )


def test_a_column_that_is_not_there(project: Project) -> None:
    change(project, "response: answer", "response: anwser")
    message = refused(project)
    assert "answers.csv" in message
    assert "'anwser'" in message
    assert "answer" in message.replace("anwser", "")


@pytest.mark.parametrize("content", ["", "key,question,answer,gold\n"], ids=["no bytes", "only a header"])
def test_empty_data(project: Project, content: str) -> None:
    project.write("answers.csv", content)
    message = refused(project)
    assert "answers.csv" in message
    assert "empty" in message or "no rows" in message


def test_a_label_outside_the_scale(project: Project) -> None:
    change(project, "Over there.,NO", "Over there.,MAYBE", "answers.csv")
    message = refused(project)
    assert message.startswith("jrh: answers.csv:3: ")
    assert "MAYBE" in message
    assert "YES, NO" in message


def test_two_rows_with_one_id(project: Project) -> None:
    change(project, "b,Where?", "a,Where?", "answers.csv")
    message = refused(project)
    assert "answers.csv:2" in message
    assert "answers.csv:3" in message


# -- components and plugins ------------------------------------------------------------------------------------------

PLUGIN = """\
from jrh import Draft, PerturberSpec, hookimpl
from jrh.plugins import NoOptions


class Same:
    async def perturb(self, item):
        return [Draft()]


@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="{name}", summary="nothing", factory=lambda options, context: Same())
"""


def test_an_unknown_component(project: Project) -> None:
    change(project, "- format: {variants: [spaces]}", "- formt: {variants: [spaces]}")
    message = refused(project)
    assert message.startswith("jrh: suite.yaml:7:5: unknown perturber 'formt' in tests[0]\nDid you mean 'format'? ")
    assert "stochastic" in message


def test_an_ambiguous_component(project: Project) -> None:
    for name in ("one", "two"):
        project.write(f"{name}.py", PLUGIN.format(name="twin"))
    change(project, "- format: {variants: [spaces]}", "- twin")
    message = refused(project, "--plugins", "one.py,two.py")
    assert message == "jrh: suite.yaml:7:5: ambiguous perturber 'twin' in tests[0]: write one of one/twin, two/twin\n"
    change(project, "- twin", "- two/twin")
    assert project.run("run", "suite.yaml", "--plugins", "one.py,two.py").exit_code == 0


def test_two_plugins_of_one_name(project: Project) -> None:
    project.write("here/twin.py", PLUGIN.format(name="twin"))
    project.write("there/twin.py", PLUGIN.format(name="twin"))
    change(project, "- format: {variants: [spaces]}", "- twin/twin")
    message = refused(project, "--plugins", "here/twin.py,there/twin.py")
    assert "perturber 'twin/twin'" in message
    assert "is declared twice by twin; remove one of them" in message


def test_a_plugin_that_declares_a_shipped_name_makes_the_bare_name_ambiguous(project: Project) -> None:
    project.write("mine.py", PLUGIN.format(name="format"))
    message = refused(project, "--plugins", "mine.py")
    assert "ambiguous perturber 'format' in tests[0]: write one of jrh-format/format, mine/format" in message


def test_a_broken_plugin_that_was_named(project: Project) -> None:
    project.write("broken.py", "1 / 0\n")
    assert refused(project, "--plugins", "broken.py") == (
        "jrh: cannot load plugin 'broken.py': broken local (ZeroDivisionError: division by zero (broken.py, line 1))\n"
    )


def installed(project: Project, name: str, source: str) -> Project:
    """Install a plugin beside those that are there, and return the project with programs that find it."""
    project.write(f"site/{name}.py", source)
    project.write(f"site/{name}-0.3.dist-info/METADATA", f"Metadata-Version: 2.1\nName: acme-{name}\nVersion: 0.3\n")
    project.write(f"site/{name}-0.3.dist-info/entry_points.txt", f"[jrh]\n{name} = {name}\n")
    found = {"PYTHONPATH": str(project.path / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    return Project(project.path, env={**project.env, **found})


def test_a_broken_plugin_that_is_only_installed_stops_nothing(project: Project) -> None:
    program = installed(project, "broken", "import a_package_that_is_not_there\n")
    assert program.run("run", "suite.yaml").exit_code == 0
    listed = program.run("plugins", "list")
    assert listed.exit_code == 0
    assert "acme-broken 0.3" in listed.stdout
    assert "ModuleNotFoundError: No module named 'a_package_that_is_not_there'" in listed.stdout


def test_a_component_that_a_broken_plugin_may_provide(project: Project) -> None:
    program = installed(project, "broken", "import a_package_that_is_not_there\n")
    change(project, "- format: {variants: [spaces]}", "- sprinkle")
    message = refused(program)
    assert message.startswith("jrh: suite.yaml:7:5: unknown perturber 'sprinkle' in tests[0]\n")
    assert (
        "1 plugin did not load fully and may provide it: acme-broken 0.3 (ModuleNotFoundError: No module named "
        "'a_package_that_is_not_there' (broken.py, line 1)).\nRun `jrh plugins list` for details.\n" in message
    )


@pytest.mark.parametrize(
    ("declaration", "use"),
    [("perturber", "- format: {variants: [spaces]}"), ("judge", "- {name: sim, judge: simulated}")],
)
def test_a_plugin_without_a_dependency(project: Project, declaration: str, use: str) -> None:
    project.write(
        "heavy.py",
        f"from jrh import JudgeSpec, PerturberSpec, hookimpl\n\n\n"
        "def build(options, context):\n    import a_package_that_is_not_there\n\n\n"
        f"@hookimpl\ndef jrh_{declaration}s():\n"
        f"    yield {declaration.capitalize()}Spec(name='heavy', summary='heavy', factory=build)\n",
    )
    change(project, use, "- heavy")
    assert refused(project, "--plugins", "heavy.py") == (
        "jrh: 'heavy/heavy' needs a package that is not installed: No module named 'a_package_that_is_not_there'; "
        "install what heavy local depends on\n"
    )


def test_a_model_without_the_secret_it_needs(project: Project) -> None:
    write_items(project, 2)
    write_suite(project, llm_suite(openai_http("http://127.0.0.1:9/v1", headers_env={"X-Gate": "ACME_PASS"})))
    message = refused(project)
    assert "ACME_PASS" in message
    assert "is not set" in message


def test_a_plugin_that_is_not_installed(project: Project) -> None:
    message = refused(project, "--plugins", "jrh-fromat")
    assert message.startswith("jrh: --plugins: unknown plugin 'jrh-fromat'\nDid you mean 'jrh-format'? Installed: ")


# -- the run directory -----------------------------------------------------------------------------------------------


def test_a_run_directory_in_use(project: Project) -> None:
    write_items(project, 4)
    with ChatServer("YES", latency=60.0) as server:
        write_suite(project, llm_suite(openai_http(server.url, concurrency=1)), "slow.yaml")
        with project.start("run", "slow.yaml", "--run-dir", "run") as running:
            until(lambda: server.count > 0, "the first request")
            second = project.run("run", "slow.yaml", "--run-dir", "run")
            assert running.is_running
            assert server.count == 1
    assert second.exit_code == 2
    assert second.stdout == ""
    assert second.stderr.endswith(
        "jrh: run directory 'run' is in use by another jrh process; wait for it, or choose another with --run-dir\n"
    )


def test_a_run_directory_of_another_suite(project: Project) -> None:
    first = project.run("run", "suite.yaml", "--run-dir", "run")
    assert first.exit_code == 0
    before = snapshot(project.path / "run")
    change(project, "name: trial", "name: other")
    second = project.run("run", "suite.yaml", "--run-dir", "run")
    assert second.exit_code == 2
    assert second.stderr == (
        "jrh: run directory 'run' belongs to the suite 'trial', not to 'other'; choose another with --run-dir\n"
    )
    assert snapshot(project.path / "run") == before


def test_a_run_directory_that_is_a_file(project: Project) -> None:
    outcome = project.run("run", "suite.yaml", "--run-dir", "answers.csv/run")
    assert outcome.exit_code == 2
    assert outcome.stderr == "jrh: cannot use run directory 'answers.csv/run': Not a directory\n"


def test_a_run_directory_whose_store_is_something_else(project: Project) -> None:
    project.write("run/run.sqlite", "these are my notes, and no database at all" * 100)
    before = project.read("run/run.sqlite")
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert outcome.stderr == "jrh: cannot use 'run/run.sqlite': file is not a database\n"
    assert project.read("run/run.sqlite") == before


@pytest.mark.parametrize(
    ("version", "said"), [(99, "a newer jrh (schema 99, this one knows"), (1, "an older jrh;"), (-1, "an older jrh;")]
)
def test_a_run_directory_of_another_jrh(project: Project, version: int, said: str) -> None:
    project.write("run/run.sqlite", "")
    with closing(sqlite3.connect(project.path / "run" / "run.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version={version}")
        connection.execute("CREATE TABLE notes (text)")
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert f"was written by {said}" in outcome.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are dropped the way Linux does it")
@pytest.mark.parametrize("run_dir", ["locked", "locked/run"])
def test_a_read_only_directory(project: Project, run_dir: str) -> None:
    locked = project.path / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    try:
        outcome = run_obeying_modes(project, "run", "suite.yaml", "--run-dir", run_dir)
    finally:
        locked.chmod(0o755)
    assert outcome.exit_code == 2, outcome.output
    assert outcome.stderr == f"jrh: cannot use run directory '{run_dir}': Permission denied\n"
    assert list(locked.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are dropped the way Linux does it")
def test_a_finished_run_that_became_read_only_can_be_read_and_not_be_continued(project: Project) -> None:
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    files = [project.path / "run", *(project.path / "run").iterdir()]
    modes = [path.stat().st_mode for path in files]
    for path in files:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        outcome = run_obeying_modes(project, "run", "suite.yaml", "--run-dir", "run")
        assert len(project.records("run")) == 6
    finally:
        for path, mode in zip(files, modes, strict=True):
            path.chmod(mode)
    assert outcome.exit_code == 2, outcome.output
    assert "Permission denied" in outcome.stderr
    assert outcome.stderr.count("\n") == 1


# -- the disk --------------------------------------------------------------------------------------------------------


def talkative(project: Project, server: ChatServer) -> int:
    """Write a suite whose replies fill a disk quickly."""
    items = write_items(project, 200)
    model = openai_http(server.url, concurrency=4)
    write_suite(project, llm_suite(model))
    return items


def check_full_disk(project: Project, outcome: Outcome, run_dir: str, server: ChatServer, items: int) -> None:
    assert outcome.exit_code == 3, outcome.output
    assert "Traceback" not in outcome.output
    *_, why, how = outcome.stderr.splitlines()
    assert why.startswith("jrh: not done: cannot write ")
    assert how.startswith("jrh: to continue: jrh run suite.yaml --run-dir ")
    answered = one(project, run_dir, "SELECT count(*) FROM calls WHERE outcome = 'ok'")
    kept = one(project, run_dir, "SELECT count(*) FROM calls WHERE payload IS NOT NULL")
    assert 0 < answered == kept < items
    assert one(project, run_dir, "PRAGMA integrity_check") == "ok"
    assert sum(server.proper_answers.values()) - answered <= 4 * 2, "calls went on after nothing could be kept any more"


def test_a_file_that_may_not_grow_any_more(project: Project) -> None:
    with ChatServer("YES, because " + "x" * 20_000) as server:
        items = talkative(project, server)
        full = run_with_small_files(
            project, 1_000_000, "run", "suite.yaml", "--run-dir", "run", "--no-cache", "--no-preflight"
        )
        check_full_disk(project, full, "run", server, items)
        known = one(project, "run", "SELECT count(*) FROM calls WHERE outcome = 'ok'")
        before = server.count
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache")
        assert done.exit_code == 0, done.output
        assert server.count - before == items - known


@pytest.mark.skipif(not can_mount(), reason="this process may not mount a file system")
def test_a_full_disk(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = tmp_path_factory.mktemp("kept")
    with ChatServer("YES, because " + "x" * 20_000) as server:
        items = talkative(project, server)
        command = ("run", "suite.yaml", "--run-dir", "disk/run", "--no-cache")
        (full,) = run_on_tiny_disk(project, 2000, kept, [command])
        check_full_disk(Project(kept), full, "run", server, items)


@pytest.mark.skipif(not can_mount(), reason="this process may not mount a file system")
def test_a_disk_that_is_full_from_the_start(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = tmp_path_factory.mktemp("kept")
    (full,) = run_on_tiny_disk(project, 16, kept, [("run", "suite.yaml", "--run-dir", "disk/run")])
    assert full.exit_code == 2, full.output
    assert full.stderr.splitlines()[-1].startswith("jrh: cannot ")
    assert "disk/run" in full.stderr
    assert "Traceback" not in full.output


def test_a_report_that_cannot_be_written_leaves_the_old_one(project: Project) -> None:
    change(project, "{variants: [spaces]}", "{variants: [spaces, trailing, indent, bullets]}")
    change(
        project,
        "  - {name: sim, judge: simulated}",
        "  - simulated\n  - {name: again, judge: simulated}\n  - {name: more, judge: simulated}",
    )
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    before = snapshot(project.path / "run")
    shared_memory = 32_768  # bytes that SQLite itself needs to read
    assert len(before["report.json"]) > shared_memory
    outcome = run_with_small_files(project, shared_memory, "report", "run")
    assert outcome.exit_code == 2, outcome.output
    assert re.fullmatch(r"jrh: cannot write 'run/report\.(md|html|json)': File too large\n", outcome.stderr)
    after = snapshot(project.path / "run")
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"run.sqlite-shm", "run.sqlite-wal"}, "more than SQLite's own files was left"


def test_a_cache_that_cannot_be_used_is_said_and_costs_nothing_else(project: Project) -> None:
    with ChatServer("YES") as server:
        items = write_items(project, 2)
        write_suite(project, llm_suite(openai_http(server.url)))
        project.write("a-file", "")
        outcome = project.run("run", "suite.yaml", env={"JRH_CACHE_DIR": str(project.path / "a-file" / "cache")})
    assert outcome.exit_code == 0, outcome.output
    assert "The reply cache is unavailable" in outcome.stderr
    assert server.count == items


def test_a_run_without_verdicts_says_why_in_its_last_words(project: Project) -> None:
    change(project, "{name: sim, judge: simulated}", "{name: own, judge: command, command: [./nowhere]}")
    failed = project.run("run", "suite.yaml")
    assert failed.exit_code == 3
    assert "and have no verdict, 6 of them because: './nowhere' cannot be started: No such file" in failed.stderr

    change(project, "{name: own, judge: command, command: [./nowhere]}", "{name: shy, judge: simulated, refusals: 1.0}")
    silent = project.run("run", "suite.yaml", "--run-dir", "silent")
    assert silent.exit_code == 3
    assert "no verdict from shy (6 refused); these count as findings and are not asked again" in silent.stderr
    assert "to continue:" in failed.stderr
    assert "to continue:" not in silent.stderr


BROKEN = """\
from attrs import field, frozen
from jrh import DataSourceSpec, hookimpl
from jrh.plugins import ModeSpec

@frozen(kw_only=True)
class Section:
    own: str = field(metadata={"help": "any"})
    mode: str = field(default="broken", metadata={"help": "`broken`"})

class Broken:
    def read(self):
        return [1 / 0]

    def tasks(self, name, report):
        return {}["task"]

    def expand_items(self, items, task, problem):
        return items

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="broken", summary="raises", factory=lambda options, context: Broken())

@hookimpl
def jrh_modes():
    yield ModeSpec(name="broken", summary="raises", options=Section, factory=lambda section: Broken())
"""


def test_a_data_source_and_a_mode_that_raise_are_one_message_with_a_place(project: Project) -> None:
    project.write("broken.py", BROKEN)
    data, task = SUITE.splitlines()[1], "".join(SUITE.partition("task:")[1:]).partition("tests:")[0]
    project.write("source.yaml", SUITE.replace(data, "data: {source: broken}"))
    project.write("mode.yaml", SUITE.replace(task, "task: {own: x}\n"))
    said = refused(project, "--plugins", "broken.py", suite="source.yaml")
    assert said == (
        "jrh: the data of task 'trial' could not be read: ZeroDivisionError: division by zero (broken.py, line 12)\n"
    )
    said = refused(project, "--plugins", "broken.py", suite="mode.yaml")
    assert said == "jrh: mode.yaml:3:1: task: the mode 'broken' failed: KeyError: 'task' (broken.py, line 15)\n"


def test_a_perturber_that_raises_is_a_finding_of_the_report(project: Project) -> None:
    source = (
        "from jrh import PerturberSpec, hookimpl\n"
        "class Boom:\n"
        "    async def perturb(self, item):\n"
        "        return 1 / 0\n"
        "@hookimpl\n"
        "def jrh_perturbers():\n"
        "    yield PerturberSpec(name='boom', summary='', factory=lambda options, context: Boom())\n"
    )
    project.write("boom.py", source)
    command = ("run", "suite.yaml", "--plugins", "boom.py", "--set", "tests=[boom]", "--run-dir")
    one_item = project.run(*command, "one", "--limit", "1")
    assert "a plugin raised and 1 draft is missing (plugin error" in " ".join(one_item.stdout.split()), one_item.output
    outcome = project.run(*command, "run")
    assert outcome.exit_code == 3
    assert "drafts are missing because a model call failed or a plugin raised an error: boom" in outcome.stderr
    said = "Test 'boom': a perturber raised ZeroDivisionError: division by zero (boom.py, line 4); drafts are missing."
    assert outcome.stderr.count(said) == 1, "both items raise it, and it is said once"
    assert "a plugin raised and 2 drafts are missing (plugin error: ZeroDivisionError)" in " ".join(
        outcome.stdout.split()
    ), outcome.output
