"""Planner, editor, summarizer and verifier over the wire: what they do well, and everything they can do wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from jrh_testing import ChatServer, Inside, Project
from support import agentic
from support.agentic import FILTERED, REFUSAL, Agents, edit_of, plan
from support.looking import drafts_of, query, report
from support.suites import openai_http

pytestmark = pytest.mark.inside

PRICE = {"input": 1.0, "output": 2.0}


def no(label: str = "satisfies") -> str:
    return json.dumps({"reason": "nothing is wrong", "label": label})


def other_id(prompt: str, _before: int) -> str:
    if "call-1" not in prompt.rpartition("<message")[2]:
        return edit_of(prompt)
    calls = [{"id": "call-9", "name": "verify_identity", "arguments": {"customer": "Mara", "code": 7731}}]
    return edit_of(prompt, tool_calls=calls)


def other_type(prompt: str, _before: int) -> str:
    calls = [{"id": "call-1", "name": "verify_identity", "arguments": {"customer": "Mara", "code": "7731"}}]
    return edit_of(prompt, tool_calls=calls)


def two_messages(prompt: str, _before: int) -> str:
    return f"{edit_of(prompt)}\n{edit_of(prompt)}"


SCRIPT: Mapping[tuple[str, str], Any] = {
    ("item-absent", "planner"): plan(
        (99, "a"), (0, "b"), ("seven", "c"), (2, "d"), (6, "e"), (7, "name another date"), (7, "again"), (9, "")
    ),
    ("item-nothing", "planner"): plan((99, "a"), (2, "b")),
    ("item-prose", "editor"): "Here is what I would write instead, if you like it.",
    ("item-two", "editor"): two_messages,
    ("item-list", "editor"): json.dumps({"messages": [{"message": 7, "content": "a"}, {"message": 9, "content": "b"}]}),
    ("item-id", "planner"): plan((3, "check somebody else")),
    ("item-id", "editor"): other_id,
    ("item-type", "planner"): plan((3, "check somebody else")),
    ("item-type", "editor"): other_type,
    ("item-half", "planner"): plan((3, "check somebody else"), (7, "name another date")),
    ("item-half", "editor"): other_id,
    ("item-never", "verifier"): no(),
    ("item-later", "verifier"): lambda _prompt, before: no("violates" if before else "satisfies"),
    ("item-vague", "verifier"): "Well.",
    ("item-planner-refuses", "planner"): REFUSAL,
    ("item-planner-filtered", "planner"): FILTERED,
    ("item-editor-refuses", "editor"): REFUSAL,
    ("item-summary-refused", "planner"): plan((7, "name another date")),
    ("item-summary-refused", "summarizer"): REFUSAL,
    ("item-summary-refused", "update"): FILTERED,
    ("item-verifier-refuses", "verifier"): FILTERED,
    ("item-once", "planner"): lambda _prompt, before: plan((7, "name another date")) if before else REFUSAL,
}
GOLD = {"item-good": "satisfies", **{item: "satisfies" for item, _ in SCRIPT}, "item-bad": "violates"}
SKIPPED = {
    "item-nothing": "planner: no usable step in the plan",
    "item-prose": "no usable edit",
    "item-two": "no usable edit",
    "item-list": "no usable edit",
    "item-id": "no usable edit",
    "item-type": "no usable edit",
    "item-never": "the verifier did not agree",
    "item-vague": "verifier: no JSON in the reply",
    "item-planner-refuses": "planner refused",
    "item-planner-filtered": "planner refused",
    "item-editor-refuses": "editor refused",
    "item-verifier-refuses": "verifier refused",
    "item-bad": "the transcript already violates the entry",
}


class Ran:
    """One run of all scripts, and what it left behind."""

    def __init__(self, project: Project) -> None:
        project.write("items.jsonl", agentic.lines(GOLD))
        self.agents = Agents(SCRIPT)
        with ChatServer(self.agents) as server:
            model = openai_http(server.url, price=PRICE, max_tokens=500)
            suite = agentic.suite(model, [{"agent-perturbation": {"model": "mini"}}])
            project.write("suite.yaml", yaml.safe_dump(suite))
            self.outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        assert self.outcome.exit_code == 0, self.outcome.output
        rows = drafts_of(project, "run")
        self.reasons = {item: reason for item, _, state, reason, _ in rows if state == "skipped"}
        self.drafts = {item: draft for item, *_, draft in rows}
        self.report = report(project, "run")

    def details(self, item: str) -> dict[str, Any]:
        return dict(self.drafts[item]["details"])

    def rejected(self, item: str, role: str) -> list[str]:
        return [call["rejected"] for call in self.details(item)["calls"] if call["role"] == role]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    from support.keys import KEY, KEY_VARIABLE

    return Ran(Inside(tmp_path_factory.mktemp("agentic"), env={KEY_VARIABLE: KEY}))


def test_every_failure_is_a_skip_with_its_reason_and_everything_else_a_case(ran: Ran) -> None:
    assert ran.reasons == SKIPPED
    (line,) = ran.report["attrition"]
    assert (line["items"], line["drafted"], line["kept"]) == (len(GOLD), len(GOLD) - len(SKIPPED), line["drafted"])


def test_refusals_are_counted_by_role_so_that_their_rate_can_be_read(ran: Ran) -> None:
    (line,) = ran.report["attrition"]
    refused = {reason: count for reason, count in line["skipped"].items() if "refused" in reason}
    assert refused == {"planner refused": 2, "editor refused": 1, "verifier refused": 1}
    asked = line["drafted"] + sum(line["skipped"].values()) - 1
    assert asked == len({item for item, role in ran.agents.asked if role == "planner"})
    assert refused["planner refused"] / asked == pytest.approx(2 / 18)


def test_the_edited_transcript_differs_only_in_the_edits_and_its_calls_are_as_they_were(ran: Ran) -> None:
    before, after = agentic.transcript("item-good"), ran.drafts["item-good"]["fields"]["transcript"]
    changed = [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]]
    assert changed == [7, 9]
    assert after[6]["content"] == before[6]["content"] + " [edited]"
    edits = ran.details("item-good")["edits"]
    assert [edit["message"] for edit in edits] == [7, 9]
    assert edits[1]["diff"] == "- You are welcome.\n+ You are welcome. [edited]"
    assert ran.drafts["item-good"]["strength"] == 2.0
    assert ran.drafts["item-good"]["expectation"] == {"kind": "equals", "label": "violates"}


def test_steps_that_cannot_be_made_are_dropped_with_a_reason_and_the_others_made(ran: Ran) -> None:
    (first,) = ran.details("item-absent")["rounds"]
    assert [(step["message"], step["reason"]) for step in first["dropped"]] == [
        (99, "there is no such message"),
        (0, "there is no such message"),
        (None, "it names no message"),
        (2, "the message is not the assistant's"),
        (6, "the message is not the assistant's"),
        (7, "an earlier step names this message"),
        (9, "it names no goal"),
    ]
    assert [edit["message"] for edit in ran.details("item-absent")["edits"]] == [7]
    (nothing,) = ran.details("item-nothing")["rounds"]
    assert [step["message"] for step in nothing["dropped"]] == [99, 2]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("item-prose", "no JSON in the reply"),
        ("item-two", "more than one message"),
        ("item-list", "more than one message"),
        ("item-id", "a call is broken: its id or name changed"),
        ("item-type", "a call is broken: its arguments or their types changed"),
    ],
)
def test_a_reply_that_is_no_edit_of_the_message_is_rejected_and_recorded(ran: Ran, item: str, reason: str) -> None:
    assert set(ran.rejected(item, "editor")) == {reason}
    (first,) = ran.details(item)["rounds"]
    assert {left["reason"] for left in first["not_made"]} == {reason}


def test_an_edit_that_breaks_a_call_costs_only_itself(ran: Ran) -> None:
    (first,) = ran.details("item-half")["rounds"]
    assert [left["message"] for left in first["not_made"]] == [3]
    assert [edit["message"] for edit in ran.details("item-half")["edits"]] == [7]
    assert ran.drafts["item-half"]["fields"]["transcript"][2] == agentic.transcript("item-half")[2]


def test_a_verifier_that_says_no_gets_another_round_until_the_rounds_are_used_up(ran: Ran) -> None:
    never = ran.details("item-never")["rounds"]
    assert [each["verification"]["label"] for each in never] == ["satisfies"] * 3
    assert ran.agents.asked["item-never", "planner"] == 3
    later = ran.details("item-later")["rounds"]
    assert [each["accepted"] for each in later] == [False, True]
    asked = [prompt for item, role, prompt in ran.agents.prompts if (item, role) == ("item-later", "planner")]
    assert "nothing is wrong" not in asked[0]
    assert "it answers satisfies, because: nothing is wrong" in asked[1]
    assert "It arrives on 2026-03-18. (item-later) [edited]" in asked[1]
    assert ran.drafts["item-later"]["strength"] == 4.0


def test_a_summarizer_that_refuses_stops_nothing_and_the_edits_are_noted_in_its_place(ran: Ran) -> None:
    details = ran.details("item-summary-refused")
    assert [summary["kept"] for summary in details["summaries"]] == [True, True]
    assert details["summaries"][-1]["summary"].endswith("Message 7 was edited since: name another date")
    assert len(details["edits"]) == 1


def test_another_attempt_follows_a_refusal(ran: Ran) -> None:
    assert ran.rejected("item-once", "planner") == ["refused", ""]
    assert [edit["message"] for edit in ran.details("item-once")["edits"]] == [7]


def test_the_summary_follows_every_edit_without_reading_the_transcript_again(ran: Ran) -> None:
    prompts = [(role, prompt) for item, role, prompt in ran.agents.prompts if item == "item-good"]
    roles = [role for role, _ in prompts if role != "judge"]
    assert roles == ["summarizer", "planner", "editor", "update", "editor", "update", "verifier"]
    updates = [prompt for role, prompt in prompts if role == "update"]
    assert not any(agentic.SECRET_OF_ONE_MESSAGE in prompt for prompt in updates)
    assert "A customer of item-good asks for an order." in updates[0]
    assert "asks for an order. And one edit." in updates[1]
    editors = [prompt for role, prompt in prompts if role == "editor"]
    assert "asks for an order. And one edit." in editors[1]
    assert "+ It arrives on 2026-03-18. (item-good) [edited]" in editors[1]
    assert "> 2. message 9: repeat the other date" in editors[1]


def test_plan_summaries_verdicts_prompts_and_costs_are_recorded(ran: Ran) -> None:
    details = ran.details("item-good")
    (first,) = details["rounds"]
    assert first["thesis"] == "The date is wrong, so the entry is violated."
    assert [step["goal"] for step in first["steps"]] == ["name another date", "repeat the other date"]
    assert first["verification"] == {
        "accepted": True, "label": "violates", "reason": "message 7 names a wrong date"
    }  # fmt: skip
    assert [summary["after"] for summary in details["summaries"]] == [0, 1, 2]
    assert {role: costs["calls"] for role, costs in details["costs"].items()} == {
        "planner": 1, "editor": 2, "summarizer": 3, "verifier": 1
    }  # fmt: skip
    planner = next(call for call in details["calls"] if call["role"] == "planner")
    expected = (planner["prompt_tokens"] * PRICE["input"] + planner["completion_tokens"] * PRICE["output"]) / 1e6
    assert details["costs"]["planner"]["usd"] == pytest.approx(expected)
    assert len({call["prompt"] for call in details["calls"]}) == len(details["calls"])


def test_the_family_is_measured_with_the_place_the_rationales_point_at(ran: Ran) -> None:
    found = {
        (measure["name"], json.dumps(measure["cell"])): measure
        for measure in ran.report["measures"]
        if measure["name"].startswith(("agent-", "edit-", "evidence-"))
    }
    drafted = len(GOLD) - len(SKIPPED)
    missed = found["agent-false-negative-rate", "{}"]
    assert (missed["estimate"], missed["n_trials"]) == (0.0, drafted)
    assert found["edit-sensitivity", '{"edits": "4"}']["n_trials"] == 1
    assert found["edit-sensitivity", '{"position": "last third"}']["n_items"] >= 4
    assert found["evidence-localisation", "{}"]["estimate"] == 1.0
    assert 0 < found["evidence-localisation-above-chance", "{}"]["estimate"] < 1


def test_a_provider_that_does_not_say_its_price_leaves_the_cost_unknown(project: Project) -> None:
    project.write("items.jsonl", agentic.lines({"item-good": "satisfies"}))
    with ChatServer(Agents()) as server:
        suite = agentic.suite(openai_http(server.url), [{"agent-perturbation": {"model": "mini"}}])
        project.write("suite.yaml", yaml.safe_dump(suite))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    ((*_, draft),) = drafts_of(project, "run")
    assert {costs["usd"] for costs in draft["details"]["costs"].values()} == {None}


def test_every_level_of_a_rubric_is_targeted_and_expected(project: Project) -> None:
    def as_wanted(prompt: str, _before: int) -> str:
        level = next(level for level in "1234" if f"level {level} [edited]" in prompt)
        return json.dumps({"reason": "it says so", "level": level, "label": level})

    def to_level(prompt: str, _before: int) -> str:
        level = prompt.partition("a careful judge answers ")[2][0]
        return edit_of(prompt, content=f"level {level} [edited]")

    project.write("items.jsonl", agentic.lines({"item-one": "3", "item-two": None}))
    levels = [{"level": level, "label": f"step {level}"} for level in range(1, 5)]
    entry = {"id": "care", "instructions": "How well does the agent care?", "score_levels": levels}
    project.write("rubric.yaml", yaml.safe_dump([entry]))
    script = {(item, role): answer for item in ("item-one", "item-two")
              for role, answer in (("verifier", as_wanted), ("editor", to_level))}  # fmt: skip
    with ChatServer(Agents(script)) as server:
        suite = agentic.suite(openai_http(server.url), [{"agent-perturbation": {"model": "mini"}}])
        suite["task"] = {"mode": "transcript", "criteria": {"file": "rubric.yaml"}}
        suite["judges"] = ["simulated"]
        project.write("suite.yaml", yaml.safe_dump(suite))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    drafts = {(item, variant): draft for item, variant, *_, draft in drafts_of(project, "run")}
    assert sorted(drafts) == [(item, f"level-{level}") for item in ("item-one", "item-two") for level in "1234"]
    for (item, variant), draft in drafts.items():
        level = variant.removeprefix("level-")
        assert draft["expectation"] == {"kind": "equals", "label": level}
        if (item, level) == ("item-one", "3"):
            assert draft["fields"] == {}
        else:
            assert draft["fields"]["transcript"][6]["content"] == f"level {level} [edited]"


def test_positives_are_left_alone_where_they_are_good_and_repaired_where_they_are_not(project: Project) -> None:
    script = {("item-bad", "verifier"): no("satisfies"), ("item-poor", "verifier"): no("violates")}
    project.write(
        "items.jsonl", agentic.lines({"item-good": "satisfies", "item-bad": "violates", "item-poor": "violates"})
    )
    with ChatServer(Agents(script, judge="satisfies")) as server:
        tests = [{"agent-positives": {"model": "mini"}}, {"agent-style": {"model": "mini"}}]
        project.write("suite.yaml", yaml.safe_dump(agentic.suite(openai_http(server.url), tests)))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    rows = query(
        project, "run", "SELECT item_id, variant, reason FROM drafts WHERE test = 'agent-positives' ORDER BY item_id"
    )
    assert rows == [
        ("item-bad", "repaired", ""),
        ("item-good", "untouched", ""),
        ("item-poor", "repaired", "the verifier did not agree"),
    ]
    styles = drafts_of(project, "run", "agent-style")
    assert [draft["expectation"] for *_, draft in styles] == [{"kind": "same"}] * 3
