"""A run that is killed in the middle of a plan goes on with it, and pays for no finished step again."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from jrh_testing import ChatServer, Project
from support import agentic
from support.agentic import Agents, plan
from support.holding import Held
from support.looking import drafts_of, query, report_bytes, until
from support.suites import openai_http

pytestmark = pytest.mark.inside

ITEMS = {"item-a": "satisfies", "item-b": "satisfies"}
STEPS = plan(*((message, f"edit message {message}") for message in (3, 5, 7, 9)))
SCRIPT = {(item, "planner"): STEPS for item in ITEMS}
EDITING = 1 + 1 + 4 + 4 + 1
"""Calls for one transcript: summary, plan, four edits, four updates, one verification."""
JUDGING = 2
"""Calls for one transcript: the reference, and the edited one."""
CONCURRENCY = 2


def prepare(project: Project, url: str) -> None:
    project.write("items.jsonl", agentic.lines(ITEMS))
    model = openai_http(url, concurrency=CONCURRENCY, price={"input": 1.0, "output": 2.0}, max_tokens=300)
    project.write("suite.yaml", yaml.safe_dump(agentic.suite(model, [{"agent-perturbation": {"model": "mini"}}])))


def command(run_dir: str) -> tuple[str, ...]:
    return ("run", "suite.yaml", "--run-dir", run_dir, "--no-cache")


def kill_after(project: Project, server: ChatServer, model: Held, calls: int) -> None:
    """Start the run and kill it once it has a store and the server has had so many requests in all."""
    store = project.path / "killed" / "run.sqlite"
    # Those in flight at an earlier kill may be answered only now.
    model.stop_before(calls - server.count + CONCURRENCY)
    with project.start(*command("killed")) as running:
        until(lambda: (store.exists() and server.count >= calls) or not running.is_running, f"{calls} calls")
        running.kill()
        assert running.wait().exit_code == -9, "the run was over before it could be killed"
    model.go_on()
    assert query(project, "killed", "SELECT count(*) FROM drafts") == [(0,)], "the plans were finished already"


def test_a_run_killed_twice_in_the_middle_of_its_plans_pays_for_no_finished_step_again(project: Project) -> None:
    model = Held(Agents(SCRIPT))
    with ChatServer(model, latency=0.03) as server:
        prepare(project, server.url)
        whole = project.run(*command("whole"))
        assert whole.exit_code == 0, whole.output
        calls = server.count
        assert calls == len(ITEMS) * (EDITING + JUDGING)
        prompts = server.prompts

        before = server.count
        for arrived in (7, 15):
            kill_after(project, server, model, before + arrived)
        resumed = project.run(*command("killed"))
        asked_again = server.prompts - prompts - prompts
        spent = server.count - before

    assert resumed.exit_code == 0, resumed.output
    outcomes = Counter(dict(query(project, "killed", "SELECT outcome, count(*) FROM calls GROUP BY outcome")))
    assert outcomes["ok"] == calls, "a finished call was made again, or one is missing"
    assert outcomes["unknown"] <= 2 * CONCURRENCY
    assert spent - calls == sum(asked_again.values()) <= outcomes["unknown"]
    twice = "SELECT key FROM calls WHERE outcome = 'ok' GROUP BY key HAVING count(*) > 1"
    assert query(project, "killed", twice) == []
    assert report_bytes(project, "killed") == report_bytes(project, "whole")
    drafts = drafts_of(project, "killed")
    assert drafts == drafts_of(project, "whole")
    assert all(len(draft["details"]["edits"]) == 4 for *_, draft in drafts)


def test_a_finished_run_plans_nothing_again(project: Project) -> None:
    with ChatServer(Agents(SCRIPT)) as server:
        prepare(project, server.url)
        first = project.run(*command("run"))
        asked = server.count
        second = project.run(*command("run"))
        assert (first.exit_code, second.exit_code, server.count) == (0, 0, asked)
