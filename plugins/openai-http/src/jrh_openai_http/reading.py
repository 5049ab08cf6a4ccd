"""From the bytes of an answer to a completion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from jrh import Completion, FaultKind, ModelFault, Usage

from jrh_openai_http.faults import classify, describe

_EXCERPT: Final = 64 * 1024


def read_completion(body: bytes) -> Completion:
    """Read a chat completion.

    What the provider does not say stays unknown: usage is None, never 0; a missing finish reason is empty.

    Raises:
        ModelFault: the body is not a chat completion, or it reports an error in spite of its HTTP status.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise malformed(f"the answer is not JSON: {_excerpt(body)}") from None
    if not isinstance(document, dict):
        raise malformed(f"the answer is not a JSON object: {_excerpt(body)}")
    choice = _first_choice(document)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise malformed("the first choice has no message")
    usage = document.get("usage")
    return Completion(
        text=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        usage=_usage(usage),
        cost=_cost(usage.get("cost")) if isinstance(usage, dict) else None,
        refusal=_string(message.get("refusal")) or None,
        model_version=_version(document),
        token_probabilities=_probabilities(choice.get("logprobs")),
    )


def malformed(detail: str) -> ModelFault:
    """Return the fault of an answer that is not the protocol's."""
    return ModelFault(FaultKind.MALFORMED, detail)


def clean(text: str) -> str:
    """Return text that can be written as UTF-8: half a surrogate pair, which JSON allows, becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


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
    """Return the fault of an error that came with status 200, as routers in front of several providers send it."""
    code, text = describe(holder)
    error = holder["error"]
    status = error.get("code") if isinstance(error, Mapping) else None
    known = isinstance(status, int) and 400 <= status <= 599  # noqa: PLR2004 - the range of HTTP error statuses
    return classify(status if known else None, code, text)


def _text(content: object) -> str | None:
    if content is None:
        return None
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, list):
        return clean("".join(_part(part) for part in content))
    raise malformed("the message's content is neither text nor a list of parts")


def _part(part: object) -> str:
    text = part.get("text", "") if isinstance(part, dict) else part
    if not isinstance(text, str):
        raise malformed("a part of the message's content has no text")
    return text


def _string(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("completion_tokens_details")
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cost(value: object) -> float | None:
    """Return what the call cost in US dollars, where a router says so (OpenRouter's `usage.cost`)."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _version(document: Mapping[str, Any]) -> str:
    parts = (_string(document.get("model")), _string(document.get("system_fingerprint")))
    return " ".join(part for part in parts if part)


def _probabilities(logprobs: object) -> tuple[Mapping[str, float], ...]:
    positions = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(positions, list):
        return ()
    return tuple(_position(position) for position in positions if isinstance(position, dict))


def _position(position: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the probabilities at one position; tokens that print alike are added up."""
    probabilities: dict[str, float] = {}
    for entry in position.get("top_logprobs") or [position]:
        token, logprob = (entry.get("token"), entry.get("logprob")) if isinstance(entry, dict) else (None, None)
        if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            name = clean(token)
            probabilities[name] = min(1.0, probabilities.get(name, 0.0) + math.exp(min(logprob, 0.0)))
    return probabilities


def _excerpt(body: bytes) -> str:
    # Long, because a secret must not be cut in two before it is looked for; who shows the text shortens it.
    start = body[:_EXCERPT].decode("utf-8", "replace").strip()
    return f"'{start}'" if start else "empty"
