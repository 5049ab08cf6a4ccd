"""A run that is killed or interrupted loses nothing, pays for nothing twice and ends in the same report (point 4)."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from jrh.testing import ChatServer, Fault, LabelAnswers, Project
from support.looking import one, query, report_bytes, until
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

ITEMS = 24
CONCURRENCY = 6
TESTS = [{"format": {"variants": ["spaces", "trailing"]}}, {"stochastic": {"repeats": 3, "vary_seed": False}}]
TRIALS = ITEMS * (2 + 2 + 3)
"""Twice under the reference condition, two layouts, three repeats."""
ANSWERED = ("ok", "refused", "truncated")


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


def kill_when(project: Project, server: ChatServer, arrived: int) -> None:
    """Start the run and kill it once it has a store and the server has had so many requests in all."""
    store = project.path / "killed" / "run.sqlite"
    with project.start(*run_command("killed")) as running:
        until(lambda: (store.exists() and server.count >= arrived) or not running.running, f"{arrived} requests")
        running.kill()
        assert running.wait().exit_code == -9, "the run was over before it could be killed"


def log_of(project: Project) -> str:
    log = project.path / "run" / "log.jsonl"
    return log.read_text() if log.exists() else ""


def calls_by_outcome(project: Project, run_dir: str) -> Counter[str | None]:
    return Counter(dict(query(project, run_dir, "SELECT outcome, count(*) FROM calls GROUP BY outcome")))


@pytest.mark.parametrize(
    "kills",
    [(0, 1), (TRIALS // 3, 2 * TRIALS // 3), (TRIALS - 1, TRIALS)],
    ids=["before anything is answered", "in the middle", "when all is asked"],
)
def test_a_run_killed_twice_ends_in_the_report_of_one_that_was_not(
    project: Project, server: ChatServer, kills: tuple[int, int]
) -> None:
    prepare(project, server)
    whole = project.run(*run_command("whole"))
    assert whole.exit_code == 0, whole.output
    assert server.count == TRIALS
    once_each = server.prompts

    for arrived in kills:
        kill_when(project, server, TRIALS + arrived)
    done = project.run(*run_command("killed"))
    assert done.exit_code == 0, done.output
    assert report_bytes(project, "killed") == report_bytes(project, "whole")

    outcomes = calls_by_outcome(project, "killed")
    unknown = outcomes["unknown"]
    assert outcomes["ok"] == TRIALS
    assert set(outcomes) <= {"ok", "unknown"}
    assert unknown <= len(kills) * CONCURRENCY
    asked_again = server.prompts - once_each - once_each
    assert sum(asked_again.values()) <= unknown
    assert server.count - 2 * TRIALS == sum(asked_again.values())
    answers_per_question = query(
        project, "killed", "SELECT count(*) FROM calls WHERE outcome = 'ok' GROUP BY key HAVING count(*) > 1"
    )
    assert answers_per_question == []


def test_calls_cut_off_by_a_kill_are_listed_and_costed_at_the_worst(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    kill_when(project, server, TRIALS // 2)
    in_flight = one(project, "killed", "SELECT count(*) FROM calls WHERE outcome IS NULL")
    assert 1 <= in_flight <= CONCURRENCY
    done = project.run(*run_command("killed"))
    worst, cost = query(project, "killed", "SELECT total(worst), total(cost) FROM calls WHERE outcome = 'unknown'")[0]
    assert one(project, "killed", "SELECT count(*) FROM calls WHERE outcome = 'unknown'") == in_flight
    assert worst > 0
    assert cost == 0
    assert f"{in_flight} calls cut off by a kill, outcome unknown" in done.stdout
    assert f"at worst ${worst:.4f} more for calls of unknown cost" in done.stdout
    again = project.run(*run_command("killed"))
    assert f"{in_flight} calls cut off by a kill, outcome unknown" in again.stdout


def test_what_was_answered_before_a_kill_is_never_asked_again_though_no_record_was_written(
    project: Project, server: ChatServer
) -> None:
    prepare(project, server)
    kill_when(project, server, TRIALS // 2)
    answered = calls_by_outcome(project, "killed")["ok"]
    in_flight = calls_by_outcome(project, "killed")[None]
    before = server.count
    done = project.run(*run_command("killed"))
    assert done.exit_code == 0, done.output
    assert answered + in_flight >= before
    assert server.count - before == TRIALS - answered


def test_a_finished_run_asks_nothing_and_writes_the_same_reports(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    first = project.run(*run_command("run"))
    reports = report_bytes(project, "run")
    second = project.run(*run_command("run"))
    assert (first.exit_code, second.exit_code, server.count) == (0, 0, TRIALS)
    assert report_bytes(project, "run") == reports
    assert second.stdout == first.stdout


def test_ctrl_c_finishes_the_calls_in_flight_and_says_how_to_continue(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    with project.start(*run_command("run")) as running:
        until(lambda: server.count >= TRIALS // 3, "a third of the requests")
        running.interrupt()
        stopped = running.wait()
    assert stopped.exit_code == 130, stopped.output
    assert "Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once." in stopped.stderr
    assert "jrh: not done: interrupted." in stopped.stderr
    assert "jrh: to continue: jrh run suite.yaml --run-dir run" in stopped.stderr
    assert "Traceback" not in stopped.output
    outcomes = calls_by_outcome(project, "run")
    assert set(outcomes) == {"ok"}
    assert outcomes["ok"] == server.count == sum(server.answered.values()) < TRIALS
    assert one(project, "run", "SELECT count(*) FROM records") == server.count

    done = project.run(*run_command("run"))
    assert done.exit_code == 0, done.output
    assert server.count == TRIALS
    whole = project.run(*run_command("whole"))
    assert whole.exit_code == 0
    assert report_bytes(project, "run") == report_bytes(project, "whole")


def test_the_command_that_is_told_to_continue_an_interrupted_run_does(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    command = ("run", "suite.yaml", "--no-cache", "--limit", "10", "--test", "format", "--set", "seed=3")
    trials = 10 * (2 + 2)
    with project.start(*command) as running:
        until(lambda: server.count >= trials // 3, "a third of the requests")
        running.interrupt()
        stopped = running.wait()
    line = next(line for line in stopped.stderr.splitlines() if line.startswith("jrh: to continue: jrh "))
    done = project.run(*line.removeprefix("jrh: to continue: jrh ").split())
    assert done.exit_code == 0, done.output
    assert server.count == trials


def test_ctrl_c_twice_leaves_at_once_and_the_run_can_go_on(project: Project) -> None:
    with ChatServer("YES", latency=3.0) as server:
        prepare(project, server)
        with project.start(*run_command("run", "--limit", "1", "--test", "reference")) as running:
            until(lambda: server.count >= 2, "the requests")
            running.interrupt()
            until(lambda: '"stopping"' in log_of(project), "the first Ctrl-C to arrive")
            running.interrupt()
            until(lambda: not running.running, "the end", patience=1.5)
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
            stopped = running.wait(timeout=15)
        sent = server.count
    assert stopped.exit_code == 130, stopped.output
    assert sent <= CONCURRENCY
    assert calls_by_outcome(project, "run") == {"rate_limit": sent}


def test_the_cache_answers_a_second_run_directory_without_a_call(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    first = project.run("run", "suite.yaml", "--run-dir", "first")
    second = project.run("run", "suite.yaml", "--run-dir", "second")
    assert (first.exit_code, second.exit_code, server.count) == (0, 0, TRIALS)
    assert "No model was called." in second.stdout
    assert report_bytes(project, "second") == report_bytes(project, "first")


def test_the_cache_is_not_used_where_the_user_says_so(project: Project, server: ChatServer) -> None:
    prepare(project, server)
    project.run("run", "suite.yaml", "--run-dir", "first", "--limit", "2")
    before = server.count
    project.run("run", "suite.yaml", "--run-dir", "second", "--limit", "2", "--no-cache")
    assert server.count == 2 * before


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


def test_the_order_in_which_replies_come_does_not_show_in_the_report(project: Project) -> None:
    with ChatServer(LabelAnswers(labels=LABELS), jitter=0.1) as server:
        prepare(project, server)
        for run_dir, concurrency in (("alone", 2), ("together", 32)):
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
