"""Read a chat completion, as OpenAI-compatible servers write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson
from jrh.errors import FaultKind, ModelFault
from jrh.models.replies import FAILED
from jrh.plugins.protocols import Completion
from jrh.text.plain import utf8_text
from jrh.values.verdicts import Usage

from jrh_chat.chat_errors import classify, describe
from jrh_chat.completions import (
    cost_or_none,
    count_or_none,
    discarded,
    served_version,
    string_or_empty,
    token_probabilities,
)
from jrh_chat.http import tool_arguments

_EXCERPT: Final = 64 * 1024


def read_completion(body: bytes) -> Completion:
    """Read a chat completion from its bytes.

    Missing values stay unknown: usage is None, never 0; a missing finish reason is empty.

    Raises:
        ModelFault: the body is not a chat completion, or it reports an error in spite of its HTTP status.
    """
    document = _document(body)
    if not isinstance(document, dict):
        raise malformed(f"the answer is not a JSON object: {_excerpt(body)}")
    return read_document(document)


def _document(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except ValueError:  # stricter than the standard library: no lone surrogates, no UTF-16, no NaN
        pass
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise malformed(f"the answer is not JSON: {_excerpt(body)}") from None


def read_document(document: Mapping[str, Any]) -> Completion:
    """Read a chat completion from its JSON object; see `read_completion`.

    Raises:
        ModelFault: it is not a chat completion, or it reports an error.
    """
    choice = _first_choice(document)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise malformed("the first choice has no message")
    reason = string_or_empty(choice.get("finish_reason"))
    if reason.casefold() in FAILED:
        raise ModelFault(FaultKind.SERVER_ERROR, f"the provider ended the answer with '{reason}'")
    usage = document.get("usage")
    return Completion(
        text=_arguments(message.get("tool_calls")) or _text(message.get("content")),
        finish_reason=reason,
        usage=_usage(usage),
        cost=cost_or_none(usage.get("cost")) if isinstance(usage, dict) else None,
        discarded=discarded(usage) if isinstance(usage, dict) else {},
        refusal=string_or_empty(message.get("refusal")) or None,
        model_version=served_version(document.get("model"), document.get("system_fingerprint")),
        token_probabilities=_probabilities(choice.get("logprobs")),
        reasoning=string_or_empty(message.get("reasoning_content")) or string_or_empty(message.get("reasoning")),
    )


def _arguments(calls: object) -> str | None:
    return None if calls is None else tool_arguments(calls)


def malformed(detail: str) -> ModelFault:
    """Return the fault for an answer that violates the protocol."""
    return ModelFault(FaultKind.MALFORMED, detail)


def _first_choice(document: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        if document.get("error"):
            raise _reported(document)
        raise malformed("the answer has no choices")
    choice = choices[0]
    if not isinstance(choice, dict):
        raise malformed("the first choice is not an object")
    if choice.get("error"):
        raise _reported(choice)
    return choice


def _reported(holder: Mapping[str, Any]) -> ModelFault:
    """Return the fault for an error sent with status 200, as routers in front of several providers do."""
    code, text, named = describe(holder)
    error = holder["error"]
    status = error.get("code") if isinstance(error, Mapping) else None
    known = isinstance(status, int) and 400 <= status <= 599  # noqa: PLR2004 - the range of HTTP error statuses
    return classify(status if known else None, code, text, named=named)


def _text(content: object) -> str | None:
    if content is None:
        return None
    if isinstance(content, str):
        return utf8_text(content)
    if isinstance(content, list):
        return utf8_text("".join(_part(part) for part in content))
    raise malformed("the message's content is neither text nor a list of parts")


def _part(part: object) -> str:
    text = part.get("text", "") if isinstance(part, dict) else part
    if not isinstance(text, str):
        raise malformed("a part of the message's content has no text")
    return text


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("completion_tokens_details")
    return Usage(
        prompt_tokens=count_or_none(usage.get("prompt_tokens")),
        completion_tokens=count_or_none(usage.get("completion_tokens")),
        reasoning_tokens=count_or_none(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
    )


def _probabilities(logprobs: object) -> tuple[Mapping[str, float], ...]:
    positions = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(positions, list):
        return ()
    return tuple(_position(position) for position in positions if isinstance(position, dict))


def _position(position: Mapping[str, Any]) -> Mapping[str, float]:
    entries = position.get("top_logprobs") or [position]
    return token_probabilities(
        (entry.get("token"), entry.get("logprob")) for entry in entries if isinstance(entry, dict)
    )


def _excerpt(body: bytes) -> str:
    # Keep it long: redaction must see secrets whole. The text is shortened later, when it is shown.
    start = body[:_EXCERPT].decode("utf-8", "replace").strip()
    return f"'{start}'" if start else "empty"
