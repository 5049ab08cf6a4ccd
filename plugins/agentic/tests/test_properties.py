"""What holds for any transcript: the edits that are recorded are all that changed, and calls stay well-formed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agentic_samples import called, item, perturber, result, said
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, read_transcript
from jrh_agentic.messages import call_faults
from jrh_agentic.replies import read_edit
from jrh_authoring import Unusable

VALUES = ["LK-4417", "2026-03-18", "64.90", "10:45", "204", "ü-77", "٣٤", "9" * 70]
SENTENCES = [
    "It is LK-4417.", "It comes on 2026-03-18.", "It costs 64.90.", "Is it 204?",
    "It's \"fine\"...", "\n- tea\n- milk\n",
    "```\n- a. B\n```", "`x. Y`", "It is so. He came.", "\n\n", "* a\n", "“quoted”",
]  # fmt: skip
TEXT = st.lists(
    st.one_of(st.sampled_from(SENTENCES), st.sampled_from(SENTENCES), st.sampled_from(VALUES), st.text(max_size=8)),
    max_size=6,
).map(" ".join)
RESULTS = st.one_of(
    TEXT,
    st.dictionaries(
        st.one_of(st.sampled_from(["paid", "status"]), st.text(max_size=6)),
        st.one_of(st.booleans(), st.sampled_from([*VALUES, "shipped", "yes", "No"]), TEXT),
        max_size=4,
    ).map(json.dumps),
)
DEMANDS = {"shop": ["verify_identity", "get_order"]}
TOOLS = st.sampled_from(["verify_identity", "get_order", "Ω"])


@st.composite
def transcripts(draw: Any) -> list[dict[str, Any]]:
    """Draw messages whose calls are mostly well-formed, with any text."""
    messages: list[dict[str, Any]] = [said("user", draw(TEXT))]
    for number in range(draw(st.integers(0, 4))):
        identity = draw(st.sampled_from([f"c{number}", "same", ""]))
        tool = draw(TOOLS)
        messages.append(called(identity, tool, draw(TEXT), value=draw(TEXT)))
        if draw(st.integers(0, 9)):
            messages.append(
                result(identity, tool, draw(RESULTS), **({"error": "no"} if not draw(st.integers(0, 5)) else {}))
            )
        if draw(st.booleans()):
            messages.append(said("assistant", draw(TEXT)))
    messages.append(said("assistant", draw(TEXT)))
    return messages


def shown(message: dict[str, Any]) -> str:
    return json.dumps(message, sort_keys=True)


async def drafts(test: str, messages: list[dict[str, Any]], **options: Any) -> list[Draft]:
    demanded = {"demands": DEMANDS} if test == "agent-perturbation" else {}
    found = await perturber(test, **demanded, **options).perturb(item(messages))
    return [each for each in found if isinstance(each, Draft)]


@settings(max_examples=60, deadline=None)
@given(transcripts())
async def test_no_rule_breaks_a_call(messages: list[dict[str, Any]]) -> None:
    before = call_faults(read_transcript(messages))
    for test in ("agent-perturbation", "agent-style"):
        for draft in await drafts(test, messages, **({"edits": [1, 2]} if test == "agent-perturbation" else {})):
            after = call_faults(read_transcript(draft.fields["transcript"]))
            assert not after - before


@settings(max_examples=60, deadline=None)
@given(transcripts())
async def test_all_messages_but_the_edited_ones_stay_as_they_are(messages: list[dict[str, Any]]) -> None:
    for draft in await drafts("agent-perturbation", messages, anywhere=True):
        after = draft.fields["transcript"]
        edits = draft.details["edits"]
        assert len(edits) == draft.strength
        if draft.variant == "missing-step":
            gone = [message for message in messages if shown(message) not in {shown(each) for each in after}]
            assert gone
            assert all(message["role"] in ("assistant", "tool") for message in gone)
            # What is left stands in the order it had; only a message that kept another call may look different.
            rest = iter(messages)
            assert all(any(shown(each) == shown(old) for old in rest) for each in after if each in messages)
            assert sum(each not in messages for each in after) <= sum(edit["message"] is not None for edit in edits)
            continue
        changed = [n for n, (one, other) in enumerate(zip(messages, after, strict=True), 1) if one != other]
        assert changed == sorted({edit["message"] for edit in edits})
        assert all(messages[number - 1]["role"] == "assistant" for number in changed)


@settings(max_examples=60, deadline=None)
@given(transcripts())
async def test_a_swapped_value_keeps_every_letter_and_stands_nowhere_else(messages: list[dict[str, Any]]) -> None:
    for draft in await drafts("agent-perturbation", messages, variants=["swapped-value"], anywhere=True):
        (edit,) = draft.details["edits"]
        before = messages[edit["message"] - 1]["content"]
        after = draft.fields["transcript"][edit["message"] - 1]["content"]
        assert len(before) == len(after)
        places = [place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
        assert places
        assert all(before[place].isdigit() and after[place].isdigit() for place in places)


@settings(max_examples=60, deadline=None)
@given(transcripts())
async def test_layout_white_space_and_punctuation_touch_no_letter_and_order_loses_no_line(
    messages: list[dict[str, Any]],
) -> None:
    for draft in await drafts("agent-style", messages):
        for before, after in zip(messages, draft.fields["transcript"], strict=True):
            if draft.variant == "order":
                assert sorted(before["content"].split("\n")) == sorted(after["content"].split("\n"))
            else:
                assert re.sub(r"[\W_]", "", before["content"]) == re.sub(r"[\W_]", "", after["content"])


def arguments(*, finite: bool) -> Any:
    """Draw the arguments of a call; a transcript has finite numbers only, an editor may write any."""
    numbers = st.floats(allow_nan=not finite, allow_infinity=not finite)
    scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), numbers, st.text(max_size=4))
    names = st.sampled_from(["a", "b", "é", ""])
    values = st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
        max_leaves=8,
    )
    return st.dictionaries(st.sampled_from(["a", "b", "é"]), values, max_size=3)


def kind(value: Any) -> Any:
    """Return the types of a value: of a mapping by key, of a list all that occur."""
    if isinstance(value, Mapping):
        return {key: kind(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return {json.dumps(kind(each), sort_keys=True) for each in value}
    return type(value).__name__


@settings(max_examples=150, deadline=None)
@given(
    arguments(finite=True),
    arguments(finite=False),
    st.sampled_from(["c1", "c2"]),
    st.sampled_from(["find", "Find"]),
    st.booleans(),
    TEXT,
)
def test_whatever_an_editor_answers_ids_names_and_types_of_calls_stay(
    before: Any, after: Any, identity: str, name: str, same: bool, content: str
) -> None:
    (message,) = read_transcript([called("c1", "find", "x", **before)])
    calls = [{"id": identity, "name": name, "arguments": before if same else after}]
    found = read_edit(json.dumps({"message": 1, "content": content, "tool_calls": calls}), message, 1, "")
    if isinstance(found, Unusable):
        return
    (call,) = found.tool_calls
    assert (call.id, call.name) == ("c1", "find")
    assert set(call.arguments) == set(before)
    for key, value in call.arguments.items():
        if not isinstance(value, list):  # a list may be shorter, or longer of the same
            assert isinstance(value, Mapping) or kind(value) == kind(before[key])
    json.dumps(dict(call.arguments), allow_nan=False)


@settings(max_examples=40, deadline=None)
@given(transcripts())
async def test_the_same_transcript_gives_the_same_drafts(messages: list[dict[str, Any]]) -> None:
    for test in ("agent-perturbation", "agent-style"):
        assert await perturber(test).perturb(item(messages)) == await perturber(test).perturb(item(messages))
