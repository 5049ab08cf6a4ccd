"""A provider that answers nothing ends the run soon; questions that always fail do not end it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jrh.models import retries
from jrh_testing import ChatServer, Fault, Inside, Outcome
from support.keys import KEY, KEY_VARIABLE
from support.looking import one
from support.suites import llm_suite, openai_http, write_suite

pytestmark = [pytest.mark.slow, pytest.mark.inside]

BAD = "always fails"


@pytest.fixture
def project(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.setattr(retries, "FIRST_WAIT", 0.01)
    return Inside(tmp_path, env={KEY_VARIABLE: KEY})


def write_questions(project: Inside, questions: list[bool]) -> None:
    rows = [
        {"id": f"{place:03}", "request": f"Question {place}", "response": BAD if bad else "fine", "gold": "YES"}
        for place, bad in enumerate(questions)
    ]
    project.write("items.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))


def run(project: Inside, server: ChatServer, repeats: int, **settings: Any) -> Outcome:
    model = openai_http(server.url, max_attempts=2, **settings)
    write_suite(project, llm_suite(model, reference={"repeats": repeats}))
    return project.run("run", "suite.yaml", "--run-dir", "run", "--yes", "--no-cache")


def answered(project: Inside) -> int:
    return int(one(project, "run", "SELECT count(*) FROM records WHERE status = 'ok'"))


@pytest.mark.parametrize(("concurrency", "repeats", "items"), [(64, 2, 80), (64, 1, 200), (4, 1, 125)])
def test_a_run_in_which_a_fifth_of_the_questions_always_fails_ends_whole(
    project: Inside, concurrency: int, repeats: int, items: int
) -> None:
    write_questions(project, [place % 5 == 0 for place in range(items)])
    with ChatServer("YES", faults=[Fault("500", match=BAD)]) as server:
        outcome = run(project, server, repeats, concurrency=concurrency)
    assert outcome.exit_code == 3
    assert "in a row" not in outcome.output
    assert one(project, "run", "SELECT count(*) FROM records") == items * repeats
    assert answered(project) == items * repeats * 4 // 5


def test_a_resumed_run_gets_past_the_questions_that_failed_before(project: Inside) -> None:
    """More questions than the breaker counts come first, and are asked first again by each run."""
    write_questions(project, [True] * 24 + [False] * 16)
    with ChatServer("YES", faults=[Fault("500", match=BAD)]) as server:
        first = run(project, server, 1, concurrency=1)
        assert "failed 20 questions in a row" in first.stderr
        again = run(project, server, 1, concurrency=1)
    assert again.exit_code == 3
    assert "in a row" not in again.output
    assert answered(project) == 16


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_provider_that_dies_ends_the_run_soon(project: Inside, concurrency: int) -> None:
    write_questions(project, [False] * 300)
    asked: list[object] = []

    def answer(body: dict[str, Any]) -> str:
        asked.append(body)
        if len(asked) == 40:
            server.misbehave(Fault("500"))
        return "YES"

    with ChatServer(answer) as server:
        outcome = run(project, server, 1, concurrency=concurrency)
        sent = server.count
    assert outcome.exit_code == 3
    assert "model 'mini' failed 20 questions in a row, the last one with server_error" in outcome.stderr
    # Two attempts of the twenty that count, and of those in flight before and after them.
    assert sent <= 40 + 2 * (20 + 3 * concurrency)
