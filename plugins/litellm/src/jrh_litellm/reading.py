"""Read a completion from litellm's response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jrh import Usage
from jrh.errors import FaultKind, ModelFault
from jrh.models import COMPLETE, FAILED
from jrh.plugins import Completion
from jrh.text import utf8_text
from jrh_chat import (
    cost_or_none,
    count_or_none,
    discarded,
    served_version,
    stated_limits,
    string_or_empty,
    token_probabilities,
    tool_arguments,
)

_PROVIDERS: Final = "llm_provider-"
_BILLED: Final = ("prompt_tokens", "completion_tokens", "cost")
"""What litellm puts before the names of the provider's headers."""


def read_completion(response: Any) -> Completion:
    """Read a `litellm.ModelResponse`.

    litellm fills in what a provider leaves out: zeros for a missing usage, `stop` for a missing finish reason. Zeros
    are read as unknown; a filled-in finish reason cannot be detected.

    Raises:
        ModelFault: there is no choice or no text where text belongs, or the provider reports an error as its end.
    """
    choices = getattr(response, "choices", None)
    if not choices:
        raise ModelFault(FaultKind.MALFORMED, "the answer has no choices")
    choice = choices[0]
    native = _extra(choice).get("native_finish_reason")
    reason = _finish_reason(str(choice.finish_reason or ""), string_or_empty(native))
    if reason.casefold() in FAILED:
        raise ModelFault(FaultKind.SERVER_ERROR, f"the provider ended the answer with '{reason}'")
    message = choice.message
    content = message.content
    if content is not None and not isinstance(content, str):
        raise ModelFault(FaultKind.MALFORMED, "the message's content is not text")
    usage = getattr(response, "usage", None)
    return Completion(
        text=tool_arguments(getattr(message, "tool_calls", None)) or (None if content is None else utf8_text(content)),
        finish_reason=reason,
        usage=_usage(usage),
        cost=cost_or_none(getattr(usage, "cost", None)),
        discarded=discarded({name: getattr(usage, name, None) for name in _BILLED}),
        refusal=string_or_empty(_extra(message).get("refusal"))
        or string_or_empty(getattr(message, "refusal", None))
        or None,
        model_version=served_version(getattr(response, "model", None), getattr(response, "system_fingerprint", None)),
        token_probabilities=_probabilities(getattr(choice, "logprobs", None)),
        reasoning=string_or_empty(getattr(message, "reasoning_content", None)),
        stated_limits=_stated_limits(response),
    )


def _stated_limits(response: Any) -> Mapping[str, str]:
    # litellm keeps the provider's headers here, with a prefix, and some of them a second time without it.
    hidden = getattr(response, "_hidden_params", None)
    headers = hidden.get("additional_headers") if isinstance(hidden, Mapping) else None
    found = headers if isinstance(headers, Mapping) else {}
    return stated_limits({str(name).removeprefix(_PROVIDERS): str(value) for name, value in found.items()})


def _finish_reason(mapped: str, native: str) -> str:
    """Return litellm's word, or the provider's own where litellm calls it `stop` and it may mean something else."""
    return native if mapped == "stop" and native and native.casefold() not in COMPLETE else mapped


def _extra(holder: Any) -> Mapping[str, Any]:
    fields = getattr(holder, "provider_specific_fields", None)
    return fields if isinstance(fields, Mapping) else {}


def _usage(usage: Any) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    total = _count(usage, "total_tokens")
    if not prompt:
        # Every prompt has tokens, so zero means that the provider did not count.
        return Usage(completion_tokens=completion or None)
    if not completion and total != prompt:
        return Usage(prompt_tokens=prompt)
    reasoning = _count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens")
    return Usage(prompt_tokens=prompt, completion_tokens=completion, reasoning_tokens=reasoning)


def _count(holder: Any, name: str) -> int | None:
    return count_or_none(getattr(holder, name, None))


def _probabilities(logprobs: Any) -> tuple[Mapping[str, float], ...]:
    return tuple(_position(position) for position in _get(logprobs, "content") or ())


def _position(position: Any) -> Mapping[str, float]:
    entries = _get(position, "top_logprobs") or [position]
    return token_probabilities((_get(entry, "token"), _get(entry, "logprob")) for entry in entries)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
