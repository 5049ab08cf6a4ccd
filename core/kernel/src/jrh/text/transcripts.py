"""An agent's transcript as messages: the shape of the field `transcript`, read strictly and written back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
from attrs import Factory, frozen

from jrh.document.convert import structure
from jrh.errors import JrhError, SuiteError
from jrh.values.types import Json

TranscriptRole: TypeAlias = Literal["system", "user", "assistant", "tool"]

_MOST_SHOWN: Final = 5


@frozen(kw_only=True)
class ToolCall:
    """A call of a tool, as the assistant asked for it."""

    id: str = ""
    """What the tool message that answers it names; empty where the source has none."""
    name: str
    """The function."""
    arguments: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class TranscriptMessage:
    """One message of a transcript."""

    role: TranscriptRole
    content: str = ""
    reasoning: str = ""
    """What the model thought before it wrote; empty where the source has none, or it is dropped."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Only of the assistant."""
    tool_call_id: str = ""
    """Of a tool message the call it answers."""
    name: str = ""
    """Of a tool message the function that was called."""
    error: str = ""
    """Of a tool message why the call failed; empty where it did not."""
    id: str = ""
    """The message's id in its source; passed through, and not shown to judges."""
    source: str = ""
    """Who made the message, as its source says; passed through, and not shown to judges."""
    metadata: Mapping[str, Json] = Factory(dict)
    """Anything else its source says; passed through, and not shown to judges."""

    def to_json(self) -> dict[str, Json]:
        """Return the message as an item's field holds it: role and content, and what else is not empty."""
        written: dict[str, Json] = {"role": self.role, "content": self.content}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value:
                written[name] = value
        if self.tool_calls:
            written["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in self.tool_calls
            ]
        return written


_OPTIONAL: Final = tuple(
    attribute.name
    for attribute in attrs.fields(TranscriptMessage)
    if attribute.name not in ("role", "content", "tool_calls")
)

_PASSED_THROUGH: Final = frozenset({"id", "source", "metadata"})


def read_transcript(value: Json, origin: str = "") -> tuple[TranscriptMessage, ...]:
    """Return the messages of an item's field `transcript`.

    A key without a value (null) is taken as absent. Every other key that is not known is an error; what a source says
    beside it goes into `metadata`.

    Args:
        value: a list of mappings.
        origin: where the transcript stands, for messages: `item '17'`.

    Raises:
        JrhError: it is no list of messages, with every mistake (the first five of many) and the message's place:
            `item '17': transcript[3].tool_calls[0].name: ...`, counted from 0 as lists are.
    """
    messages, problems = _checked(value)
    if problems:
        shown = problems[:_MOST_SHOWN]
        more = [f"and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        start = f"{origin}: " if origin else ""
        raise JrhError("\n".join(start + problem for problem in [*shown, *more]))
    return messages


def transcript_problems(value: Json) -> tuple[str, ...]:
    """Return what keeps a value from being a transcript of messages; nothing where it is one."""
    return _checked(value)[1]


def _checked(value: Json) -> tuple[tuple[TranscriptMessage, ...], tuple[str, ...]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (), ("transcript: expected a list of messages",)
    if not value:
        return (), ("transcript: there is no message",)
    try:
        messages = structure({"transcript": list(map(_without_nothing, value))}, _Transcript).transcript
    except SuiteError as error:
        return (), tuple(str(problem) for problem in error.problems)
    places = ((message, f"transcript[{at}]") for at, message in enumerate(messages))
    return messages, tuple(problem for message, at in places for problem in _misplaced(message, at))


def without_passed_through(value: Json) -> Json:
    """Return a transcript without what its messages only pass through, which no judge is shown; others as they are."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [
        {key: part for key, part in message.items() if key not in _PASSED_THROUGH}
        if isinstance(message, Mapping) and "role" in message
        else message
        for message in value
    ]


@frozen(kw_only=True)
class _Transcript:
    transcript: tuple[TranscriptMessage, ...]


def _without_nothing(message: Any) -> Any:
    if not isinstance(message, Mapping):
        return message
    return {key: value for key, value in message.items() if value is not None}


def _misplaced(message: TranscriptMessage, at: str) -> list[str]:
    found = []
    if message.tool_calls and message.role != "assistant":
        found.append(f"{at}.tool_calls: only the assistant calls tools, not the {message.role}")
    if message.role != "tool":
        given = [name for name in ("tool_call_id", "error") if getattr(message, name)]
        found += [f"{at}.{name}: only a tool's message has this, not one of the {message.role}" for name in given]
    return found
