"""Read what litellm returns or raises: a completion, a refusal or one of the kernel's faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jrh import Usage
from jrh.errors import FaultKind, ModelFault
from jrh.models import COMPLETE, FAILED
from jrh.plugins import Completion
from jrh.text import utf8_text
from jrh_chat import (
    FILTERED,
    OUT_OF_FUNDS,
    cost_or_none,
    counted_usage,
    find_refused_settings,
    http_fault,
    is_filtered,
    model_version,
    rate_limit_headers,
    retry_after,
    string_or_empty,
    token_probabilities,
    tool_arguments,
)

_CODE: Final = re.compile(r"""["'](?:code|type)["']:\s*["'](\w+)["']""")
_CODES: Final = OUT_OF_FUNDS | FILTERED | {"context_length_exceeded"}
"""The codes that mean something of their own."""
_LITELLM_PREFIX: Final = re.compile(r"^(litellm\.\w+: )+")
_TRACEBACK: Final = "Traceback (most recent call last)"


def translate(error: Exception) -> ModelFault | Completion:
    """Turn what litellm raised into a fault, or into a refusal where the provider's content filter declined.

    The texts are the provider's own and may hold anything, keys included.
    """
    from litellm.exceptions import ContentPolicyViolationError

    chain = tuple(_chain(error))
    text = _text(error)
    code = _code(chain, text)
    status = _http_status(chain)
    if isinstance(error, ContentPolicyViolationError) or is_filtered(status, code):
        return Completion(text=None, finish_reason="content_filter", refusal=text)
    if status is not None:
        headers = getattr(error, "litellm_response_headers", None) or {}
        return http_fault(status, code, text, wait=retry_after(headers), named=_named_parameter(chain))
    if code in OUT_OF_FUNDS:
        return ModelFault(FaultKind.NO_CREDIT, text)
    kind = _kind_without_answer(error, chain)
    # litellm itself refuses what it knows that the model does not have; nothing was sent.
    settings = find_refused_settings(text) if kind is FaultKind.REJECTED else ()
    return ModelFault(kind, text, settings=settings, sent=not _never_connected(chain))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception and its causes; stop at a cycle."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _named_parameter(chain: tuple[BaseException, ...]) -> str:
    """Return the parameter that the provider's error names in a field of its own."""
    for error in chain:
        body: Any = getattr(error, "body", None)
        named = body.get("param") if isinstance(body, Mapping) else None
        if isinstance(named, str):
            return named
    return ""


def _never_connected(chain: tuple[BaseException, ...]) -> bool:
    import aiohttp
    import httpx

    return any(isinstance(error, httpx.ConnectError | aiohttp.ClientConnectorError) for error in chain)


def _http_status(chain: tuple[BaseException, ...]) -> int | None:
    """Return the HTTP status at the root of the chain, or None if there was no response."""
    import httpx
    import openai

    for error in chain:
        # litellm's own kinds of these carry statuses that it made up.
        from_litellm = type(error).__module__.startswith("litellm")
        if isinstance(error, httpx.HTTPStatusError | openai.APIStatusError) and not from_litellm:
            return error.response.status_code
    return None


def _kind_without_answer(error: Exception, chain: tuple[BaseException, ...]) -> FaultKind:
    import aiohttp
    import httpx
    import openai
    from litellm.exceptions import Timeout

    def among(*kinds: type[BaseException]) -> bool:
        return any(isinstance(link, kinds) for link in chain)

    if among(openai.APITimeoutError, httpx.TimeoutException, Timeout, TimeoutError):
        return FaultKind.TIMEOUT
    if among(aiohttp.ClientResponseError):
        return FaultKind.MALFORMED
    if among(httpx.RequestError, aiohttp.ClientError, ConnectionError):
        return FaultKind.CONNECTION
    return _kind_of_litellm(error, chain)


def _kind_of_litellm(error: Exception, chain: tuple[BaseException, ...]) -> FaultKind:
    """Classify litellm's own findings: no request was sent, or the answer was unreadable."""
    import openai

    if isinstance(error, ImportError):
        return FaultKind.REJECTED
    if any(type(link) is openai.OpenAIError for link in chain):
        # The client could not even be made: no key.
        return FaultKind.UNAUTHORIZED
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or status == 500 or status < 400:  # noqa: PLR2004 - litellm's word for "no idea"
        return FaultKind.MALFORMED
    return ModelFault.from_http_status(status, "").kind


def _code(chain: tuple[BaseException, ...], text: str) -> str:
    for error in chain:
        body: Any = getattr(error, "body", None)
        for value in (body.get("code"), body.get("type")) if isinstance(body, Mapping) else ():
            if isinstance(value, str) and value in _CODES:
                return value
    codes = (match.group(1) for match in _CODE.finditer(text))
    return next((value for value in codes if value in _CODES), "")


def _text(error: Exception) -> str:
    """Return the exception's name and its text, without litellm's own repetitions and tracebacks."""
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error)
    text = _LITELLM_PREFIX.sub("", text.partition(_TRACEBACK)[0]).strip()
    name = type(error).__name__
    return text if text.startswith(name) else f"{name}: {text}"


_PROVIDERS: Final = "llm_provider-"
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
        raise ModelFault(FaultKind.MALFORMED, f"the provider ended the answer with '{reason}'")
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
        refusal=string_or_empty(_extra(message).get("refusal"))
        or string_or_empty(getattr(message, "refusal", None))
        or None,
        model_version=model_version(getattr(response, "model", None), getattr(response, "system_fingerprint", None)),
        token_probabilities=_probabilities(getattr(choice, "logprobs", None)),
        reasoning=string_or_empty(getattr(message, "reasoning_content", None)),
        stated_limits=_rate_limits(response),
    )


def _rate_limits(response: Any) -> Mapping[str, str]:
    # litellm keeps the provider's headers here, with a prefix, and some of them a second time without it.
    hidden = getattr(response, "_hidden_params", None)
    headers = hidden.get("additional_headers") if isinstance(hidden, Mapping) else None
    pairs = headers if isinstance(headers, Mapping) else {}
    return rate_limit_headers({str(name).removeprefix(_PROVIDERS): str(value) for name, value in pairs.items()})


def _finish_reason(mapped: str, native: str) -> str:
    """Return litellm's word, or the provider's own where litellm calls it `stop` and it may mean something else."""
    return native if mapped == "stop" and native and native.casefold() not in COMPLETE else mapped


def _extra(holder: Any) -> Mapping[str, Any]:
    fields = getattr(holder, "provider_specific_fields", None)
    return fields if isinstance(fields, Mapping) else {}


def _usage(usage: Any) -> Usage:
    # litellm writes every provider's counts here: DeepSeek's, Anthropic's and Gemini's, too.
    written, read = (getattr(usage, f"{part}_tokens_details", None) for part in ("completion", "prompt"))
    return counted_usage(
        *(getattr(usage, f"{part}_tokens", None) for part in ("prompt", "completion", "total")),
        reasoning=getattr(written, "reasoning_tokens", None),
        cached=getattr(read, "cached_tokens", None),
    )


def _probabilities(logprobs: Any) -> tuple[Mapping[str, float], ...]:
    return tuple(_position(position) for position in _get(logprobs, "content") or ())


def _position(position: Any) -> Mapping[str, float]:
    entries = _get(position, "top_logprobs") or [position]
    return token_probabilities((_get(entry, "token"), _get(entry, "logprob")) for entry in entries)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
