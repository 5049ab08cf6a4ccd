"""Read the parts of a chat completion that all providers share: costs, counts, token probabilities, error codes.

What a provider does not say stays unknown: None, never 0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jrh import Usage
from jrh.errors import FaultKind, ModelFault
from jrh.hashing import RepeatedKeyError, distinct_keys
from jrh.models import FAILED
from jrh.plugins import Completion
from jrh.text import utf8_text

from jrh_chat.http import retry_after, tool_arguments

_WIRE: Final[Mapping[str, str]] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "random_seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "reasoning_effort": "reasoning_effort",
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
    "response_format": "json_schema",
}
"""Name in a provider's error -> setting of a request."""
_FORMS: Final = re.compile(
    r"(?<![\w-])(response_format|json_object|json_schema|tool_choice|tools|function_call\w*)(?![\w-])"
)
"""Names in an error about the form of a reply."""
_OUTPUT: Final = "output"
_REFUSED: Final = re.compile(
    r"support|allow|permit|deprecat|unknown|unrecogni[sz]ed|unexpected|extra (input|field|param)|not available|"
    r"unsettable|cannot be (set|changed|used)|may not be set|invalid (parameter|argument|field)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(
    r"\brange\b|between|less than|greater than|at (most|least)|<=|>=|≤|≥|too (large|high|low|small)|exceeds|"
    r"\bmaximum (value|allowed|of)|must be (a |an )?(positive|integer|number)",
    re.IGNORECASE,
)
"""A value that is out of range is a mistake of the suite, not a setting that the model does not have."""
_ZERO_REFUSED: Final = re.compile(
    r"strictly positive|(greater|larger|more|higher) than (0(?!\.?\d*[1-9])|zero)|> ?0(?!\.?\d*[1-9])|\(0(\.0+)?, |"
    r"(must be|be a) (a )?positive|(cannot|must not|may not) be (0(?!\.?\d*[1-9])|zero)",
    re.IGNORECASE,
)
"""An open range: every temperature but 0."""
_LEAST_TEMPERATURE: Final = "temperature<0.01"
"""Close enough to 0 to sample the likeliest token nearly always, and accepted wherever 0 is not."""
_WORD: Final = re.compile(
    r"(?<![\w-])(" + "|".join(sorted(_WIRE, key=len, reverse=True)) + r")(?![\w-])", re.IGNORECASE
)
_LONGEST: Final = 2000
"""Characters of an error that are searched."""


def find_refused_settings(text: str, named: str = "") -> tuple[str, ...]:
    """Return the settings that a provider's error says the model does not have; empty if it says something else.

    Many models accept no `temperature`, and gateways refuse what the provider behind them does not know. jrh then asks
    without the setting, and the reply says so. Of a temperature that has to be above 0, this is `temperature<0.01`: jrh
    then asks with that value instead of 0.

    Args:
        text: of the error.
        named: the parameter that the error names in a field of its own, such as OpenAI's `param`.
    """
    # The patterns below are searched in whatever a server sends: a bound on their time.
    text = text[:_LONGEST]
    # A request that asks for a form is about nothing else, so any error that names the form refuses it.
    form = (_OUTPUT,) if _FORMS.search(f"{named} {text}") else ()
    # A temperature that has to be above 0 is asked for as one next to 0: without it, the provider's own holds, often 1.
    # A field of the error may name the whole body: then the words say which setting it is about.
    words = [named] if named in _WIRE else [word.lower() for word in _WORD.findall(text)]
    if "temperature" in words and _ZERO_REFUSED.search(text):
        return (_LEAST_TEMPERATURE, *form)
    # A value out of range is the suite's mistake: asking without the setting would hide it.
    if not _REFUSED.search(text) or _RANGE.search(text):
        return form
    # Each setting once, although an error may name it several times.
    return (*dict.fromkeys(_WIRE[name] for name in words), *form)


FILTERED: Final = frozenset({"content_filter", "content_policy_violation"})
"""Error codes of a provider's content filter: an answer of the model, not a failure."""
_UNKNOWN_KEY: Final = re.compile(r"no connected db|no_db_connection", re.IGNORECASE)
OUT_OF_FUNDS: Final = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})
"""Error codes for exhausted credit: a retry cannot help, although the status is 429 (too many requests)."""
_TOO_LONG_PROMPT: Final = re.compile(
    r"context[_ ]length[_ ]exceeded|maximum context length|context (window|size|limit)|prompt is too long|"
    r"input is too long|too many (input )?tokens|exceeds? the (model'?s? )?maximum (input|number of tokens)",
    re.IGNORECASE,
)
_REFUSING: Final = (400, 413, 422)
"""Statuses of a request that the provider read and does not accept."""
MOST_TOKENS: Final = 100_000_000
"""A larger number of tokens of one call is no count."""
MOST_DOLLARS: Final = 10_000.0
"""A larger cost of one call is no cost."""


def string_or_empty(value: object) -> str:
    """Return a text that can be stored; the empty text for any other value."""
    return utf8_text(value) if isinstance(value, str) else ""


def count_or_none(value: object) -> int | None:
    """Return a number of tokens, or None if it is not a whole number of at least 0, or is absurdly large."""
    # Servers written in JavaScript or Lua count in floating point: 5000.0 is 5,000.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def cost_or_none(value: object) -> float | None:
    """Return the cost of a call in US dollars if the provider states it (OpenRouter's `usage.cost`), else None."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_DOLLARS:
        return float(value)
    return None


def model_version(model: object, fingerprint: object) -> str:
    """Return the model version that answered: its name and the system fingerprint, as far as known."""
    return " ".join(part for part in (string_or_empty(model), string_or_empty(fingerprint)) if part)


def token_probabilities(entries: Iterable[tuple[object, object]]) -> Mapping[str, float]:
    """Return the probabilities at one position from pairs of token and log probability.

    Tokens that print alike are added up, to 1 at most; what is no token with a log probability is passed over.
    """
    probabilities: dict[str, float] = {}
    for token, logprob in entries:
        if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            name = utf8_text(token)
            # Rounded log probabilities may add up to a little more than 1.
            probabilities[name] = min(1.0, probabilities.get(name, 0.0) + math.exp(min(logprob, 0.0)))
    return probabilities


def is_filtered(status: int | None, code: str) -> bool:
    """Return whether an error means that the provider's content filter declined the prompt."""
    return status in (400, 403) and code in FILTERED


def http_fault(status: int, code: str, detail: str, *, wait: float | None = None, named: str = "") -> ModelFault:
    """Turn the status and the provider's error code into a fault.

    Args:
        status: of the HTTP answer.
        code: the provider's own; the empty text where there is none.
        detail: what happened, for the log and the report.
        wait: seconds the server asks to wait.
        named: the parameter that the error names in a field of its own.
    """
    # What a LiteLLM gateway without a database says of a key that is not its own, with status 400.
    if _UNKNOWN_KEY.search(f"{code} {detail}"):
        return ModelFault(
            FaultKind.UNAUTHORIZED, f"{detail}; a gateway says so of a key it does not know", status=status
        )
    # Before the status: 429 would be retried until the run gives up.
    if code in OUT_OF_FUNDS:
        return ModelFault(FaultKind.NO_CREDIT, detail, status=status)
    if status in _REFUSING:
        # Providers agree on no code for it, so the words decide.
        if _TOO_LONG_PROMPT.search(f"{code} {detail}"):
            return ModelFault(FaultKind.CONTEXT_OVERFLOW, detail, status=status)
        return ModelFault(FaultKind.REJECTED, detail, status=status, settings=find_refused_settings(detail, named))
    return ModelFault.from_http_status(status, detail, retry_after=wait)


def from_error_response(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault | Completion:
    """Read an HTTP error as a fault, or as a refusal if the provider's content filter declined the prompt."""
    code, text, named = read_error(body)
    # A filter that declines the prompt is an answer of the model, and is counted as a refusal.
    if is_filtered(status, code):
        return Completion(text=None, finish_reason="content_filter", refusal=text or code)
    return classify(status, code, text, retry_after(headers), named)


def classify(status: int | None, code: str, text: str, wait: float | None = None, named: str = "") -> ModelFault:
    """Turn a status, the provider's error code and text into a fault; status None means that the server failed."""
    where = "the provider reports an error" if status is None else f"HTTP {status}"
    # Some servers repeat the status as their code.
    detail = f"{where} ({code})" if code and code != str(status) else where
    detail = f"{detail}: {text}" if text else detail
    if status is None:
        return ModelFault(FaultKind.NO_CREDIT if code in OUT_OF_FUNDS else FaultKind.SERVER_ERROR, detail)
    return http_fault(status, code, detail, wait=wait, named=named)


def read_error(body: bytes) -> tuple[str, str, str]:
    """Return the error code, the text and the parameter of a body; empty where there is none, the text may be raw."""
    raw = body.decode("utf-8", "replace")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return "", raw, ""
    return describe(document) if isinstance(document, dict) else ("", raw, "")


def describe(document: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return code, text and parameter of a JSON error as OpenAI, vLLM, Ollama and FastAPI write it."""
    # Servers differ: `{error: {...}}`, `{error: "..."}`, or the error itself.
    error = document.get("error") or document
    if not isinstance(error, Mapping):
        return "", str(error), ""
    named = error.get("param")
    code = next((value for value in (error.get("code"), error.get("type")) if isinstance(value, str)), "")
    text = error.get("message") or error.get("detail") or error
    return code, text if isinstance(text, str) else json.dumps(text), named if isinstance(named, str) else ""


_EXCERPT: Final = 64 * 1024


def read_completion(body: bytes) -> Completion:
    """Read a chat completion from its bytes.

    Missing values stay unknown: usage is None, never 0; a missing finish reason is empty.

    Raises:
        ModelFault: the body is not a chat completion, or it reports an error in spite of its HTTP status.
    """
    document = _document(body)
    if not isinstance(document, dict):
        raise protocol_fault(f"the answer is not a JSON object: {_excerpt(body)}")
    return read_document(document)


def _document(body: bytes) -> object:
    try:
        return json.loads(body, object_pairs_hook=distinct_keys)
    except RepeatedKeyError as error:
        raise protocol_fault(f"the answer is ambiguous JSON: {error}") from None
    except (ValueError, RecursionError):
        raise protocol_fault(f"the answer is not JSON: {_excerpt(body)}") from None


def read_document(document: Mapping[str, Any]) -> Completion:
    """Read a chat completion from its JSON object; see `read_completion`.

    Raises:
        ModelFault: it is not a chat completion, or it reports an error.
    """
    usage = document.get("usage")
    spent = _usage(usage).completion_tokens
    try:
        choice = _first_choice(document)
    except ModelFault as fault:
        # Tokens that were written before the provider failed are billed, unlike an error in place of an answer.
        raise protocol_fault(fault.detail) if spent and fault.kind is FaultKind.SERVER_ERROR else fault from None
    message = choice.get("message")
    if not isinstance(message, dict):
        raise protocol_fault("the first choice has no message")
    reason = string_or_empty(choice.get("finish_reason"))
    # A text that was cut by a failure looks like an answer.
    if reason.casefold() in FAILED:
        raise protocol_fault(f"the provider ended the answer with '{reason}'")
    return Completion(
        # With a forced tool, the arguments are the reply and the content is empty.
        text=tool_arguments(message.get("tool_calls")) or _text(message.get("content")),
        finish_reason=reason,
        usage=_usage(usage),
        cost=cost_or_none(usage.get("cost")) if isinstance(usage, dict) else None,
        refusal=string_or_empty(message.get("refusal")) or None,
        model_version=model_version(document.get("model"), document.get("system_fingerprint")),
        token_probabilities=_probabilities(choice.get("logprobs")),
        reasoning=string_or_empty(message.get("reasoning_content")) or string_or_empty(message.get("reasoning")),
    )


def protocol_fault(detail: str) -> ModelFault:
    """Return the fault for an answer that violates the protocol."""
    return ModelFault(FaultKind.MALFORMED, detail)


def _first_choice(document: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        # Routers in front of several providers send errors with status 200.
        if document.get("error"):
            raise _error_fault(document)
        raise protocol_fault("the answer has no choices")
    choice = choices[0]
    if not isinstance(choice, dict):
        raise protocol_fault("the first choice is not an object")
    if choice.get("error"):
        raise _error_fault(choice)
    return choice


def _error_fault(holder: Mapping[str, Any]) -> ModelFault:
    """Return the fault for an error sent with status 200, as routers in front of several providers do."""
    code, text, named = describe(holder)
    error = holder["error"]
    status = error.get("code") if isinstance(error, Mapping) else None
    # The router's code is often the status that the provider behind it gave.
    known = isinstance(status, int) and 400 <= status <= 599  # noqa: PLR2004 - the range of HTTP error statuses
    return classify(status if known else None, code, text, named=named)


def _text(content: object) -> str | None:
    if content is None:
        return None
    if isinstance(content, str):
        return utf8_text(content)
    if isinstance(content, list):
        return utf8_text("".join(_part(part) for part in content))
    raise protocol_fault("the message's content is neither text nor a list of parts")


def _part(part: object) -> str:
    text = part.get("text", "") if isinstance(part, dict) else part
    if not isinstance(text, str):
        raise protocol_fault("a part of the message's content has no text")
    return text


_CACHED: Final = ("prompt_cache_hit_tokens", "cache_read_input_tokens")


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("completion_tokens_details")
    read = usage.get("prompt_tokens_details")
    # The last two are DeepSeek's and Anthropic's names, which routers pass on.
    cached = read.get("cached_tokens") if isinstance(read, dict) else None, *map(usage.get, _CACHED)
    return counted_usage(
        *map(usage.get, _COUNTS),
        reasoning=details.get("reasoning_tokens") if isinstance(details, dict) else None,
        cached=next((number for count in cached if (number := count_or_none(count)) is not None), None),
    )


_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")


def counted_usage(prompt: object, completion: object, total: object, *, reasoning: object, cached: object) -> Usage:
    """Return the tokens of a call as its provider counts them; zeros where there must be tokens are no count."""
    sent, written, whole = map(count_or_none, (prompt, completion, total))
    # xAI and Gemini bill reasoning as output, and count it in the total alone.
    written = max(written, (whole or 0) - sent) if sent and written is not None else written or None
    return Usage(
        # Every prompt has tokens, so zero means that the provider did not count.
        prompt_tokens=sent or None,
        completion_tokens=written if written or whole in (None, sent) else None,
        reasoning_tokens=count_or_none(reasoning),
        cached_tokens=count_or_none(cached),
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
