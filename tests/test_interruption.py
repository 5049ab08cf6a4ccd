"""A run that is killed or interrupted loses nothing, pays for nothing twice and ends in the same report (point 4)."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.request import urlopen

import pytest
from attrs import frozen
from jrh_testing import ChatServer, Fault, Inside, LabelAnswers, Outcome, Project, Running
from jrh_testing.runner import default_signals
from support.holding import Held
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report_bytes, until, without_this_run
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside  # what is started, and not run, is a process of its own
ITEMS = 24
CONCURRENCY = 6
TESTS = [{"format": {"variants": ["spaces", "trailing"]}}, {"stochastic": {"repeats": 3, "vary_seed": False}}]
TRIALS = ITEMS * (2 + 2 + 3)
"""Twice under the reference condition, two layouts, three repeats."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(LabelAnswers(labels=LABELS), latency=0.02, jitter=0.03) as server:
        yield server


def prepare(project: Project, server: ChatServer, **changes: Any) -> str:
    write_items(project, ITEMS)
    model = openai_http(server.url, concurrency=CONCURRENCY, price={"input": 1.0, "output": 2.0}, max_tokens=20)
    return write_suite(project, llm_suite(model, tests=TESTS, reference={"repeats": 2}, **changes))


def run_command(run_dir: str, *more: str) -> tuple[str, ...]:
    return ("run", "suite.yaml", "--run-dir", run_dir, "--no-cache", *more)


@frozen(kw_only=True)
class Whole:
    """A run that nobody stopped, and where it was run: other runs of its suite are compared with it."""

    project: Project
    server: ChatServer
    first: Outcome
    reports: dict[str, bytes]
    prompts: Counter[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    project = Inside(tmp_path_factory.mktemp("whole"), env={KEY_VARIABLE: KEY})
    with ChatServer(LabelAnswers(labels=LABELS), latency=0.02, jitter=0.03) as server:
        prepare(project, server)
        first = project.run("run", "suite.yaml", "--run-dir", "whole")
        assert first.exit_code == 0, first.output
        assert server.count == TRIALS
        yield Whole(
            project=project,
            server=server,
            first=first,
            reports=report_bytes(project, "whole"),
            prompts=server.prompts,
        )


def kill_when(whole: Whole, run_dir: str, arrived: int) -> None:
    """Start the run and kill it once it has a store and the server has had so many requests in all."""
    store = whole.project.path / run_dir / "run.sqlite"
    with whole.project.start(*run_command(run_dir)) as running:
        until(
            lambda: (store.exists() and whole.server.count >= arrived) or not running.is_running, f"{arrived} requests"
        )
        running.kill()
        assert running.wait().exit_code == -9, "the run was over before it could be killed"


INTERRUPTED = """
import os, runpy, signal, sys

module, sys.argv = sys.argv[1], ["jrh", "plugins", "list"]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background may ignore it
sys.meta_path.insert(0, Interrupting())
runpy.run_module("jrh", run_name="__main__", alter_sys=True)
"""
"""Runs jrh, and presses Ctrl-C when a module is imported."""


@pytest.mark.parametrize("module", ["jrh.cli", "jrh.cli.plugins_command", "pluggy"])
def test_ctrl_c_during_the_imports_is_one_line_and_no_traceback(module: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "jrh: interrupted"


def arrived(server: ChatServer) -> int:
    """Return the number of requests once the server has read what a killed process has sent."""
    for _ in range(2):  # it reads the connections in turn, and counts a request in its next turn
        with urlopen(f"{server.url}/stats") as response:
            response.read()
    return server.count


def log_of(project: Project) -> str:
    log = project.path / "run" / "log.jsonl"
    return log.read_text() if log.exists() else ""


def calls_by_outcome(project: Project, run_dir: str) -> Counter[str | None]:
    return Counter(dict(query(project, run_dir, "SELECT outcome, count(*) FROM calls GROUP BY outcome")))


@pytest.mark.parametrize(
    ("run_dir", "kills"),
    [("early", (0, 1)), ("middle", (TRIALS // 3, 2 * TRIALS // 3)), ("late", (TRIALS - 1, TRIALS))],
)
def test_a_run_killed_twice_pays_for_nothing_again_and_ends_in_the_report_of_one_that_was_not(
    whole: Whole, run_dir: str, kills: tuple[int, int]
) -> None:
    project, server = whole.project, whole.server
    before, prompts_before = server.count, server.prompts
    for arrived in kills:
        kill_when(whole, run_dir, before + arrived)
    done = project.run(*run_command(run_dir))
    assert done.exit_code == 0, done.output
    assert report_bytes(project, run_dir) == whole.reports

    outcomes = calls_by_outcome(project, run_dir)
    unknown = outcomes["unknown"]
    assert outcomes["ok"] == TRIALS
    assert set(outcomes) <= {"ok", "unknown"}
    assert unknown <= len(kills) * CONCURRENCY
    asked_again = server.prompts - prompts_before - whole.prompts
    assert sum(asked_again.values()) <= unknown
    assert server.count - before - TRIALS == sum(asked_again.values())
    answered_twice = "SELECT key FROM calls WHERE outcome = 'ok' GROUP BY key HAVING count(*) > 1"
    assert query(project, run_dir, answered_twice) == []


def test_calls_cut_off_by_a_kill_are_listed_and_costed_and_all_others_kept(whole: Whole) -> None:
    project, server = whole.project, whole.server
    before = server.count
    kill_when(whole, "killed", before + TRIALS // 2)
    outcomes = calls_by_outcome(project, "killed")
    in_flight, answered = outcomes[None], outcomes["ok"]
    assert 1 <= in_flight <= CONCURRENCY
    at_kill = arrived(server)
    assert answered + in_flight >= at_kill - before
    done = project.run(*run_command("killed"))
    assert server.count - at_kill == TRIALS - answered, "what was answered was asked again, or something was not asked"
    assert calls_by_outcome(project, "killed") == {"ok": TRIALS, "unknown": in_flight}
    worst, cost = query(project, "killed", "SELECT total(worst), total(cost) FROM calls WHERE outcome = 'unknown'")[0]
    assert worst > 0
    assert cost == 0
    again = project.run(*run_command("killed"))
    for outcome in (done, again):
        assert f"{in_flight} calls interrupted by a kill, outcome unknown" in outcome.stdout
        assert f"at most ${worst:.4f} more for calls of unknown cost" in outcome.stdout


def test_a_finished_run_asks_nothing_and_writes_the_same_reports(whole: Whole) -> None:
    before = whole.server.count
    second = whole.project.run(*run_command("whole"))
    assert (second.exit_code, whole.server.count) == (0, before)
    assert report_bytes(whole.project, "whole") == whole.reports
    # What was paid earlier is told apart from what this command paid.
    assert second.stdout.replace(" ($0 of it now)", "") == whole.first.stdout


def test_the_cache_answers_another_run_directory_without_a_call(whole: Whole) -> None:
    before = whole.server.count
    second = whole.project.run("run", "suite.yaml", "--run-dir", "cached")
    assert (second.exit_code, whole.server.count) == (0, before)
    assert "jrh sent no call." in second.stdout
    cached = report_bytes(whole.project, "cached")
    assert without_this_run(cached) == without_this_run(whole.reports)
    assert b" replies reused from earlier runs, the oldest of " in cached["report.md"]


def test_the_cache_is_not_used_where_the_user_says_so(whole: Whole) -> None:
    before = whole.server.count
    outcome = whole.project.run(*run_command("uncached", "--limit", "2"))
    assert (outcome.exit_code, whole.server.count - before) == (0, 2 * TRIALS // ITEMS)


def test_ctrl_c_finishes_the_calls_in_flight_and_says_how_to_continue(whole: Whole) -> None:
    project, server = whole.project, whole.server
    before, answered_before = server.count, sum(server.proper_answers.values())
    with project.start(*run_command("stopped")) as running:
        until(lambda: server.count - before >= TRIALS // 3, "a third of the requests")
        running.interrupt()
        stopped = running.wait()
    sent = server.count - before
    assert stopped.exit_code == 130, stopped.output
    assert "Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once." in stopped.stderr
    assert "jrh: not done: interrupted." in stopped.stderr
    assert "jrh: to continue: jrh run suite.yaml --run-dir stopped --no-cache --no-preflight\n" in stopped.stderr
    assert "Traceback" not in stopped.output
    assert calls_by_outcome(project, "stopped") == {"ok": sent}
    assert sent == sum(server.proper_answers.values()) - answered_before < TRIALS
    assert one(project, "stopped", "SELECT count(*) FROM records") == sent

    done = project.run(*run_command("stopped"))
    assert done.exit_code == 0, done.output
    assert server.count - before == TRIALS
    assert report_bytes(project, "stopped") == whole.reports


def test_the_command_that_is_told_to_continue_an_interrupted_run_does(project: Project) -> None:
    model = Held(LabelAnswers(labels=LABELS))
    command = ("run", "suite.yaml", "--no-cache", "--limit", "10", "--test", "format", "--set", "seed=3")
    trials = 10 * (2 + 2)
    model.stop_before(trials // 3)
    with ChatServer(model, latency=0.02, jitter=0.03) as server:
        prepare(project, server)
        with project.start(*command) as running:
            until(lambda: server.count >= trials // 3, "a third of the requests")
            running.interrupt()
            model.go_on()
            stopped = running.wait()
        line = next(line for line in stopped.stderr.splitlines() if line.startswith("jrh: to continue: jrh "))
        done = project.run(*line.removeprefix("jrh: to continue: jrh ").split())
        assert done.exit_code == 0, done.output
        assert server.count == trials


IGNORING = ("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", sys.executable, "-m", "jrh")
"""Starts jrh as a script starts a background job, and as `nohup` does."""


@pytest.mark.parametrize(
    ("sent", "exit_code"),
    [((signal.SIGINT, signal.SIGHUP), 0), ((signal.SIGINT, signal.SIGHUP, signal.SIGTERM), 130)],
    ids=["what-it-ignores", "what-it-does-not-ignore"],
)
def test_a_run_in_the_background_ignores_what_it_was_started_to_ignore(
    project: Project, sent: tuple[signal.Signals, ...], exit_code: int
) -> None:
    model = Held(LabelAnswers(labels=LABELS))
    model.stop_before(2)
    with ChatServer(model) as server:
        prepare(project, server)
        command = (*IGNORING, *run_command("run", "--limit", "3", "--test", "reference"), "--no-preflight")
        with Running(command, project.path, project.env) as running:
            until(lambda: server.count >= 2, "the second request")
            for number in sent:
                running.send(number)
            if exit_code:
                until(lambda: '"stopping"' in log_of(project), "the signal to arrive")
            model.go_on()
            ended = running.wait()
    assert ended.exit_code == exit_code, ended.output
    assert ("Interrupted" in ended.stderr) is bool(exit_code)
    assert "Traceback" not in ended.output


ON_ITS_TERMINAL = """
import fcntl, os, sys, termios

os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "jrh", *sys.argv[1:]])
"""
"""Starts jrh with the terminal of its standard input as its own, so that it gets SIGHUP when the terminal is closed."""


def test_a_closed_terminal_ends_a_run_in_good_order(project: Project) -> None:
    model = Held(LabelAnswers(labels=LABELS))
    model.stop_before(2)
    master, terminal = pty.openpty()
    with ChatServer(model) as server:
        prepare(project, server)
        command = [*run_command("run", "--limit", "3", "--test", "reference"), "--no-preflight", "--yes"]
        with default_signals():
            program = subprocess.Popen(
                [sys.executable, "-c", ON_ITS_TERMINAL, *command],
                cwd=project.path,
                env={**os.environ, **project.env, "TERM": "xterm-256color"},
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
            )
        try:
            os.close(terminal)
            until(lambda: server.count >= 2, "the second request")
            os.close(master)
            until(lambda: '"stopping"' in log_of(project), "the signal to arrive")
            model.go_on()
            assert program.wait(150) == 130
        finally:
            model.go_on()
            program.kill()
            program.wait()
    assert '"exit_code": 130' in log_of(project)
    assert one(project, "run", "SELECT count(*) FROM records") == server.count


def test_ctrl_c_twice_leaves_at_once_and_the_run_can_go_on(project: Project) -> None:
    with ChatServer("YES", latency=60.0) as server:
        prepare(project, server)
        with project.start(*run_command("run", "--limit", "1", "--test", "reference")) as running:
            until(lambda: server.count >= 2, "the requests")
            running.interrupt()
            until(lambda: '"stopping"' in log_of(project), "the first Ctrl-C to arrive")
            running.interrupt()
            until(lambda: not running.is_running, "the end", patience=50.0)  # the answers take 60
            stopped = running.wait()
        assert stopped.exit_code == 130, stopped.output
        assert "Traceback" not in stopped.output
    with ChatServer("YES") as server:
        prepare(project, server)
        done = project.run(*run_command("run", "--limit", "1", "--test", "reference"))
        assert done.exit_code == 0, done.output


def test_ctrl_c_does_not_wait_for_what_the_provider_asks_to_wait(project: Project) -> None:
    with ChatServer("YES", faults=[Fault("429-seconds", retry_after=60.0)]) as server:
        prepare(project, server)
        with project.start(*run_command("run", "--limit", "3", "--test", "reference")) as running:
            until(lambda: '"attempt failed"' in log_of(project), "the first refusal")
            running.interrupt()
            stopped = running.wait(timeout=45)
        sent = server.count
    assert stopped.exit_code == 130, stopped.output
    assert sent <= CONCURRENCY
    assert calls_by_outcome(project, "run") == {"rate_limit": sent}


@pytest.mark.parametrize("vary_seed", [False, True])
def test_a_repeat_is_never_answered_from_another_repeat(project: Project, vary_seed: bool) -> None:
    asked: Counter[str] = Counter()

    def another_each_time(body: dict[str, Any]) -> str:
        prompt = json.dumps(body["messages"])
        asked[prompt] += 1
        return LABELS[(asked[prompt] - 1) % 2]

    write_items(project, 2)
    tests = [{"stochastic": {"repeats": 4, "vary_seed": vary_seed}}]
    with ChatServer(another_each_time) as server:
        model = openai_http(server.url, concurrency=1)
        write_suite(project, llm_suite(model, tests=tests, reference={"repeats": 2}))
        for run_dir in ("first", "second"):
            outcome = project.run("run", "suite.yaml", "--run-dir", run_dir)
            assert outcome.exit_code == 0, outcome.output
        count = server.count
    assert count == 2 * (2 + 4)
    verdicts = [
        query(
            project, run_dir, "SELECT r.canonical FROM trials t JOIN records r ON r.trial_id = t.id ORDER BY t.position"
        )
        for run_dir in ("first", "second")
    ]
    assert verdicts[0] == verdicts[1]
    assert Counter(verdicts[0]) == {("YES",): 6, ("NO",): 6}


def test_more_repeats_of_the_reference_are_not_answered_from_those_of_another_test(project: Project) -> None:
    def replies() -> tuple[int, int]:
        """Return the trials of the plan, and the replies they rest on."""
        sql = "SELECT count(*), count(DISTINCT u.key) FROM trials t JOIN uses u ON u.owner = t.id AND u.role = 'judge'"
        (found,) = query(project, "run", sql)
        return found

    write_items(project, 4)
    rerun = {"stochastic": {"repeats": 3, "vary_seed": False}}
    steps = [(2, [rerun], 4 * 5), (3, [rerun], 4), (4, [], 4), (4, [rerun], 0)]
    with ChatServer(LabelAnswers(labels=LABELS)) as server:
        sent = 0
        for repeats, tests, new in steps:
            suite = llm_suite(openai_http(server.url), tests=tests, reference={"repeats": repeats})
            write_suite(project, suite)
            planned = project.run("plan", "suite.yaml", "--run-dir", "run", "--no-cache")
            assert planned.exit_code == 0, planned.output
            outcome = project.run(*run_command("run"))
            assert outcome.exit_code == 0, outcome.output
            assert server.count - sent == new, "what is paid for is kept, and every new repeat is asked"
            sent = server.count
            trials = 4 * (repeats + (3 if tests else 0))
            assert replies() == (trials, trials)


def test_the_order_in_which_replies_come_does_not_show_in_the_report(project: Project) -> None:
    with ChatServer(LabelAnswers(labels=LABELS), jitter=0.05) as server:
        prepare(project, server)
        for run_dir, concurrency in (("alone", 3), ("together", 32)):
            outcome = project.run(*run_command(run_dir, "--set", f"models.mini.concurrency={concurrency}"))
            assert outcome.exit_code == 0, outcome.output
    order = {
        name: [row[0] for row in query(project, name, "SELECT trial_id FROM records ORDER BY rowid")]
        for name in ("alone", "together")
    }
    assert order["alone"] != order["together"], "the replies came in the same order, which shows nothing"
    assert sorted(order["alone"]) == sorted(order["together"])
    assert report_bytes(project, "alone") == report_bytes(project, "together")


def test_a_store_whose_tables_were_never_made_does_not_stop_the_next_run(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    (project.path / "run").mkdir()
    with closing(sqlite3.connect(project.path / "run" / "run.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")  # as far as a process got that was killed at once
    reported = project.run("report", "run")
    assert reported.exit_code == 2
    assert reported.stderr == "jrh: 'run' holds no run yet; run the suite first\n"
    done = project.run(*run_command("run", "--limit", "1", "--test", "reference"))
    assert done.exit_code == 0, done.output


def test_a_run_of_attacks_killed_in_the_middle_asks_nothing_twice_and_ends_in_the_same_report(
    project: Project, server: ChatServer
) -> None:
    write_items(project, 8)
    attacks = [{"injection": {"kinds": ["command", "master-key"]}}]
    model = openai_http(server.url, concurrency=CONCURRENCY, max_tokens=20)
    write_suite(project, llm_suite(model, tests=attacks))
    first = project.run(*run_command("whole"))
    assert first.exit_code == 0, first.output
    asked, reports = server.prompts, report_bytes(project, "whole")
    total = asked.total()
    assert total > 2 * 8, "no attacks were asked"
    whole = Whole(project=project, server=server, first=first, reports=reports, prompts=asked)
    kill_when(whole, "killed", total + total // 2)
    done = project.run(*run_command("killed"))
    assert done.exit_code == 0, done.output
    assert report_bytes(project, "killed") == reports
    outcomes = calls_by_outcome(project, "killed")
    assert outcomes["ok"] == total
    asked_again = server.prompts - asked - asked
    assert sum(asked_again.values()) == server.count - 2 * total <= outcomes["unknown"] <= CONCURRENCY
