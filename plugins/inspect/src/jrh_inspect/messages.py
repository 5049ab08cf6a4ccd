"""Convert Inspect messages to transcript messages; content other than text becomes a typed placeholder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from jrh import Json
from jrh.text import ToolCall, TranscriptMessage

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

_MEDIA: Final = ("image", "audio", "video", "document")
_LONGEST_PLACE: Final = 200


def to_messages(messages: Sequence[ChatMessage]) -> list[TranscriptMessage]:
    """Return the messages of a sample, each with its own id or, if it has none, `message-N` counted from 1."""
    return [_to_message(message, number) for number, message in enumerate(messages, 1)]


def _to_message(message: ChatMessage, number: int) -> TranscriptMessage:
    """Return one message; images, audio, video and documents are reduced to their type and place."""
    error = getattr(message, "error", None)
    calls = getattr(message, "tool_calls", None) or ()
    answered = getattr(message, "tool_call_id", None)
    return TranscriptMessage(
        role=message.role,
        content=text_of(message.content),
        reasoning=reasoning_of(message.content),
        tool_calls=tuple(
            ToolCall(id=call.id, name=call.function, arguments=_mapping(call.arguments)) for call in calls
        ),
        tool_call_id=answered if message.role == "tool" and isinstance(answered, str) else "",
        name=getattr(message, "function", None) or "",
        error=f"{error.type}: {error.message}" if error is not None else "",
        id=message_id(message, number),
        source=message.source or "",
        metadata=_mapping(message.metadata or {}),
    )


def message_id(message: ChatMessage, number: int) -> str:
    """Return a message's id in the transcript; old logs have no ids, so one is made from the number."""
    # The number comes from the whole list, so that a role that is left out shifts no id.
    return message.id or f"message-{number}"


def text_of(content: str | list[Any]) -> str:
    """Return the text of a message's content, with placeholders for other content and without reasoning."""
    if isinstance(content, str):
        return content
    parts = [part.text if part.type == "text" else placeholder(part) for part in content if part.type != "reasoning"]
    return "\n".join(parts)


def reasoning_of(content: str | list[Any]) -> str:
    """Return the reasoning in a message's content; for redacted reasoning, its summary."""
    if isinstance(content, str):
        return ""
    parts = [part for part in content if part.type == "reasoning"]
    return "\n".join((part.summary or "[redacted]") if part.redacted else part.reasoning for part in parts)


def placeholder(part: Any) -> str:
    """Return the placeholder for a part that is not text."""
    if part.type in _MEDIA:
        return f"[{part.type}: {_place(getattr(part, part.type), getattr(part, 'mime_type', ''))}]"
    if part.type == "tool_use":
        failure = f"\nfailed: {part.error}" if part.error else ""
        return f"[{part.tool_type}: {part.name} {part.arguments}]\n{part.result}{failure}"
    return f"[{part.type}]"


def plain(value: Any) -> Json:
    """Return a value as JSON; non-finite numbers and unknown types become text."""
    # JSON has no such numbers; the store would refuse the item.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value)


def _mapping(value: Mapping[Any, Any]) -> dict[str, Json]:
    return {str(key): plain(part) for key, part in value.items()}


def _place(place: str, mime_type: str) -> str:
    # Data are written into the place itself: megabytes that no judge can read.
    if place.startswith("data:"):
        kind, _, data = place[len("data:") :].partition(",")
        return f"{mime_type or kind.partition(';')[0] or 'data'}, {len(data):,} characters of data not shown"
    if place.startswith("attachment:") or len(place) > _LONGEST_PLACE:
        return f"{mime_type or 'data'}, not shown"
    return place
