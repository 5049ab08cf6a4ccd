"""Messages of a transcript, which tools they call, what is wrong with their calls, and how an edit of one is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import Final, TypeAlias, cast

from attrs import asdict, frozen
from jrh import Item, JrhError, Json, Skip, read_transcript
from jrh.text import TranscriptMessage
from jrh_authoring import json_text

LONGEST: Final = 2_000
"""Characters of one side of a diff."""
MOST_RECORDED: Final = 100
"""Edits that a draft lists; it counts them all."""


@frozen(kw_only=True)
class Edit:
    """One edit of a transcript."""

    was: int
    """1-based number of the message in the transcript before the edits."""
    message: int | None
    """1-based number in the edited transcript; None where the message is gone."""
    what: str
    """The rule's name, or the goal of the plan's step."""
    diff: str


def describe_edits(edits: Sequence[Edit]) -> dict[str, Json]:
    """Return the edits for the provenance, and how many are left out of the list."""
    recorded: list[Json] = [asdict(edit) for edit in edits[:MOST_RECORDED]]
    return {"edits": recorded, "edits_left_out": max(0, len(edits) - MOST_RECORDED)}


def diff(before: TranscriptMessage, after: TranscriptMessage | None) -> str:
    """Return the lines that differ, `-` before and `+` after; equal lines at the beginning and the end are left out.

    Takes time in proportion to the texts.
    """
    old, new = _message_text(before).splitlines(), [] if after is None else _message_text(after).splitlines()
    # Not a general diff, whose time grows with the product of the lengths: messages may be very long.
    start = _equal_lines(old, new)
    end = _equal_lines(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    return "\n".join(part for part in (_side("-", gone), _side("+", come)) if part)


def shorten(text: str, most: int = LONGEST) -> str:
    """Return the text, or its beginning and a word on how much is left out."""
    return text if len(text) <= most else f"{text[:most]}... [{len(text) - most} characters left out]"


def _message_text(message: TranscriptMessage) -> str:
    parts = [f"reasoning: {message.reasoning}"] if message.reasoning else []
    parts.append(message.content)
    parts += [f"call {call.id}: {call.name} {json_text(call.arguments)}" for call in message.tool_calls]
    return "\n".join(parts)


def _side(sign: str, lines: Sequence[str]) -> str:
    return shorten("\n".join(f"{sign} {line}" for line in lines))


def _equal_lines(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the lines at the beginning that are equal."""
    return sum(1 for _ in takewhile(lambda lines: lines[0] == lines[1], zip(old, new, strict=False)))


Messages: TypeAlias = tuple[TranscriptMessage, ...]

FIELD: Final = "transcript"
NO_MESSAGES: Final = "the transcript is not a list of messages"
_LONGEST_PROBLEM: Final = 300


@frozen(kw_only=True)
class Original:
    """A transcript as the item has it."""

    messages: Messages
    written: tuple[Json, ...]
    """The messages as the item's field holds them."""

    @classmethod
    def of(cls, item: Item) -> Original | Skip:
        """Read an item's transcript; a skip where it is text, empty, or no list of messages."""
        value = item.fields.get(FIELD)
        try:
            return cls(messages=read_transcript(value), written=tuple(cast("Sequence[Json]", value)))
        except JrhError as error:
            return Skip(reason=NO_MESSAGES, details={"problem": str(error)[:_LONGEST_PROBLEM]})

    def field(self, edited: Sequence[TranscriptMessage]) -> dict[str, Json]:
        """Return an edited transcript as the field of a draft; what was not edited stays as the item has it."""
        # By identity: a message that was not edited is the same object, and the item's own form keeps fields that jrh
        # does not read.
        known = {id(message): written for message, written in zip(self.messages, self.written, strict=True)}
        return {FIELD: [known.get(id(message)) or message.to_json() for message in edited]}


def tool_names(messages: Sequence[TranscriptMessage]) -> tuple[str, ...]:
    """Return the names of all tools that are called, each once, in order of their first call."""
    return tuple(dict.fromkeys(call.name for message in messages for call in message.tool_calls))


def answers(messages: Sequence[TranscriptMessage]) -> tuple[int, ...]:
    """Return the places of the assistant's answers: messages with text and without a call, in order."""
    return tuple(
        place
        for place, message in enumerate(messages)
        if message.role == "assistant" and message.content.strip() and not message.tool_calls
    )


def final_answer(messages: Sequence[TranscriptMessage]) -> int | None:
    """Return the place of the last answer, if the assistant says and does nothing after it."""
    last = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=None)
    return last if last in answers(messages) else None


def result_tools(messages: Sequence[TranscriptMessage]) -> dict[int, str]:
    """Return the tool of every result, by the result's place; a result of an unknown tool is left out."""
    called = {call.id: call.name for message in messages for call in message.tool_calls if call.id}
    tools = {}
    for place, message in enumerate(messages):
        name = message.name or called.get(message.tool_call_id, "")
        if message.role == "tool" and name:
            tools[place] = name
    return tools


def call_faults(messages: Sequence[TranscriptMessage]) -> Counter[tuple[str, str]]:
    """Count what is wrong with calls, by kind and id: calls without a result, results without a call or misnamed."""
    faults: Counter[tuple[str, str]] = Counter()
    waiting: dict[str, list[str]] = {}
    for message in messages:
        for call in message.tool_calls:
            # A list, because logs may give several calls one id, such as the empty one.
            waiting.setdefault(call.id, []).append(call.name)
        if message.role != "tool":
            continue
        names = waiting.get(message.tool_call_id)
        if not names:
            faults["result without a call", message.tool_call_id] += 1
        elif names.pop(0) != message.name and message.name:
            faults["result under another name", message.tool_call_id] += 1
    return faults + Counter({("call without a result", identity): len(names) for identity, names in waiting.items()})
