"""From litellm's response to a completion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from jrh import Completion, FaultKind, ModelFault, Usage

# litellm turns these into "stop" and keeps the provider's word beside it.
_FAILED: Final = frozenset({"error", "network_error"})


def read_completion(response: Any) -> Completion:
    """Read a `litellm.ModelResponse`.

    litellm fills what a provider leaves out: a missing usage becomes zeros, a missing finish reason `stop`. Zeros are
    read as unknown; the finish reason cannot be told apart.

    Raises:
        ModelFault: there is no choice or no text where text belongs, or the provider reports an error as its end.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise ModelFault(FaultKind.MALFORMED, "the answer has no choices")
    choice = choices[0]
    native = _extra(choice).get("native_finish_reason")
    if native in _FAILED:
        raise ModelFault(FaultKind.SERVER_ERROR, f"the provider ended the answer with '{native}'")
    message = choice.message
    content = message.content
    if content is not None and not isinstance(content, str):
        raise ModelFault(FaultKind.MALFORMED, "the message's content is not text")
    usage = getattr(response, "usage", None)
    return Completion(
        text=None if content is None else clean(content),
        finish_reason=str(choice.finish_reason or ""),
        usage=_usage(usage),
        cost=_cost(getattr(usage, "cost", None)),
        refusal=_string(_extra(message).get("refusal")) or _string(getattr(message, "refusal", None)) or None,
        model_version=_version(response),
        token_probabilities=_probabilities(getattr(choice, "logprobs", None)),
    )


def clean(text: str) -> str:
    """Return text that can be written as UTF-8: half a surrogate pair, which JSON allows, becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _extra(holder: Any) -> Mapping[str, Any]:
    fields = getattr(holder, "provider_specific_fields", None)
    return fields if isinstance(fields, Mapping) else {}


def _usage(usage: Any) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    total = _count(usage, "total_tokens")
    if not prompt:
        # No prompt has no tokens: the provider did not count.
        return Usage(completion_tokens=completion or None)
    if not completion and total != prompt:
        return Usage(prompt_tokens=prompt)
    reasoning = _count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens")
    return Usage(prompt_tokens=prompt, completion_tokens=completion, reasoning_tokens=reasoning)


def _count(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cost(value: object) -> float | None:
    """Return what the call cost in US dollars, where the provider says so itself (OpenRouter)."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    return None


def _version(response: Any) -> str:
    parts = (_string(getattr(response, name, None)) for name in ("model", "system_fingerprint"))
    return " ".join(part for part in parts if part)


def _string(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _probabilities(logprobs: Any) -> tuple[Mapping[str, float], ...]:
    return tuple(_position(position) for position in _get(logprobs, "content") or ())


def _position(position: Any) -> Mapping[str, float]:
    """Return the probabilities at one position; tokens that print alike are added up."""
    probabilities: dict[str, float] = {}
    for entry in _get(position, "top_logprobs") or [position]:
        token, logprob = _get(entry, "token"), _get(entry, "logprob")
        if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            name = clean(token)
            probabilities[name] = min(1.0, probabilities.get(name, 0.0) + math.exp(min(logprob, 0.0)))
    return probabilities


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
