"""A model that takes no system prompt gets it in the user turn; nothing else of the request changes."""

from __future__ import annotations

from typing import Any

import pytest
from jrh_testing import ChatServer, Project
from support.keys import KEY, KEY_VARIABLE
from support.suites import PROVIDERS, llm_suite, write_items, write_suite

pytestmark = pytest.mark.inside


def asked(project: Project, provider: str, **settings: str) -> list[dict[str, Any]]:
    """Return the messages of the one question of a run."""
    with ChatServer("YES") as server:
        suite = llm_suite(PROVIDERS[provider](server.url, **settings))
        suite["judges"][0]["system"] = "Judge strictly: {{ task.name }}."
        write_items(project, 1)
        write_suite(project, suite)
        outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes", env={KEY_VARIABLE: KEY})
        assert outcome.exit_code == 0, outcome.output
        messages: list[dict[str, Any]] = server.requests[0]["messages"]
        assert server.count == 1
    return messages


@pytest.mark.parametrize("provider", ["openai-http", "litellm"])
def test_the_system_message_goes_before_the_text_of_the_user_turn(
    project: Project, tmp_path: Any, provider: str
) -> None:
    before = asked(Project(tmp_path / "before"), provider)
    after = asked(project, provider, system="user")

    assert [message["role"] for message in before] == ["system", "user"]
    assert after == [{"role": "user", "content": f"{before[0]['content']}\n\n{before[1]['content']}"}]


def test_another_place_of_the_system_message_asks_anew_and_a_wrong_one_is_refused(project: Project) -> None:
    asked(project, "openai-http")
    assert len(asked(project, "openai-http", system="user")) == 1  # the stored reply is to another question
    with ChatServer("YES") as server:
        write_suite(project, llm_suite(PROVIDERS["openai-http"](server.url, system="first")))
        refused = project.run("run", "suite.yaml", env={KEY_VARIABLE: KEY})
    assert refused.exit_code == 2
    assert "system" in refused.stderr
    assert "first" in refused.stderr
