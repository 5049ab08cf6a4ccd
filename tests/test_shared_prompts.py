"""Cases whose prompts come out the same share one reply, as docs/runs.md says: no call, and no difference to it."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from jrh_testing import ChatServer, Project
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
