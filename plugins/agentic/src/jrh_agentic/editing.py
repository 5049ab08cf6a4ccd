"""Send one message to the editor and check the edited message before it replaces the original."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, cast

from attrs import evolve
from jrh import Json
from jrh.text import ToolCall, TranscriptMessage
from jrh_authoring import Unusable, json_objects, read_json

from jrh_agentic.asking import NO_JSON

LONGEST_MESSAGE: Final = 30_000
"""Characters of a message that an editor is given, and gives back."""
_NO_CHANCE: Final = 40
"""Characters; an entry this long does not appear in a message by chance."""
SCHEMA: Final[Mapping[str, Json]] = {
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
            {"id": call.id, "name": call.name, "arguments": _plain(call.arguments)} for call in message.tool_calls
        ]
    return json.dumps(shown, ensure_ascii=False, indent=1)


def read_edit(text: str, message: TranscriptMessage, number: int, entry: str) -> TranscriptMessage | Unusable:
    """Return the message as edited, or why the reply is no edit of it.

    Args:
        text: the editor's reply.
        message: the message as it stands.
        number: its 1-based number.
        entry: the rubric entry, which no message may quote.
    """
    found = read_json(text, keys=("content",))
    if found is None:
        several = read_json(text, keys=("messages",))
        return NO_JSON if several is None else Unusable("more than one message")
    if _messages_in(text) != 1:
        return Unusable("more than one message")
    if found.get("message") != number:
        return Unusable("a message other than the one to edit")
    edited = _edited(found, message)
    if isinstance(edited, Unusable):
        return edited
    return _checked(edited, message, entry)


def _messages_in(text: str) -> int:
    """Count the messages of a reply; what stands in a block of thoughts at its beginning does not count."""
    return sum("content" in found for found in json_objects(text))


def _edited(found: Mapping[str, Json], message: TranscriptMessage) -> TranscriptMessage | Unusable:
    content, reasoning = found["content"], found.get("reasoning", message.reasoning)
    if not isinstance(content, str) or not isinstance(reasoning, str):
        return Unusable("no text in the edit")
    calls = _calls(found["tool_calls"], message.tool_calls) if "tool_calls" in found else message.tool_calls
    if isinstance(calls, Unusable):
        return calls
    return evolve(message, content=content, reasoning=reasoning if message.reasoning else "", tool_calls=calls)


def _calls(written: Json, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...] | Unusable:
    """Return the calls with their new arguments, or how the edit breaks them."""
    if isinstance(written, str) or not isinstance(written, Sequence):
        return () if written is None and not calls else Unusable("a call is broken: the calls are not a list")
    if len(written) != len(calls):
        return Unusable("a call is broken: a call was added or left out")
    made = []
    for each, call in zip(written, calls, strict=True):
        if not isinstance(each, Mapping) or (each.get("id", ""), each.get("name")) != (call.id, call.name):
            return Unusable("a call is broken: its id or name changed")
        arguments = each.get("arguments")
        if not isinstance(arguments, Mapping) or not _fits(arguments, call.arguments):
            return Unusable("a call is broken: its arguments or their types changed")
        made.append(evolve(call, arguments=dict(arguments)))
    return tuple(made)


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
        return is_list and {_kind(each) for each in cast("Sequence[Json]", new)} <= {_kind(each) for each in old}
    return _kind(new) == _kind(old)


def _kind(value: Json) -> Hashable:
    """Return the type of a value, throughout; a number that is not finite is of a kind of its own."""
    if isinstance(value, Mapping):
        return frozenset((key, _kind(each)) for key, each in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "list", frozenset(_kind(each) for each in value)
    return type(value).__name__ if not isinstance(value, float) or math.isfinite(value) else "infinite"


def _checked(edited: TranscriptMessage, message: TranscriptMessage, entry: str) -> TranscriptMessage | Unusable:
    texts = [edited.content, edited.reasoning, *_texts([call.arguments for call in edited.tool_calls])]
    says_nothing = not edited.content.strip() and bool(message.content.strip()) and not message.tool_calls
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
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value
