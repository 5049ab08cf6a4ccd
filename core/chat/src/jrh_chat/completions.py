"""Read the parts of a chat completion that all providers share: costs, counts, token probabilities, error codes.

What a provider does not say stays unknown: None, never 0.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from jrh.errors import FaultKind, ModelFault
from jrh.models.unsettable import refused_settings
from jrh.text.plain import utf8_text

FILTERED: Final = frozenset({"content_filter", "content_policy_violation"})
"""Error codes of a provider's content filter: an answer of the model, not a failure."""
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
_MOST: Final = (("prompt_tokens", MOST_TOKENS), ("completion_tokens", MOST_TOKENS), ("cost", MOST_DOLLARS))


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


def discarded(usage: Mapping[str, object]) -> Mapping[str, float]:
    """Return the token counts and the cost that `count_or_none` and `cost_or_none` discard as too large.

    Args:
        usage: what a provider states: `prompt_tokens`, `completion_tokens`, `cost`; other names do not count.
    """
    found = {}
    for name, limit in _MOST:
        value = usage.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > limit:
            found[name] = float(min(value, sys.float_info.max))
    return found


def served_version(model: object, fingerprint: object) -> str:
    """Return the model version that answered: its name and the system fingerprint, as far as known."""
    return " ".join(part for part in (string_or_empty(model), string_or_empty(fingerprint)) if part)


def token_probabilities(entries: Iterable[tuple[object, object]]) -> Mapping[str, float]:
    """Return the probabilities at one position from pairs of token and log probability.

    Tokens that print alike are added up, to 1 at most; what is no token with a log probability is passed over.
    """
    found: dict[str, float] = {}
    for token, logprob in entries:
        if isinstance(token, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            name = utf8_text(token)
            found[name] = min(1.0, found.get(name, 0.0) + math.exp(min(logprob, 0.0)))
    return found


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
    if code in OUT_OF_FUNDS:
        return ModelFault(FaultKind.NO_CREDIT, detail, status=status)
    if status in _REFUSING:
        if _TOO_LONG_PROMPT.search(f"{code} {detail}"):
            return ModelFault(FaultKind.CONTEXT_OVERFLOW, detail, status=status)
        return ModelFault(FaultKind.REJECTED, detail, status=status, settings=refused_settings(detail, named))
    return ModelFault.from_http_status(status, detail, retry_after=wait)
