"""Apply the edits of a transcript to the messages of a sample and change nothing else."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from jrh import content_id
from jrh.text import TranscriptMessage

from jrh_inspect.messages import message_id, placeholder, text_of

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


Key: TypeAlias = tuple[str, int]
"""A message's id, and how many earlier messages have the same id."""


def rewritten(
    stored: Sequence[ChatMessage],
    resolved: Sequence[ChatMessage],
    original: Sequence[TranscriptMessage],
    edited: Sequence[TranscriptMessage],
) -> list[ChatMessage]:
    """Return the messages of a sample with the edits of a transcript applied.

    A message that was not edited stays as stored, including everything that a transcript does not hold. Messages that
    the transcript leaves out, because the source's options drop their role, stay where they were.

    Args:
        stored: the messages as the log has them.
        resolved: the same messages with attachments resolved, as the transcript's placeholders saw them.
        original: the transcript before the edit.
        edited: the transcript after the edit.
    """
    before = dict(zip(_keys([message.id for message in original]), original, strict=True))
    after = dict(zip(_keys([message.id for message in edited]), edited, strict=True))
    hidden: list[ChatMessage] = []
    followers: defaultdict[Key, list[ChatMessage]] = defaultdict(list)
    sources: dict[Key, tuple[ChatMessage, ChatMessage]] = {}
    last = hidden
    keys = _keys([message_id(message, number) for number, message in enumerate(stored, 1)])
    for key, message, whole in zip(keys, stored, resolved, strict=True):
        if key not in before:
            last.append(message)
            continue
        sources[key] = (message, whole)
        last = followers[key] if key in after else last
    result = hidden
    for key, wanted in after.items():
        if key in sources:
            result.append(_changed(*sources[key], before[key], wanted))
        else:
            result.append(_made(wanted, len(result) + 1))
        result += followers[key]
    return result


def _keys(ids: Sequence[str]) -> list[Key]:
    """Number messages with the same id in their order."""
    seen: Counter[str] = Counter()
    keys = []
    for each in ids:
        keys.append((each, seen[each]))
        seen[each] += 1
    return keys


def _changed(
    stored: ChatMessage, resolved: ChatMessage, before: TranscriptMessage, after: TranscriptMessage
) -> ChatMessage:
    if before == after:
        return stored
    update: dict[str, Any] = {}
    if (before.content, before.reasoning) != (after.content, after.reasoning):
        reasoning = after.reasoning if before.reasoning != after.reasoning else None
        text = after.content if before.content != after.content else None
        update["content"] = _content(stored.content, resolved.content, text, reasoning)
    if before.tool_calls != after.tool_calls:
        update["tool_calls"] = _calls(getattr(stored, "tool_calls", None) or [], after)
    if before.error != after.error:
        update["error"] = _error(after.error)
    if before.name != after.name:
        update["function"] = after.name
    if before.tool_call_id != after.tool_call_id:
        update["tool_call_id"] = after.tool_call_id
    return stored.model_copy(update=update)


def _content(stored: str | list[Any], resolved: str | list[Any], text: str | None, reasoning: str | None) -> Any:
    """Return a message's content with new text or new reasoning; None keeps the old one."""
    from inspect_ai.model import ContentReasoning

    if isinstance(stored, str) and reasoning is None:
        return text
    parts = stored if isinstance(stored, list) else []
    whole = resolved if isinstance(resolved, list) else []
    thoughts = [part for part in parts if part.type == "reasoning"]
    if reasoning is not None:
        thoughts = [ContentReasoning(reasoning=reasoning)] if reasoning else []
    if text is None and isinstance(stored, list):
        return [*thoughts, *(part for part in parts if part.type != "reasoning")]
    return [*thoughts, *_parts(parts, whole, text_of(stored) if text is None else text)]


def _parts(stored: Sequence[Any], resolved: Sequence[Any], text: str) -> list[Any]:
    """Split a text at its placeholders; a part whose placeholder was deleted is dropped."""
    from inspect_ai.model import ContentText

    parts: list[Any] = []
    for part, whole in zip(stored, resolved, strict=True):
        if part.type in ("text", "reasoning"):
            continue
        before, found, after = text.partition(placeholder(whole))
        if found:
            parts += [ContentText(text=before.removesuffix("\n"))] if before else []
            parts.append(part)
            text = after.removeprefix("\n")
    return [*parts, ContentText(text=text)] if text or not parts else parts


def _calls(stored: Sequence[Any], after: TranscriptMessage) -> list[Any] | None:
    from inspect_ai.tool import ToolCall

    by_id = {call.id: call for call in stored}
    calls = [
        dataclasses.replace(by_id[call.id], function=call.name, arguments=dict(call.arguments))
        if call.id in by_id
        else ToolCall(id=call.id, function=call.name, arguments=dict(call.arguments))
        for call in after.tool_calls
    ]
    return calls or None


def _error(text: str) -> Any:
    from typing import get_args

    from inspect_ai.tool import ToolCallError

    if not text:
        return None
    kind, found, message = text.partition(": ")
    known = get_args(ToolCallError.__annotations__["type"])
    return ToolCallError(kind, message) if found and kind in known else ToolCallError("unknown", text)  # type: ignore[arg-type]


def _made(message: TranscriptMessage, number: int) -> ChatMessage:
    """Return a message that the source does not have; its id is derived from its place and text."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser

    content: Any = message.content
    if message.reasoning:
        content = _content(message.content, message.content, None, message.reasoning)
    given: dict[str, Any] = {"content": content, "id": message.id or content_id(number, message.to_json())}
    if message.role == "assistant":
        return ChatMessageAssistant(**given, tool_calls=_calls([], message))
    if message.role == "tool":
        return ChatMessageTool(
            **given,
            tool_call_id=message.tool_call_id or None,
            function=message.name or None,
            error=_error(message.error),
        )
    return ChatMessageSystem(**given) if message.role == "system" else ChatMessageUser(**given)
