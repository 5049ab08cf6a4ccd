"""A judge that asks a model is the same judge under another name: nothing is asked again, and reports have the name."""

from __future__ import annotations

import pytest
from jrh_testing import ChatServer, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import report
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.slow


def test_renaming_a_judge_asks_nothing_again(project: Project) -> None:
    project.env[KEY_VARIABLE] = KEY
    items = write_items(project, 4)
    with ChatServer("YES") as server:
        for name in ("first", "second"):
            judge = {"name": name, "judge": "llm", "model": "mini"}
            write_suite(project, llm_suite(openai_http(server.url), judges=[judge]))
            outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache")
            assert outcome.exit_code == 0, outcome.output
            assert server.count == items
            judges = {measure["judge"] for measure in report(project, "run")["measures"]}
            assert name in judges
            assert "first" not in judges - {name}
