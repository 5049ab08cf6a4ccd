"""Plans are made and models are pinged where an event loop runs already, as it does in every notebook."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from jrh_testing import ChatServer, Outcome, Project, SimulatedAnswers, call
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite


def test_what_the_plan_of_an_earlier_run_opens_is_closed_by_the_thread_that_opened_it(project: Project) -> None:
    write_items(project, ["An answer.", "Another answer."])
    write_suite(project, simulated_suite())
    assert call(project, "run", "suite.yaml", "--run-dir", "run").exit_code == 0

    async def notebook() -> Outcome:
        return call(project, "plan", "suite.yaml", "--run-dir", "run")

    # In a thread of its own: where a browser's test ran before, a loop is running in this one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        done = pool.submit(lambda: asyncio.run(notebook())).result()
    assert done.exit_code == 0, done.output
    assert "total" in done.stdout.lower()


def test_models_are_pinged_where_an_event_loop_runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write_items(project, ["An answer."])
    with ChatServer(SimulatedAnswers(labels=("YES", "NO"))) as server:
        monkeypatch.setenv(KEY_VARIABLE, KEY)
        write_suite(project, llm_suite(openai_http(server.url)))

        async def notebook() -> Outcome:
            return call(project, "ping", "suite.yaml")

        with ThreadPoolExecutor(max_workers=1) as pool:
            done = pool.submit(lambda: asyncio.run(notebook())).result()
    assert done.exit_code == 0, done.output
    assert len(server.requests) == 1
