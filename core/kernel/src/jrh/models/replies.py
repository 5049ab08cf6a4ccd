"""Turn a provider's answer into the reply that components see."""

from __future__ import annotations

from typing import Final

from jrh.models.ledger import cost_of
from jrh.plugins.protocols import LONGEST_ANSWER, TOO_LONG, Completion, Rates
from jrh.text.redact import Redactor
from jrh.values.types import Reply, Status

CUT: Final = frozenset({"length", "max_tokens"})
FILTERED: Final = frozenset({"content_filter", "safety"})
_LONGEST_DETAIL: Final = 500


def read_reply(
    completion: Completion,
    redact: Redactor,
    *,
    fingerprint: str,
    rates: Rates | None,
    latency: float = 0.0,
    attempts: int = 1,
) -> Reply:
    """Return the reply to a call: status, text without secrets, cost.

    Args:
        completion: what the provider answered.
        redact: masks the secrets that are known.
        fingerprint: of the model; the version that the provider reports is added.
        rates: US dollars per token, where the provider states no cost itself; None: unknown.
        latency: seconds.
        attempts: how often was sent.

    Raises:
        TypeError: the provider returned something else than a completion.
    """
    if not isinstance(completion, Completion):
        raise TypeError(f"complete() returned {type(completion).__name__}, not a Completion")
    status, detail = classify(completion)
    overlong = _is_overlong(completion)
    version = f" ({completion.model_version})" if completion.model_version else ""
    return Reply(
        status=status,
        text="" if overlong else redact(completion.text or ""),
        finish_reason=TOO_LONG if overlong else redact(completion.finish_reason),
        usage=completion.usage,
        cost=completion.cost if completion.cost is not None else cost_of(completion.usage, rates),
        latency=latency,
        fingerprint=fingerprint + redact(version),
        detail=redact(detail)[:_LONGEST_DETAIL],
        attempts=attempts,
        token_probabilities=() if overlong else completion.token_probabilities,
    )


def classify(completion: Completion) -> tuple[Status, str]:
    """Return the status of a provider's answer, and the reason if it has no usable text."""
    if completion.refusal is not None:
        return Status.REFUSED, completion.refusal or "the model refused"
    if completion.finish_reason in FILTERED:
        return Status.REFUSED, "the provider's content filter cut the reply"
    if _is_overlong(completion):
        return Status.TRUNCATED, f"the reply is longer than {LONGEST_ANSWER:,} bytes and was not read"
    if completion.finish_reason in CUT:
        return Status.TRUNCATED, "the reply was cut at the token limit"
    return Status.OK, ""


def _is_overlong(completion: Completion) -> bool:
    return completion.finish_reason == TOO_LONG or len(completion.text or "") > LONGEST_ANSWER
