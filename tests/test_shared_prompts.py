"""Cases whose prompts come out the same share one reply, as docs/runs.md says: no call, and no difference to it.

Prompts that begin alike follow one another closely, so that the caches of providers serve them.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from jrh_testing import ChatServer, Inside, Project
from jrh_testing.server.bodies import prompt_of
from support.keys import KEY, KEY_VARIABLE
from support.looking import report
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside

ITEMS = 20


def test_a_change_that_the_prompt_does_not_show_is_answered_by_the_reference(tmp_path: Any) -> None:
    project = Project(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(project, ITEMS)
    labels = ("YES" if number % 3 else "NO" for number in count())
    with ChatServer(lambda _body: next(labels)) as server:
        template = "YES or NO? {{ response.split() | join(' ') }}"
        judge = {"name": "mini", "judge": "llm", "model": "mini", "template": template}
        tests = [{"format": {"variants": ["spaces"]}}]
        model = openai_http(server.url, concurrency=1)
        write_suite(project, llm_suite(model, judges=[judge], tests=tests, reference={"repeats": 2}))
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        assert done.exit_code == 0, done.output
        assert server.count == 2 * ITEMS
    found = {(each["name"], each["test"]): each["estimate"] for each in report(project, "run")["measures"]}
    reruns = found["rerun-disagreement", "reference"]
    assert reruns > 0.5
    # One of the two reference verdicts is the same reply: half of the comparisons cannot differ.
    assert found["flip-rate", "format"] == reruns / 2


def test_prompts_that_begin_alike_follow_closely_and_another_order_of_them_buys_nothing_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(project, ITEMS)
    asked: list[str] = []

    def answer(body: Any) -> str:
        asked.append(prompt_of(body))
        return "YES"

    cached, names = 4096, ("first", "second", "third")
    long = {name: f"Answer {name} of all with YES or NO. " * 200 for name in names}
    templates = {name: {"text": text + "{{ response }}"} for name, text in long.items()}
    task = {"instruction": "Is it right?", "rubric": "Be strict. " * 600, "scale": {"labels": ["YES", "NO"]}}
    with ChatServer(answer) as server:
        model = openai_http(server.url, concurrency=1)
        write_suite(project, llm_suite(model, task=task, tests=[{"templates": {"templates": templates}}]))
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        assert done.exit_code == 0, done.output
        assert len(asked) == (1 + len(names)) * ITEMS
        # What all items share comes first; a template is asked again after one call for each of the others.
        assert len({prompt[:cached] for prompt in asked[:ITEMS]}) == 1
        starts = [prompt[:cached] for prompt in asked[ITEMS:]]
        assert len(set(starts)) == len(names)
        assert all(start in starts[place + 1 : place + 1 + len(names)] for place, start in enumerate(starts[:-3]))
        # A release of jrh that writes its own prompt in another order.
        monkeypatch.setattr("jrh_judges.llm.load_template", lambda *_: "{{ response }} {{ task.instruction }}")
        again = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        assert (again.exit_code, len(asked)) == (0, (1 + len(names)) * ITEMS), again.output
        fresh = project.run("run", "suite.yaml", "--run-dir", "fresh", "--no-cache", "--yes")
        assert (fresh.exit_code, asked[-1 - len(names) * ITEMS].endswith("Is it right?")) == (0, True), fresh.output
