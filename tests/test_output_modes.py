"""One judge asked in several output modes: its verdicts are compared, and a mode that a model refuses is no verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jrh_testing import ChatServer, Project
from support.looking import one, query, report
from support.suites import PROVIDERS, llm_suite, openai_http, write_items, write_suite

pytestmark = [pytest.mark.slow, pytest.mark.inside]

ITEMS = 40
MODES = ("text", "json", "json-schema", "tool-call")


def mode_of(body: dict[str, Any]) -> str:
    """Say in which mode a request asks, by the protocol's own fields."""
    if "tools" in body:
        assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"]
        assert body["tools"][0]["function"]["parameters"]["properties"]["verdict"]["enum"] == ["YES", "NO"]
        return "tool-call"
    kind = body.get("response_format", {}).get("type", "")
    return {"": "text", "json_object": "json", "json_schema": "json-schema"}[kind]


def said(mode: str, label: str) -> Any:
    """Answer as a model does in a mode."""
    if mode == "tool-call":
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "reply", "arguments": json.dumps({"verdict": label})},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return label if mode == "text" else json.dumps({"verdict": label})


def judge(body: dict[str, Any]) -> Any:
    """A judge that says YES, and NO to every other item when it is to call a tool."""
    mode = mode_of(body)
    digits = "".join(letter for letter in body["messages"][-1]["content"] if letter.isdigit())
    return said(mode, "NO" if mode == "tool-call" and int(digits or 0) % 2 else "YES")


def asked(
    project: Project, url: str, provider: str = "openai-http", test: Any = "output-mode", items: int = ITEMS
) -> Any:
    write_items(project, items)
    model = PROVIDERS[provider](url, concurrency=1)
    write_suite(project, llm_suite(model, tests=[test]))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    return outcome


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_judge_whose_verdicts_depend_on_the_mode_is_found(project: Project, provider: str) -> None:
    with ChatServer(judge) as server:
        asked(project, server.url, provider)
    modes = query(project, "run", "SELECT variant, output, status, count(*) FROM records GROUP BY 1, 2, 3 ORDER BY 1")
    assert modes == [("", "", "ok", ITEMS), *((mode, mode, "ok", ITEMS) for mode in sorted(MODES))]
    flips = {
        entry["cell"]["variant"]: entry["estimate"]
        for entry in report(project, "run")["measures"]
        if entry["name"] == "flip-rate" and entry["test"] == "output-mode" and "variant" in entry["cell"]
    }
    moved = one(project, "run", "SELECT count(*) FROM records WHERE variant = 'tool-call' AND canonical = 'NO'")
    assert moved > ITEMS / 4
    assert flips == {"text": 0.0, "json": 0.0, "json-schema": 0.0, "tool-call": moved / ITEMS}
    assert any("output-mode" in json.dumps(finding) for finding in report(project, "run")["findings"])


@pytest.mark.parametrize(
    ("provider", "refused"), [("openai-http", "tools"), ("openai-http", "response_format"), ("litellm", "tools")]
)
def test_a_refused_mode_is_not_available_and_never_a_flip(project: Project, provider: str, refused: str) -> None:
    with ChatServer(judge, refuses=[refused]) as server:
        asked(project, server.url, provider, items=6)
        sent = server.count
        again = project.run("run", "suite.yaml", "--run-dir", "run")
    gone = {"tools": ("tool-call",), "response_format": ("json", "json-schema")}[refused]
    assert again.exit_code == 0
    assert server.count == sent, "a refused mode is not asked for again"
    statuses = dict(query(project, "run", "SELECT output, group_concat(DISTINCT status) FROM records GROUP BY output"))
    assert statuses == {mode: "not_available" if mode in gone else "ok" for mode in ("", *MODES)}
    assert sent == 6 + 6 * (len(MODES) - len(gone)) + len(gone)  # each refused mode was tried once
    found = report(project, "run")
    notes = " ".join(found["notes"])
    for mode in gone:
        assert (
            f"{mode}: not available for judge 'mini', whose model refuses it; 6 questions of test 'output-mode'"
            in notes
        )
    assert found["faults"] == []
    flips = [
        entry["estimate"]
        for entry in found["measures"]
        if entry["name"] == "flip-rate" and entry["cell"].get("variant") in gone
    ]
    assert set(flips) <= {None}
    assert one(project, "run", "SELECT total(cost) FROM records WHERE status = 'not_available'") == 0.0


def test_reasoning_is_varied_and_a_level_that_a_model_refuses_is_not_available(project: Project) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return "NO" if body.get("reasoning_effort") == "high" else "YES"

    with ChatServer(answer) as server:
        asked(project, server.url, test={"output-mode": {"modes": [], "reasoning": ["low", "high"]}}, items=6)
    levels = query(project, "run", "SELECT DISTINCT output, canonical FROM records ORDER BY 1")
    assert levels == [("", "YES"), ("reasoning=high", "NO"), ("reasoning=low", "YES")]
    with ChatServer(answer, refuses=["reasoning_effort"]) as server:
        asked(project, server.url, test={"output-mode": {"modes": ["text"], "reasoning": ["low"]}}, items=6)
    levels = query(project, "run", "SELECT DISTINCT output, status FROM records r JOIN trials t ON t.id = r.trial_id")
    assert set(levels) == {("", "ok"), ("text, reasoning=low", "not_available")}


def test_the_longest_reply_is_varied_and_a_reply_that_it_cuts_is_no_verdict(project: Project) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return "NO" if body.get("max_tokens") == 64 else "YES"

    with ChatServer(answer) as server:
        test = {"output-mode": {"name": "length", "modes": [], "max_tokens": [16, 64]}}
        asked(project, server.url, test=test, items=6)
    levels = query(project, "run", "SELECT DISTINCT variant, output, canonical FROM records ORDER BY 1")
    assert levels == [("", "", "YES"), *((f"max_tokens={n}",) * 2 + (said,) for n, said in ((16, "YES"), (64, "NO")))]
    flips = {
        entry["cell"].get("variant"): entry["estimate"]
        for entry in report(project, "run")["measures"]
        if entry["name"] == "flip-rate" and entry["test"] == "length"
    }
    assert (flips["max_tokens=16"], flips["max_tokens=64"]) == (0.0, 1.0)
    with ChatServer(answer, refuses=["max_tokens=16"]) as server:
        asked(project, server.url, test=test, items=6)
    statuses = query(project, "run", "SELECT DISTINCT output, status FROM records ORDER BY 1")
    assert ("max_tokens=16", "not_available") in statuses
    assert ("max_tokens=64", "ok") in statuses


def test_a_longest_reply_beyond_any_model_is_a_mistake_of_the_suite(project: Project) -> None:
    write_items(project, 3)
    test = {"output-mode": {"modes": [], "max_tokens": [5_000_000_000]}}
    judge = {"judge": "llm", "model": "mini", "max_tokens": 5_000_000_000}
    model = openai_http("http://127.0.0.1:9", max_tokens=5_000_000_000)
    write_suite(project, llm_suite(model, tests=[test], judges=[judge]))
    refused = project.run("plan", "suite.yaml")
    assert (refused.exit_code, refused.output.count("10000000")) == (2, 3), refused.output


def test_judges_that_ask_no_model_are_not_asked_in_modes(project: Project) -> None:
    write_items(project, 3)
    project.write("mine.py", "def judge(question):\n    return 'YES'\n")
    own = {"name": "mine", "judge": "function", "function": "mine.py:judge"}
    write_suite(project, llm_suite({}, models={}, judges=[own], tests=["output-mode"]))
    planned = project.run("plan", "suite.yaml")
    assert planned.exit_code == 0, planned.output
    assert "reference" in planned.output
