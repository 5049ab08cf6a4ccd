"""Models that do not have a setting can be tested: they are asked without it, and everything that shows it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jrh_chat import find_refused_settings
from jrh_testing import ChatServer, Project, loop_over
from support.looking import one, query, report
from support.suites import PROVIDERS, llm_suite, openai_http, write_items, write_suite

pytestmark = [pytest.mark.slow, pytest.mark.inside]

ITEMS = 6


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_judge_whose_model_has_no_temperature_and_no_seed_is_measured(project: Project, provider: str) -> None:
    write_items(project, ITEMS)
    with ChatServer("YES", refuses=["temperature", "seed"]) as server:
        model = PROVIDERS[provider](server.url, temperature=0, concurrency=1)
        tests = [{"stochastic": {"repeats": 2, "temperatures": [0.2, 0.9]}}]
        write_suite(project, llm_suite(model, tests=tests))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
        asked = server.count
        again = project.run("run", "suite.yaml", "--run-dir", "run")
    assert (outcome.exit_code, again.exit_code) == (0, 0), outcome.output
    assert server.count == asked
    records = query(project, "run", "SELECT test, status, not_settable, temperature, variant FROM records")
    assert {status for _, status, *_ in records} == {"ok"}
    assert {(test, refused) for test, _, refused, *_ in records} == {
        ("reference", "temperature"),
        ("stochastic", "seed, temperature"),
    }
    assert {temperature for *_, temperature, _ in records} == {None}  # it is no level of a facet
    assert asked == len(records) + 3  # each setting is refused once, a temperature of 0 apart from others
    notes = " ".join(report(project, "run")["notes"])
    assert "seed, temperature: not available for model 'mini'" in notes
    assert "(judge mini in stochastic)" in notes
    assert "not available for model 'mini'" in project.read("run/report.md")
    assert report(project, "run")["faults"] == []


@loop_over(
    ("refused", "sent", "noted"),
    [
        (
            "temperature=0",
            None,
            "temperature: not available for model 'mini', which refuses it; 3 replies (judge mini in reference)",
        ),
        (
            "temperature=0: `temperature` must be strictly positive",
            0.01,
            "temperature<0.01: not available for model 'mini', which refuses it; 3 replies (judge mini in reference)",
        ),
    ],
)
def test_a_temperature_of_0_that_is_refused_is_replaced_and_every_record_says_so(
    project: Project, refused: str, sent: float | None, noted: str
) -> None:
    write_items(project, 3)
    with ChatServer("YES", refuses=[refused]) as server:
        model = openai_http(server.url, temperature=0, concurrency=1)
        write_suite(project, llm_suite(model, tests=[{"stochastic": {"repeats": 2, "temperatures": [0.5]}}]))
        for _ in range(2):
            outcome = project.run("run", "suite.yaml", "--run-dir", "run")
            assert outcome.exit_code == 0, outcome.output
        asked = [body.get("temperature") for body in server.requests]
    assert asked.count(0) == 1, "once refused, it is not asked for again"
    assert asked.count(0.5) == 6, "other temperatures are not lost with it"
    assert asked.count(sent) >= 3
    assert dict(query(project, "run", "SELECT DISTINCT test, status FROM records")) == {
        "reference": "ok",
        "stochastic": "ok",
    }
    kept = dict(query(project, "run", "SELECT DISTINCT test, not_settable FROM records"))
    assert kept["reference"] == noted.partition(":")[0]
    assert noted in " ".join(report(project, "run")["notes"])


@pytest.mark.parametrize("field", ["max_tokens", "top_p", "logprobs", "reasoning_effort"])
def test_every_other_setting_may_be_refused_too(project: Project, field: str) -> None:
    write_items(project, 2)
    with ChatServer("YES", refuses=[field]) as server:
        model = openai_http(server.url, max_tokens=50, top_p=0.5, reasoning_effort="low")
        judge = {"name": "mini", "judge": "llm", "model": "mini", "top_logprobs": 3}
        write_suite(project, llm_suite(model, judges=[judge]))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    assert {kept for (kept,) in query(project, "run", "SELECT not_settable FROM records")} == {field}


def essays(body: dict[str, Any]) -> str:
    """Write a text that says how often was asked, and grade every text with 2."""
    prompt = str(body["messages"])
    if "level" in str(body.get("response_format")):
        return '{"rationale": "as asked", "level": "2"}'
    return '{"response": "' + f"A text about the harbour and the mill number {abs(hash(prompt)) % 10**9}" + '"}'


def writers(refused: tuple[str, ...], answer: Callable[[dict[str, Any]], str]) -> ChatServer:
    return ChatServer(answer, refuses=refused)


def test_the_ramp_of_a_model_without_temperature_varies_examples_seeds_and_wording(project: Project) -> None:
    lines = [
        f'{{"id": "i{n}", "request": "Describe it.", "response": "This is essay number {n} of them.", "label": "{n}"}}'
        for n in (1, 2, 3)
    ]
    project.write("items.jsonl", "\n".join(lines))
    with writers(("temperature",), essays) as server:
        models = {name: openai_http(server.url, model=name, concurrency=1) for name in ("writer", "grader")}
        test = {"synthetic-ordinal": {"model": "writer", "grader": "grader", "levels": ["2", "3"], "fill_other": False}}
        suite = llm_suite(
            {},
            models=models,
            tests=[test],
            task={"instruction": "How good is it?", "rubric": "1 to 3.", "scale": {"ordinal": [1, 3]}},
            judges=[{"name": "sim", "judge": "simulated", "accuracy": 1.0}],
        )
        write_suite(project, suite)
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert "a plugin raised" not in outcome.output
    assert one(project, "run", "SELECT count(*) FROM cases WHERE test = 'synthetic-ordinal'") >= 1, outcome.output
    written = [str(body["messages"]) for body in server.requests if body["model"] == "writer" and "seed" in body]
    assert any("Arrange it differently" in text for text in written)
    assert "temperature: not available for model 'writer'" in " ".join(report(project, "run")["notes"])


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("paraphrase", {"model": "mini", "temperature": None}),
        ("verbosity", {"model": "mini", "temperature": None}),
        ("synthetic-ordinal", {"model": "mini", "grader": "mini", "initial_temperature": None}),
        ("label-flip", {"model": "mini", "temperature": None}),
        ("stochastic", {}),
    ],
)
def test_no_temperature_is_a_setting_everywhere(project: Project, family: str, options: dict[str, Any]) -> None:
    write_items(project, 1)
    scale = {"ordinal": [1, 3]} if family == "synthetic-ordinal" else {"labels": ["YES", "NO"]}
    if family == "synthetic-ordinal":
        project.write("items.jsonl", '{"id": "a", "request": "r", "response": "An essay.", "label": "2"}')
    model = openai_http("http://127.0.0.1:9/v1", temperature=None, seed=None, top_p=None, max_tokens=None)
    task = {"instruction": "Is it right?", "rubric": "Yes or no.", "scale": scale}
    write_suite(project, llm_suite(model, task=task, tests=[{family: options}]))
    planned = project.run("plan", "suite.yaml")
    assert planned.exit_code == 0, planned.output


REFUSALS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) is supported.",
        "temperature",
        ("temperature",),
    ),
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens",
        ("max_tokens",),
    ),
    (
        "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=claude-x.",
        "",
        ("seed",),
    ),
    ("`temperature` is deprecated for this model.", "", ("temperature",)),
    ("Temperature 0 is not supported.", "", ("temperature",)),
    ("Unsupported value: 'temperature' does not support 0 with this model.", "body", ("temperature",)),
    ("Temperature must be greater than 0.", "body", ("temperature<0.01",)),
    (
        "UnsupportedParamsError: O-series models don't support temperature=0.5. Only temperature=1 is supported.",
        "",
        ("temperature",),
    ),
    ("[{'loc': ['body', 'logprobs'], 'msg': 'Extra inputs are not permitted'}]", "", ("logprobs",)),
    ("max_tokens is too large: 99999. This model supports at most 4096 completion tokens.", "max_tokens", ()),
    ("temperature: range: 0..1 is supported", "", ()),
    ("Input validation error: `temperature` must be strictly positive", "", ("temperature<0.01",)),
    ("temperature must be greater than 0", "temperature", ("temperature<0.01",)),
    ("Invalid value: must be in (0.0, 1.0]", "temperature", ("temperature<0.01",)),
    ("temperature must be greater than 0.5", "temperature", ()),
    ("max_tokens must be greater than 0", "max_tokens", ()),
    ("'messages' contains an unsupported role", "messages", ()),
    ("The model does not exist", "", ()),
)


@loop_over(("text", "named", "expected"), REFUSALS)
def test_the_setting_that_an_error_names_is_found_and_a_value_out_of_range_is_none(
    text: str, named: str, expected: tuple[str, ...]
) -> None:
    assert find_refused_settings(text, named) == expected


@loop_over(
    ("text", "named"),
    [
        ("'response_format.type' must be 'json_schema' or 'text'", ""),
        ("This model does not support tools", ""),
        ("Invalid parameter", "response_format"),
        ("`tool_choice` is not available", ""),
    ],
)
def test_an_error_that_names_the_form_of_the_reply_refuses_the_mode(text: str, named: str) -> None:
    assert "output" in find_refused_settings(text, named)


def test_an_error_about_something_else_refuses_no_mode() -> None:
    assert "output" not in find_refused_settings("The model does not support images; prompt is invalid")
