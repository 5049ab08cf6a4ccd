"""Read and write an agent's transcript as messages: the strict format of the field `transcript`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import attrs
from attrs import Factory, frozen

from jrh.document.convert import structure
from jrh.errors import JrhError, SuiteError
from jrh.values.json_values import Json

_MOST_SHOWN: Final = 5


@frozen(kw_only=True)
class ToolCall:
    """A tool call requested by the assistant."""

    id: str = ""
    """Id of the call, to which the answering tool message refers; empty if the source has none."""
    name: str
    """Name of the function."""
    arguments: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class TranscriptMessage:
    """One message of a transcript."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    reasoning: str = ""
    """The model's reasoning before its answer; empty if the source has none or drops it."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Only of the assistant."""
    tool_call_id: str = ""
    """Tool messages only: id of the call they answer."""
    name: str = ""
    """Tool messages only: name of the called function."""
    error: str = ""
    """Tool messages only: why the call failed; empty if it succeeded."""
    id: str = ""
    """The message's id in its source; passed through, not shown to judges."""
    source: str = ""
    """The message's author according to its source; passed through, not shown to judges."""
    metadata: Mapping[str, Json] = Factory(dict)
    """Other data from its source; passed through, not shown to judges."""

    def to_json(self) -> dict[str, Json]:
        """Return the message in the format of an item's field: role, content, and all non-empty keys."""
        written: dict[str, Json] = {"role": self.role, "content": self.content}
        # Empty values are left out, as sources write them: equal transcripts have equal text.
        written |= {name: value for name in _OPTIONAL if (value := getattr(self, name))}
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

    A key with the value null counts as absent. Any other unknown key is an error; put additional data into `metadata`.

    Args:
        value: a list of mappings.
        origin: the transcript's origin, for error messages: `item '17'`.

    Raises:
        JrhError: it is not a list of messages. The message lists the mistakes (at most five) with their positions,
            counted from 0: `item '17': transcript[3].tool_calls[0].name: ...`.
    """
    messages, problems = _check_messages(value)
    if problems:
        shown = problems[:_MOST_SHOWN]
        more = [f"and {len(problems) - len(shown)} more"] if len(problems) > len(shown) else []
        start = f"{origin}: " if origin else ""
        raise JrhError("\n".join(start + problem for problem in [*shown, *more]))
    return messages


def transcript_problems(value: Json) -> tuple[str, ...]:
    """Return the mistakes of a value as a transcript of messages; empty if it is valid."""
    return _check_messages(value)[1]


def _check_messages(value: Json) -> tuple[tuple[TranscriptMessage, ...], tuple[str, ...]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (), ("transcript: expected a list of messages",)
    if not value:
        return (), ("transcript: must have at least one message",)
    try:
        # In a class, so that places begin with the name of the field.
        messages = structure({"transcript": list(map(_without_nothing, value))}, _Transcript).transcript
    except SuiteError as error:
        return (), tuple(str(problem) for problem in error.problems)
    places = ((message, f"transcript[{at}]") for at, message in enumerate(messages))
    return messages, tuple(problem for message, at in places for problem in _check_keys(message, at))


def without_passed_through(value: Json) -> Json:
    """Remove the passed-through keys, which no judge sees, from the messages; other values stay unchanged."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [
        {key: part for key, part in message.items() if key not in _PASSED_THROUGH}
        # A transcript of another form is passed on as it is.
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


def _check_keys(message: TranscriptMessage, at: str) -> list[str]:
    mistakes = []
    if message.tool_calls and message.role != "assistant":
        mistakes.append(f"{at}.tool_calls: only the assistant calls tools, not the {message.role}")
    if message.role != "tool":
        names = [name for name in ("tool_call_id", "error") if getattr(message, name)]
        mistakes += [
            f"{at}.{name}: only tool messages may have this, not a message with the role {message.role}"
            for name in names
        ]
    return mistakes
