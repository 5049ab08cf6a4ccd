"""Read the models' replies: plans, with the reasons for dropped steps, and edited messages, checked before use."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, cast

from attrs import asdict, evolve, frozen
from jrh import Json
from jrh.text import ToolCall, TranscriptMessage
from jrh_authoring import Unusable, json_objects, json_text, object_schema, read_json

from jrh_agentic.messages import shorten
from jrh_agentic.requests import NO_JSON, NoPlan

LONGEST_MESSAGE: Final = 30_000
"""Characters of a message that an editor is given, and gives back."""
_NO_CHANCE: Final = 40
"""Characters; an entry this long does not appear in a message by chance."""
EDIT_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "message": {"type": "integer"},
        "content": {"type": "string"},
        "reasoning": {"type": "string"},
        "tool_calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["id", "name", "arguments"],
            },
        },
    },
    "required": ["message", "content"],
}


def as_text(message: TranscriptMessage, number: int) -> str:
    """Return a message as the JSON an editor is to hand back."""
    shown: dict[str, Json] = {"message": number, "content": message.content}
    if message.reasoning:
        shown["reasoning"] = message.reasoning
    if message.tool_calls:
        shown["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    return json_text(shown, indent=1)


def read_edit(text: str, message: TranscriptMessage, number: int, entry: str) -> TranscriptMessage | Unusable:
    """Return the message as edited, or why the reply is no edit of it.

    Args:
        text: the editor's reply.
        message: the message before the edit.
        number: its 1-based number.
        entry: the rubric entry, which no message may quote.
    """
    answer = read_json(text, keys=("content",))
    if answer is None:
        # A whole list of messages in place of the one that was asked for.
        return NO_JSON if read_json(text, keys=("messages",)) is None else Unusable("more than one message")
    # Several objects with content are several messages; `read_json` alone would take the last one.
    if sum("content" in message for message in json_objects(text)) != 1:
        return Unusable("more than one message")
    if answer.get("message") != number:
        return Unusable("a message other than the one to edit")
    edited = _apply_reply(answer, message)
    if isinstance(edited, Unusable):
        return edited
    return _check_edit(edited, message, entry)


def _apply_reply(found: Mapping[str, Json], message: TranscriptMessage) -> TranscriptMessage | Unusable:
    content, reasoning = found["content"], found.get("reasoning", message.reasoning)
    if not isinstance(content, str) or not isinstance(reasoning, str):
        return Unusable("no text in the edit")
    calls = _calls(found["tool_calls"], message.tool_calls) if "tool_calls" in found else message.tool_calls
    if isinstance(calls, Unusable):
        return calls
    # An edit cannot add thoughts to a message that had none.
    return evolve(message, content=content, reasoning=reasoning if message.reasoning else "", tool_calls=calls)


def _calls(written: Json, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...] | Unusable:
    """Return the calls with their new arguments, or how the edit breaks them."""
    if isinstance(written, str) or not isinstance(written, Sequence):
        # `null` is right where the message makes no calls.
        return () if written is None and not calls else Unusable("a call is broken: the calls are not a list")
    if len(written) != len(calls):
        return Unusable("a call is broken: a call was added or left out")
    new_calls = []
    for entry, call in zip(written, calls, strict=True):
        if not isinstance(entry, Mapping) or (entry.get("id", ""), entry.get("name")) != (call.id, call.name):
            return Unusable("a call is broken: its id or name changed")
        arguments = entry.get("arguments")
        if not isinstance(arguments, Mapping) or not _fits(arguments, call.arguments):
            return Unusable("a call is broken: its arguments or their types changed")
        new_calls.append(evolve(call, arguments=dict(arguments)))
    return tuple(new_calls)


def _fits(new: Json, old: Json) -> bool:
    try:
        return _same_types(new, old)
    except RecursionError:  # nested deeper than anything a tool takes
        return False


def _same_types(new: Json, old: Json) -> bool:
    """Return whether two values have the same keys and types; a list may have more or fewer elements of its kinds."""
    if isinstance(old, Mapping):
        return isinstance(new, Mapping) and set(new) == set(old) and all(_same_types(new[key], old[key]) for key in old)
    if isinstance(old, Sequence) and not isinstance(old, str):
        is_list = isinstance(new, Sequence) and not isinstance(new, str)
        return is_list and {_kind(entry) for entry in cast("Sequence[Json]", new)} <= {_kind(entry) for entry in old}
    return _kind(new) == _kind(old)


def _kind(value: Json) -> Hashable:
    """Return the type of a value, throughout; a number that is not finite is of a kind of its own."""
    if isinstance(value, Mapping):
        return frozenset((key, _kind(entry)) for key, entry in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "list", frozenset(_kind(entry) for entry in value)
    return type(value).__name__ if not isinstance(value, float) or math.isfinite(value) else "infinite"


def _check_edit(edited: TranscriptMessage, message: TranscriptMessage, entry: str) -> TranscriptMessage | Unusable:
    texts = [edited.content, edited.reasoning, *_texts([call.arguments for call in edited.tool_calls])]
    says_nothing = not edited.content.strip() and bool(message.content.strip()) and not message.tool_calls
    # An entry quoted in the transcript would tell the judge what to look for.
    bare, bare_entry = " ".join(edited.content.split()), " ".join(entry.split())
    quotes = (
        len(bare_entry) >= _NO_CHANCE and bare_entry in bare and bare_entry not in " ".join(message.content.split())
    )
    reasons = (
        (edited == message, "unchanged"),
        (says_nothing, "empty text"),
        (len(as_text(edited, 0)) > LONGEST_MESSAGE, "the message is too long"),
        (any("\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text) for text in texts), "not text"),
        (quotes, "the entry itself"),
    )
    return next((Unusable(reason) for applies, reason in reasons if applies), edited)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield key
            yield from _texts(entry)
    elif isinstance(value, Sequence):
        for entry in value:
            yield from _texts(entry)


LONGEST: Final = 1_000
"""Characters of a thesis, a goal or a reason."""
_MOST_READ: Final = 100
"""Steps of a reply that are looked at."""
TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_STEP: Final = object_schema({"message": {"type": "integer"}, "goal": TEXT, "reason": TEXT})
PLAN_SCHEMA: Final = object_schema({"thesis": TEXT, "steps": {"type": "array", "items": _STEP}})
NO_STEP: Final = "no usable step in the plan"


@frozen(kw_only=True)
class Step:
    """One edit that is planned."""

    message: int
    """1-based number of the message."""
    goal: str
    reason: str


@frozen(kw_only=True)
class Plan:
    """What is to be edited, in order."""

    thesis: str
    steps: tuple[Step, ...]
    dropped: tuple[Json, ...]
    """The message that each dropped step named, and why it was dropped, for the provenance."""

    def describe(self) -> dict[str, Json]:
        """Return the plan for the provenance."""
        return {
            "thesis": self.thesis,
            "steps": [asdict(step) for step in self.steps],
            "dropped": list(self.dropped),
        }

    def to_text(self, current: int) -> str:
        """Return the plan as text, the current step marked."""
        lines = [f"Thesis: {self.thesis}"]
        for number, step in enumerate(self.steps):
            mark = ">" if number == current else " "
            lines.append(f"{mark} {number + 1}. message {step.message}: {step.goal} ({step.reason})")
        return "\n".join(lines)


def read_plan(text: str, messages: Sequence[TranscriptMessage], most: int) -> Plan | Unusable:
    """Read a plan; steps that cannot be carried out are dropped, and a plan without any other is unusable.

    Args:
        text: the planner's reply.
        messages: the transcript that is planned for.
        most: steps that are kept.
    """
    answer = read_json(text, keys=("steps",))
    if answer is None:
        return NO_JSON
    written = answer["steps"]
    if isinstance(written, str) or not isinstance(written, Sequence):
        return Unusable("no list of steps in the plan")
    steps: list[Step] = []
    dropped: list[Json] = []
    for entry in written[:_MOST_READ]:
        step = _step(entry, messages, steps, most)
        if isinstance(step, Step):
            steps.append(step)
        else:
            dropped.append({"message": _number(entry), "reason": step})
    if not steps:
        return NoPlan(NO_STEP, tuple(dropped))
    return Plan(thesis=read_string(answer.get("thesis")), steps=tuple(steps), dropped=tuple(dropped))


def _step(written: Json, messages: Sequence[TranscriptMessage], steps: Sequence[Step], most: int) -> Step | str:
    number = _number(written)
    if not isinstance(written, Mapping) or number is None:
        return "it names no message"
    if not 1 <= number <= len(messages):
        return "there is no such message"
    message = messages[number - 1]
    goal = read_string(written.get("goal"))
    reasons = (
        (message.role != "assistant", "the message is not the assistant's"),
        (any(step.message == number for step in steps), "an earlier step names this message"),
        (not goal, "it names no goal"),
        (len(as_text(message, number)) > LONGEST_MESSAGE, "the message is too long to edit"),
        (len(steps) >= most, "there are more steps than allowed"),
    )
    # In the order of the reasons: the first one is reported.
    refused = next((reason for applies, reason in reasons if applies), "")
    return refused or Step(message=number, goal=goal, reason=read_string(written.get("reason")))


def _number(written: Json) -> int | None:
    number = written.get("message") if isinstance(written, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and abs(number) < 10**9 else None


def read_string(value: Json, most: int = LONGEST) -> str:
    """Return a text of a reply, shortened where it is long; empty where the value is no text."""
    return shorten(value.strip(), most) if isinstance(value, str) else ""
