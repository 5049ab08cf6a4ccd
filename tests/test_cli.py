"""The command line, as people and scripts use it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh_notebook.frames import records_frame
from jrh_testing import ChatServer, Inside, Outcome, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report, report_bytes, snapshot
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite

PRICE = {"input": 1000.0, "output": 2000.0}
"""Dollars per million tokens: every call costs cents."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide a project whose runs begin as those of people do, with the preflight."""
    return Inside(tmp_path, env={KEY_VARIABLE: KEY}, preflight=True)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("YES") as server:
        yield server


def judged(project: Project, server: ChatServer, items: int = 4, *, model: Any = None, **changes: Any) -> str:
    """Write a suite with an LLM judge, a simulated one and two tests."""
    write_items(project, items)
    settings = {"max_tokens": 10, "concurrency": 3, **(model or {})}
    judges = [{"name": "mini", "judge": "llm", "model": "mini"}, {"name": "sim", "judge": "simulated"}]
    tests = [{"format": {"variants": ["spaces"]}}, {"stochastic": {"repeats": 2}}]
    whole = {"judges": judges, "tests": tests, **changes}
    return write_suite(project, llm_suite(openai_http(server.url, **settings), **whole))


# -- without a suite -------------------------------------------------------------------------------------------------


def test_the_version_and_the_help_load_no_plugin(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("site/slow.py", "open('loaded', 'w')\n")
    project.write("site/slow-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
    project.write("site/slow-1.dist-info/entry_points.txt", "[jrh]\nslow = slow\n")
    env = {"PYTHONPATH": str(project.path / "site")}
    version = project.run("--version", env=env)
    assert (version.exit_code, version.stdout) == (0, "jrh, version 0.1.0\n")
    for arguments in (["--help"], ["run", "--help"], ["plan", "--help"]):
        assert project.run(*arguments, env=env).exit_code == 0
    assert not (project.path / "loaded").exists()
    project.run("plugins", "list", env=env)
    assert (project.path / "loaded").exists()


def test_the_help_names_every_command_and_the_exit_codes(project: Project) -> None:
    text = project.run("--help").stdout
    for name in ("run", "plan", "report", "plugins", "init", "schema"):
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
    codes = (
        "0 done, 1 a rule of the suite's gate fails (or is undecided, with `undecided: 1`), 2 usage or suite error, "
        "3 incomplete or a rule not checked, 4 budget reached, 130"
    )
    assert codes in " ".join(project.run("run", "--help").stdout.split())


def test_a_misspelt_command_gets_the_nearest_one(project: Project) -> None:
    for words, meant in ((["rnu"], "run"), (["plugins", "lst"], "list")):
        outcome = project.run(*words)
        assert outcome.exit_code == 2
        assert f"No such command '{words[-1]}'. Did you mean '{meant}'?" in outcome.stderr


@pytest.mark.parametrize("arguments", [("run",), ("run", "suite.yaml", "--limit", "0"), ("plugins", "show")])
def test_wrong_usage_ends_with_code_2(project: Project, arguments: tuple[str, ...]) -> None:
    outcome = project.run(*arguments)
    assert outcome.exit_code == 2
    assert "Usage: jrh " in outcome.stderr
    assert outcome.stdout == ""


def test_init_writes_a_suite_that_runs_as_it_is(project: Project) -> None:
    written = project.run("init")
    assert (written.exit_code, written.stdout) == (0, "Wrote suite.yaml.\nNext: jrh run suite.yaml\n")
    assert project.read("suite.yaml").count("#") >= 5
    # The first 10 items have no phrase that the rules of `paraphrase` can swap: a test without cases, exit code 3.
    ran = project.run("run", "suite.yaml", "--limit", "15")
    assert ran.exit_code == 0, ran.output
    assert "(simulated)" in ran.stdout


def test_init_does_not_overwrite_a_suite_unless_told_to(project: Project) -> None:
    project.write("mine.yaml", "precious")
    refused = project.run("init", "mine.yaml")
    assert (refused.exit_code, refused.stderr) == (2, "jrh: 'mine.yaml' exists already; use --force to overwrite it\n")
    assert project.read("mine.yaml") == "precious"
    assert project.run("init", "mine.yaml", "--force").exit_code == 0
    assert project.read("mine.yaml").startswith("# A suite for `jrh run`.")


def test_the_plugins_and_their_options_are_listed(project: Project) -> None:
    listed = project.run("plugins", "list")
    assert listed.exit_code == 0
    for name in ("csv", "format", "stochastic", "llm", "simulated", "baseline", "openai-http", "json", "as-expected"):
        assert re.search(rf"\b{name}\b", listed.stdout), name
    assert not re.search(r"^\d+ problems?:", listed.stdout, re.MULTILINE)
    # One role fits a screen: a line each, also in a narrow window.
    for words in (["perturber"], ["perturbers"], ["data", "source"], ["data-sources"]):
        of_role = project.run("plugins", "list", *words)
        assert of_role.exit_code == 0
        lines = of_role.stdout.splitlines()
        names = {line.split()[1] for line in lines if line.startswith("\u2502")}
        assert ("format" in names, "csv" in names) == (words[0][0] == "p", words[0][0] == "d")
        assert len(lines) <= len(names) + 6
    assert "Did you mean 'perturber'? Roles: data source, " in " ".join(
        project.run("plugins", "list", "perturbre").stderr.split()
    )
    shown = project.run("plugins", "show", "jrh-format/format")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("perturber jrh-format/format 0.1.0\n")
    assert "  width (int; default 72)\n      `wrap` breaks lines longer" in shown.stdout
    unknown = project.run("plugins", "show", "fromat")
    assert unknown.exit_code == 2
    assert unknown.stderr.startswith(
        "jrh: no component is named 'fromat'\nDid you mean 'format'? Run `jrh plugins list` for all "
    )


def test_the_schema_accepts_the_keys_of_a_suite(project: Project) -> None:
    printed = project.run("schema")
    assert printed.exit_code == 0
    assert {"name", "data", "task", "judges", "tests"} <= set(json.loads(printed.stdout)["properties"])


# -- what is run -----------------------------------------------------------------------------------------------------


def combinations(project: Project, run_dir: str) -> set[tuple[str, str]]:
    return set(query(project, run_dir, "SELECT DISTINCT judge, test FROM records"))


def test_a_part_of_a_suite_can_be_run(project: Project, server: ChatServer) -> None:
    suite = judged(project, server)
    part = ("run", suite, "--run-dir", "part", "--no-preflight")
    outcome = project.run(*part, "--judge", "mini", "--test", "format", "--limit", "3")
    assert outcome.exit_code == 0, outcome.output
    assert combinations(project, "part") == {("mini", "reference"), ("mini", "format")}
    assert server.count == 3 + 3
    rest = project.run(*part)
    assert rest.exit_code == 0, rest.output
    assert combinations(project, "part") == {
        (judge, test) for judge in ("mini", "sim") for test in ("reference", "format", "stochastic")
    }
    assert server.count == 4 * (1 + 1 + 2), "what the part had answered was asked again"


def test_options_may_be_repeated_and_unknown_names_are_told(project: Project, server: ChatServer) -> None:
    suite = judged(project, server)
    both = project.run("run", suite, "--run-dir", "a", "--judge", "sim", "--test", "format", "--test", "stochastic")
    assert both.exit_code == 0, both.output
    assert {test for _, test in combinations(project, "a")} == {"reference", "format", "stochastic"}
    wrong = project.run("run", suite, "--run-dir", "b", "--judge", "smi")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "jrh: --judge: the suite has no judge 'smi'\nDid you mean 'sim'? It has: mini, sim.\n",
    )
    assert not (project.path / "b").exists()


def test_values_of_the_suite_can_be_set(project: Project, server: ChatServer) -> None:
    suite = judged(project, server)
    settings = ("tests.stochastic.repeats=5", "judges.sim.accuracy=0.0", "reference.repeats=3", "seed=11")
    arguments = [word for setting in settings for word in ("--set", setting)]
    outcome = project.run("run", suite, "--run-dir", "set", "--judge", "sim", *arguments)
    assert outcome.exit_code == 0, outcome.output
    counted = dict(query(project, "set", "SELECT test, count(*) FROM records GROUP BY test"))
    assert counted == {"reference": 4 * 3, "format": 4, "stochastic": 4 * 5}
    assert one(project, "set", "SELECT count(*) FROM records WHERE canonical = gold") == 0
    assert report(project, "set")["seed"] == 11


def test_the_run_directory_is_named_after_the_suite_unless_said_otherwise(project: Project) -> None:
    write_items(project, 2)
    suite = write_suite(project, simulated_suite())
    assert project.run("run", suite).exit_code == 0
    assert (project.path / "runs" / "trial" / "report.md").is_file()
    elsewhere = project.run("run", suite, "--run-dir", "some where/else")
    assert elsewhere.exit_code == 0
    assert "Report: some where/else/report.md\n" in elsewhere.stdout


def test_named_plugins_come_with_those_that_jrh_ships_and_only_loads_exactly_those(project: Project) -> None:
    write_items(project, 2)
    suite = write_suite(project, simulated_suite(tests=["format"]))
    needed = "jrh-sources,jrh-simulated,jrh-metrics,jrh-report"
    without = project.run("run", suite, "--only", needed)
    assert without.exit_code == 2
    assert "unknown perturber 'format' in tests[0]" in without.stderr
    assert project.run("run", suite, "--only", f"{needed},format").exit_code == 0
    # As a third party tells people to use its plugin.
    assert project.run("run", suite, "--plugins", "jrh-contrib-shout").exit_code == 0
    project.write("mine.py", "from jrh import hookimpl\n\n@hookimpl\ndef jrh_run_finished(event):\n    pass\n")
    for options, told in (
        (("--plugins", "jrh-contrib-shout,mine.py"), "jrh, jrh-contrib-shout 0.1.0 (installed), mine.py (file or"),
        (("--plugins", "mine.py"), "distributions of jrh, mine.py (file or module)."),
        (("--only", f"{needed},format"), "Plugins: 6 distributions of jrh."),
    ):
        assert told in project.run("plan", suite, *options).stdout


def test_a_variable_that_is_set_wins_over_the_environment_file(project: Project) -> None:
    with ChatServer("YES", require_key=KEY) as server:
        suite = judged(project, server)
        project.write("other.env", f"{KEY_VARIABLE}=a-key-that-is-refused\n")
        outcome = project.run("run", suite, "--env-file", "other.env", "--judge", "mini")
        assert outcome.exit_code == 0, outcome.output
        project.env.pop(KEY_VARIABLE)
        refused = project.run(
            "run", suite, "--env-file", "other.env", "--judge", "mini", "--no-cache", "--run-dir", "x"
        )
    # The preflight finds it, before anything else is sent.
    assert refused.exit_code == 2
    assert f"check {KEY_VARIABLE}" in refused.stderr
    absent = project.run("run", suite, "--env-file", "absent.env")
    assert (absent.exit_code, absent.stderr) == (2, "jrh: --env-file: no such file: 'absent.env'\n")


def test_the_log_is_json_lines_from_start_to_end(project: Project) -> None:
    write_items(project, 2)
    assert project.run("run", write_suite(project, simulated_suite()), "--run-dir", "run").exit_code == 0
    lines = [json.loads(line) for line in project.read("run/log.jsonl").splitlines()]
    assert [line["event"] for line in lines] == ["run started", "run finished"]
    assert lines[0]["suite"] == "trial"
    assert lines[1]["exit_code"] == 0
    assert lines[1]["statuses"] == {"ok": 2}


def test_the_python_interface_does_the_same(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write_items(project, 4)
    suite = write_suite(project, simulated_suite(tests=["format"]))
    assert project.run("run", suite, "--run-dir", "command").exit_code == 0
    monkeypatch.chdir(project.path)
    result = jrh.run(suite, run_dir="python", use_cache=False)
    assert (result.exit_code, result.message) == (0, "")
    assert report_bytes(project, "python") == report_bytes(project, "command")
    frame = records_frame(result, as_="pandas")
    assert len(frame) == one(project, "command", "SELECT count(*) FROM records")
    assert set(frame["judge"]) == {"sim"}
    assert {measure.name for measure in result.measures} >= {"as-expected", "flip-rate"}


def test_without_an_estimator_the_cost_is_unknown_and_the_preflight_asks_every_model(
    project: Project, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jrh.running.cost_question.entry_points", lambda group: ())
    suite = judged(project, server)
    refused = project.run("run", suite, "--run-dir", "run")
    assert (refused.exit_code, server.count) == (2, 0)
    assert "This run may make model calls, cost unknown: nothing is installed that estimates it." in refused.stderr
    done = project.run("run", suite, "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    assert one(project, "run", "SELECT count(*) FROM calls WHERE purpose = 'preflight'") == 1
    again = server.count
    assert project.run("run", suite, "--run-dir", "run", "--yes").exit_code == 0
    assert server.count == again


# -- what is planned and spent ---------------------------------------------------------------------------------------


def test_a_plan_spends_and_writes_nothing_and_tells_what_the_run_then_does(
    project: Project, server: ChatServer
) -> None:
    suite = judged(project, server, model={"price": PRICE})
    before = snapshot(project.path)
    plan = project.run("plan", suite)
    assert plan.exit_code == 0, plan.output
    assert server.count == 0
    assert snapshot(project.path) == before
    calls = 4 * (1 + 1 + 2) + 1  # and the preflight
    found = re.search(
        rf"^Total: {calls - 1} to {calls} model calls, cost \$([\d.]+) to \$([\d.]+)\.$", plan.stdout, re.MULTILINE
    )
    assert found, plan.stdout
    run = project.run("run", suite, "--run-dir", "run", "--yes")
    assert run.exit_code == 0, run.output
    assert server.count == calls
    assert float(found[1]) < one(project, "run", "SELECT total(cost) FROM calls") <= float(found[2])
    again = project.run("plan", suite, "--run-dir", "run")
    assert "Total: 0 model calls, cost $0.\n" in again.stdout


def test_a_plan_tells_what_the_items_can_show_and_how_many_a_wished_precision_needs(
    project: Project, server: ChatServer
) -> None:
    suite = judged(project, server)
    plan, finer = (project.run("plan", suite, *more) for more in ((), ("--half-width", "0.02")))
    rows = [[cell.strip() for cell in re.split("[│|]", line)[1:-1]] for line in plan.stdout.splitlines()]
    found = {row[1]: row[2:] for row in rows if len(row) == 9 and row[2].isdecimal()}

    # Four items: the exact interval of one half is ±0.43, and of 402 items ±0.05.
    assert found["reference"] == ["4", "1", "±0.43", "402", "-", "-", "-"]
    others = [row for test, row in found.items() if test != "reference"]
    assert others
    assert all(row[0] == "4" and (row[4] == "none" or float(row[4].lstrip("~±")) > 0.3) for row in others)
    assert "a test changes the verdict on 20% of items" in plan.stdout
    assert "2,449" in finer.stdout, finer.stdout


def test_a_plan_of_unknown_price_says_so(project: Project, server: ChatServer) -> None:
    plan = project.run("plan", judged(project, server))
    assert re.search(r"^Total: .* model calls, cost unknown\.$", plan.stdout, re.MULTILINE), plan.stdout


def test_a_costly_run_is_not_begun_where_nobody_can_be_asked(project: Project, server: ChatServer) -> None:
    suite = judged(project, server, model={"price": {"input": 10_000.0, "output": 10_000.0}})
    refused = project.run("run", suite)
    assert refused.exit_code == 2
    assert re.fullmatch(
        r"jrh: This run may make up to 17 model calls, cost \$\d+\.\d{4} to \$\d+\.\d{4}\. "
        r"Cannot ask for confirmation \(no terminal\)\. "
        r"Pass --yes, or raise --confirm-above\.\n",
        refused.stderr,
    )
    assert (server.count, (project.path / "runs").exists()) == (0, False)
    assert project.run("run", suite, "--confirm-above", "1000", "--run-dir", "above").exit_code == 0
    assert project.run("run", suite, "--yes", "--run-dir", "yes", "--no-cache").exit_code == 0
    assert server.count == 2 * 17


def test_the_budget_in_dollars_is_never_exceeded_and_more_of_it_continues_the_run(
    project: Project, server: ChatServer
) -> None:
    suite = judged(project, server, 12, model={"price": PRICE, "max_tokens": 10}, tests=[])
    worst_call = one_worst_call(project, server, suite)
    budget = 2.2 * worst_call  # 12 calls cost more
    stopped = project.run("run", suite, "--yes", "--run-dir", "run", "--no-cache", "--set", f"budget.usd={budget}")
    assert stopped.exit_code == 4, stopped.output
    assert "jrh: not done: the next call could exceed the budget of $" in stopped.stderr
    sent, paid = query(project, "run", "SELECT count(*), total(cost) FROM calls")[0]
    assert sent >= 4, "the budget allows more"
    assert paid <= budget
    assert paid > 0.6 * budget, "it stopped long before the budget was used"
    assert one(project, "run", "SELECT count(*) FROM records WHERE judge = 'mini'") == sent - 1  # the preflight
    same = project.run("run", suite, "--yes", "--run-dir", "run", "--no-cache", "--set", f"budget.usd={paid}")
    assert same.exit_code == 4
    assert one(project, "run", "SELECT total(cost) FROM calls") == paid
    continued = stopped.stderr.splitlines()[-1].removeprefix("jrh: to continue: jrh ")
    assert "--set budget.usd=" in continued
    assert "covers the worst case of every call left" in stopped.stderr.splitlines()[-2]
    assert continued.count("budget") == 1
    more = project.run(*shlex.split(continued))
    assert more.exit_code == 0, more.output
    assert one(project, "run", "SELECT count(*) FROM calls WHERE purpose != 'preflight'") == 12


def one_worst_call(project: Project, server: ChatServer, suite: str) -> float:
    """Return what the store says a call may cost at most, checked by hand: bytes of the prompt, and all tokens."""
    probe = project.run("run", suite, "--yes", "--run-dir", "probe", "--no-cache", "--judge", "mini")
    assert probe.exit_code == 0, probe.output
    longest = max(len(prompt.encode()) for prompt in server.prompts)
    worst = one(project, "probe", "SELECT max(worst) FROM calls")
    assert worst >= (longest * PRICE["input"] + 10 * PRICE["output"]) / 1e6
    return float(worst)


def test_the_budget_in_calls_is_kept_exactly(project: Project, server: ChatServer) -> None:
    suite = judged(project, server, budget={"calls": 5})
    stopped = project.run("run", suite, "--run-dir", "run")
    assert stopped.exit_code == 4, stopped.output
    assert "jrh: not done: the budget of 5 calls is used up." in stopped.stderr
    assert server.count == 5
    assert project.run("run", suite, "--run-dir", "run").exit_code == 4
    assert server.count == 5


@pytest.mark.parametrize("more", [(), ("--yes",)])
def test_an_unknown_price_and_a_budget_do_not_go_together(
    project: Project, server: ChatServer, more: tuple[str, ...]
) -> None:
    refused = project.run("run", judged(project, server, budget={"usd": 1.0}), *more)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(
        "jrh: model 'mini' has no known price, and the suite has a budget in dollars; give"
    )
    assert server.count == 0
    assert not (project.path / "runs").exists()


# -- the report ------------------------------------------------------------------------------------------------------


def test_a_report_made_again_has_the_same_bytes_and_needs_neither_suite_nor_data(
    project: Project, server: ChatServer
) -> None:
    suite = judged(project, server)
    ran = project.run("run", suite, "--run-dir", "run")
    before = report_bytes(project, "run")
    for name in (suite, "items.jsonl", "run/report.md", "run/report.json"):
        (project.path / name).unlink()
    again = project.run("report", "run")
    assert again.exit_code == 0, again.output
    assert report_bytes(project, "run") == before
    assert again.stdout.partition("\nReport: ")[0].strip() in ran.stdout


def test_there_is_no_report_of_what_is_no_run(project: Project) -> None:
    outcome = project.run("report", ".")
    assert (outcome.exit_code, outcome.stderr) == (2, "jrh: '.' is not a run directory: it holds no run.sqlite\n")


# -- terminals -------------------------------------------------------------------------------------------------------


def on_terminal(project: Project, *arguments: str, typed: str = "", **env: str) -> Outcome:
    """Run `jrh` on a terminal of its own; everything it shows is in `stdout`."""
    ours, theirs = os.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "jrh", *arguments],
        cwd=project.path,
        env={**inherited, **project.env, "TERM": "xterm-256color", "COLUMNS": "150", **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how a terminal says that nobody has it open any more
            break
        if not part:
            break
        shown += part
    os.close(ours)
    code = process.wait(30)
    return Outcome(exit_code=code, stdout=shown.decode(), stderr="", duration=time.monotonic() - started)


COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|38;[\d;]+|9[0-7])m")


def test_colour_is_for_terminals_and_can_be_switched_off(project: Project) -> None:
    write_items(project, 4)
    suite = write_suite(project, simulated_suite(tests=[{"format": {"variants": ["spaces"]}}]))
    coloured = on_terminal(project, "run", suite, "--run-dir", "one")
    plain = on_terminal(project, "run", suite, "--run-dir", "two", NO_COLOR="1")
    piped = project.run("run", suite, "--run-dir", "three", env={"NO_COLOR": ""})
    assert (coloured.exit_code, plain.exit_code, piped.exit_code) == (0, 0, 0)
    assert COLOUR.search(coloured.stdout)
    assert not COLOUR.search(plain.stdout)
    assert "\x1b" not in piped.output
    assert "judge: 8 to do\njudge: 8/8 done (" in piped.stderr
    again = project.run("run", suite, "--run-dir", "three")
    assert "judge: 8 trials, all done before\n" in again.stderr


@pytest.mark.parametrize(("typed", "code", "calls"), [("n\n", 130, 0), ("y\n", 0, 17)])
def test_a_costly_run_asks_on_a_terminal(
    project: Project, server: ChatServer, typed: str, code: int, calls: int
) -> None:
    suite = judged(project, server, model={"price": {"input": 10_000.0, "output": 10_000.0}})
    outcome = on_terminal(project, "run", suite, typed=typed)
    assert re.search(r"Run it \(up to 17 model calls, cost \$\d+\.\d+ to \$\d+\.\d+\)\?", outcome.stdout), (
        outcome.stdout
    )
    assert (outcome.exit_code, server.count) == (code, calls)
