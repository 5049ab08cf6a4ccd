"""Asking a model for text: attempts, seeds, checks, and the draft or skip that comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import frozen
from jrh import Draft, Item, JrhError, Message, Same, Sampling, Skip, Status, Validation, ValidatorName
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh.plugins.protocols import ChatRequest
from jrh_authoring import (
    Answer,
    Checks,
    TextWriter,
    WrittenBy,
    ask_until_read,
    check_template,
    item_texts,
    tag_mark,
    text_schema,
)
from jrh_testing import FakeContext, ScriptedModel, loop_over, sample_task

ASKED = [Message(role="user", content="Rewrite.")]
ITEM = Item(id="1", fields={"response": "A b c d.", "n": 3, "blank": " "})


def says(text: str) -> str:
    return json.dumps({"text": text})


def writer(script: Any, **settings: Any) -> tuple[TextWriter, ScriptedModel]:
    model = ScriptedModel(script)
    return TextWriter(**{"client": model, "temperature": 0.5, "attempts": 3, **settings}), model


async def test_every_attempt_is_a_repeat_with_a_seed_of_its_own_until_a_text_can_be_used() -> None:
    made, model = writer(["prose", says("A b c d."), says("D c b a, e f."), says("never asked")])
    found = await made.write(ASKED, "A b c d.", seed=lambda attempt: 100 + attempt)
    assert found.written is not None
    assert found.written.text == "D c b a, e f."
    assert [(asked.repeat, asked.purpose) for asked in model.asked] == [(n, "generate") for n in range(3)]
    assert [request.sampling for request in model.requests] == [
        Sampling(temperature=0.5, seed=100 + n) for n in range(3)
    ]
    assert model.requests[0].json_schema == text_schema("text")
    assert found.details == {
        "attempts": 3,
        "rejected": ["no JSON in the reply", "unchanged"],
        "seed": 102,
        "status": "ok",
        "length_ratio": 1.5,
    }


async def test_a_text_that_fails_a_check_is_asked_for_again() -> None:
    made, _ = writer([says("too short"), says("long enough now")], attempts=2)

    async def rejection(text: str) -> str:
        return "too short" if "short" in text else ""

    found = await made.write(ASKED, "x", seed=lambda attempt: attempt, rejection=rejection)
    assert (found.reason, found.details["rejected"]) == ("", ["too short"])


async def test_after_the_last_attempt_its_reason_stays() -> None:
    made, _ = writer(["prose", Completion(text=None, finish_reason="stop", refusal="no")], attempts=2)
    found = await made.write(ASKED, "x", seed=lambda attempt: attempt)
    assert (found.written, found.reason) == (None, "the model refused")
    assert found.details == {"attempts": 2, "rejected": ["no JSON in the reply", "the model refused"]}
    assert [attempt.status for attempt in found.attempts] == [Status.OK, Status.REFUSED]


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.SERVER_ERROR])
async def test_a_provider_that_fails_is_not_asked_again(kind: FaultKind) -> None:
    made, model = writer(lambda request: ModelFault(kind, "down"))
    found = await made.write(ASKED, "x", seed=lambda attempt: attempt)
    assert (found.reason, len(model.asked)) == ("provider error", 1)


async def test_the_rubric_and_what_else_was_shown_are_no_text() -> None:
    made, _ = writer([says("The rubric."), says("The other answer.")], shown=("The rubric.",), attempts=2)
    found = await made.write(ASKED, "x", seed=lambda attempt: attempt, shown=("The other answer.",))
    assert found.details["rejected"] == ["the rubric itself"] * 2


async def test_a_draft_needs_the_texts_of_all_fields() -> None:
    made, _ = writer([says("One."), "prose"], attempts=1)
    good = await made.write(ASKED, "x", seed=lambda attempt: 7)
    bad = await made.write(ASKED, "y", seed=lambda attempt: 8)
    draft = made.outcome({"response_a": good}, variant="v", details={"by": "model"})
    assert draft == Draft(
        variant="v",
        fields={"response_a": "One."},
        expectation=Same(),
        model="scripted/scripted",
        details={
            "by": "model",
            "model": "scripted/scripted",
            "temperature": 0.5,
            "fields": {"response_a": good.details},
        },
    )
    skip = made.outcome({"response_a": good, "response_b": bad}, variant="v")
    assert isinstance(skip, Skip)
    assert (skip.reason, skip.variant) == ("no JSON in the reply", "v")
    assert skip.details["fields"] == {"response_a": good.details, "response_b": bad.details}


@loop_over(
    ("fields", "expected"),
    [
        (("response",), {"response": "A b c d."}),
        (("response", "n"), Skip(reason="field 'n' is not text")),
        (("gone",), Skip(reason="field 'gone' is not text")),
        (("blank",), Skip(reason="field 'blank' is empty")),
    ],
)
def test_the_texts_of_an_item_are_all_there_or_it_is_skipped(fields: tuple[str, ...], expected: object) -> None:
    assert item_texts(ITEM, fields) == expected


@frozen
class Says:
    """A validator with a fixed decision."""

    accepted: bool
    reason: str = ""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        return Validation(accepted=self.accepted, reason=self.reason)


@frozen
class Sets:
    async def validate_set(self, drafts: Any) -> Any:
        return []


def context(**validators: Any) -> FakeContext:
    return FakeContext(name="made", task=sample_task(), validators=validators)


async def test_the_first_check_that_rejects_gives_the_reason() -> None:
    names = tuple(map(ValidatorName, ("yes", "no", "later")))
    checks = Checks.of(names, context(yes=Says(True), no=Says(False, "too odd"), later=Says(False, "never asked")))
    draft = Draft(variant="v", details={"seed": 1})
    assert await checks.rejection(ITEM, draft) == "too odd"
    assert await checks.check_draft(ITEM, draft) == Skip(reason="too odd", variant="v", details={"seed": 1})
    assert await Checks.of(names[:1], context(yes=Says(True))).check_draft(ITEM, draft) is draft
    assert await Checks.of(names[1:2], context(no=Says(False))).rejection(ITEM, draft) == "rejected by a check"


def test_a_check_decides_about_one_draft_at_a_time() -> None:
    with pytest.raises(JrhError, match="'sets' needs all drafts at once, so it cannot be used under `checks`"):
        Checks.of((ValidatorName("sets"),), context(sets=Sets()))


@loop_over(
    ("script", "value", "reason", "attempts"),
    [
        (["?", "7"], 7, "", 2),
        (["?", "?"], None, "no answer in the reply", 2),
        ([Completion(text="7", finish_reason="length"), "7"], 7, "", 2),
        ([ModelFault(FaultKind.TIMEOUT, "late")], None, "provider error", 1),
    ],
)
async def test_a_question_is_asked_until_its_answer_can_be_read(
    script: Any, value: int | None, reason: str, attempts: int
) -> None:
    model = ScriptedModel(script)
    request = ChatRequest(messages=tuple(ASKED))
    answer = await ask_until_read(model, request, lambda reply: int(reply.text) if reply.text.isdigit() else None, 2)
    assert answer == Answer(value=value, reason=reason, attempts=attempts, fingerprint="scripted/scripted")
    assert [asked.purpose for asked in model.asked] == ["validate"] * attempts


@loop_over(
    ("by", "model", "chosen"),
    [
        (None, None, WrittenBy.RULES),
        (None, "m", WrittenBy.MODEL),
        (WrittenBy.RULES, "m", WrittenBy.RULES),
        (WrittenBy.MODEL, None, WrittenBy.MODEL),
    ],
)
def test_who_writes_is_what_is_said_or_the_model_that_is_named(by: Any, model: Any, chosen: WrittenBy) -> None:
    assert WrittenBy.of(by, model) is chosen


def test_a_template_is_checked_before_anything_is_asked() -> None:
    check_template("p", "{{ text }} {{ task }}", known=("text", "task"), needed="text")
    with pytest.raises(JrhError, match=r"^p: its prompt uses unknown variables \(gold\); variables: task, text$"):
        check_template("p: its prompt", "{{ text }} {{ gold }}", known=("text", "task"), needed="text")
    with pytest.raises(JrhError, match=r"^p does not show \{\{ text \}\}; variables: text$"):
        check_template("p", "hello", known=("text",), needed="text")
    with pytest.raises(JrhError, match="prompt template, line 1"):
        check_template("p", "{% for %}", known=(), needed="text")


def test_no_text_can_close_its_own_tag() -> None:
    mark = tag_mark("text", "request")
    assert mark == tag_mark("text", "request")
    assert mark != tag_mark(f"text </text-{mark}>", "request")
