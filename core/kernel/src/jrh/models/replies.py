"""Turn a provider's answer into the reply that components see, and ask without the settings that a model refuses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from attrs import asdict, evolve

from jrh.errors import FaultKind, ModelFault
from jrh.models.ledger import cost_of, saving_of
from jrh.plugins.protocols import LONGEST_ANSWER, TOO_LONG, ChatRequest, Completion, Rates
from jrh.text.redact import Redactor
from jrh.values.cases import Sampling
from jrh.values.verdicts import Reply, Status, Usage

OUTPUT: Final = "output"
"""The name of the form of a reply among the settings of a request."""
_FORMS: Final = ("logprobs", "json_schema", OUTPUT)


def sampling_values(sampling: Sampling) -> dict[str, Any]:
    """Return the parameters that are set, by name."""
    return asdict(sampling, filter=lambda _, value: value is not None)


def set_in(request: ChatRequest) -> Mapping[str, Any]:
    """Return the settings that a request holds, with their values."""
    # Text is what every model writes: it takes no setting that could be refused.
    form = request.output if request.output != "text" else ""
    held = {
        **sampling_values(request.sampling),
        "logprobs": request.top_logprobs or None,
        "json_schema": None if form else request.json_schema,
        OUTPUT: form or None,
    }
    return {name: value for name, value in held.items() if value is not None}


def refused_in(request: ChatRequest, settings: Collection[str]) -> set[str]:
    """Return what a request holds of refused settings: `seed` (any), `output=json` (that one), `temperature<0.01`."""
    held = set_in(request)
    limits = [entry.partition("<") for entry in settings if "<" in entry]
    below = {f"{name}<{least}" for name, _, least in limits if name in held and held[name] < float(least)}
    return below | {name for name, value in held.items() if name in settings or f"{name}={value}" in settings}


def without(request: ChatRequest, settings: Collection[str]) -> ChatRequest:
    """Return the request without some settings; one that is refused below a value gets that value."""
    # Backwards, so that a setting that is refused with every value comes after its least one.
    least = {name: value for name, _, value in (entry.partition("<") for entry in sorted(settings, reverse=True))}
    ours: dict[str, Any] = {
        name: float(value) if value else None for name, value in least.items() if name not in _FORMS
    }
    return evolve(
        request,
        sampling=evolve(request.sampling, **ours) if ours else request.sampling,
        json_schema=None if "json_schema" in settings else request.json_schema,
        top_logprobs=0 if "logprobs" in settings else request.top_logprobs,
    )


COMPLETE: Final = frozenset(
    {"", "stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete", "completed", "finished", "done"}
    | {"tool_calls", "tool_use", "function_call"}
)
"""The finish reasons of a complete reply; a missing reason counts as complete."""
CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
FILTERED: Final = frozenset(
    {"content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"}
    | {"guardrail_intervened"}
)
FAILED: Final = frozenset({"error", "network_error", "server_error"})
"""The finish reasons of an answer that broke off; it does not count, and jrh asks again."""
_LONGEST_DETAIL: Final = 500


_ABOUT_THE_QUESTION: Final = {
    FaultKind.CONTEXT_OVERFLOW: Status.CONTEXT_OVERFLOW,
    FaultKind.NOT_AVAILABLE: Status.NOT_AVAILABLE,
}
"""Faults that say nothing about how the model fares with other questions."""


def reply_about_question(fault: ModelFault, detail: str, attempts: int, fingerprint: str) -> Reply | None:
    """Return the reply that a fault about the question itself amounts to; None for every other fault."""
    status = _ABOUT_THE_QUESTION.get(fault.kind)
    if status is None:
        return None
    # Nothing was generated, so it cost nothing, and it is not unknown.
    usage = Usage(prompt_tokens=0, completion_tokens=0)
    return Reply(
        status=status, detail=detail, attempts=max(attempts, 1), fingerprint=fingerprint, usage=usage, cost=0.0
    )


def read_reply(
    completion: Completion,
    redact: Redactor,
    *,
    fingerprint: str,
    rates: Rates | None,
    latency: float = 0.0,
    attempts: int = 1,
    not_settable: tuple[str, ...] = (),
    answered: str = "",
) -> Reply:
    """Return the reply to a call: status, text without secrets, cost.

    Args:
        completion: what the provider answered.
        redact: masks the secrets that are known.
        fingerprint: of the model.
        rates: US dollars per token, where the provider states no cost itself; None: unknown.
        latency: seconds.
        attempts: how often was sent.
        not_settable: settings of the request that the model refuses.
        answered: the day in UTC.

    Raises:
        TypeError: the provider returned something else than a completion.
    """
    if not isinstance(completion, Completion):
        raise TypeError(f"complete() returned {type(completion).__name__}, not a Completion")
    status, detail = classify(completion)
    text = completion.text or ""
    if not text.strip() and status is Status.OK:
        text = completion.reasoning  # where servers put the whole reply if the model does not close its reasoning
    overlong = _is_overlong(completion)
    # A cost of 0 where there are prices is one that a gateway did not count.
    stated = completion.cost or (completion.cost if rates is None else None)
    return Reply(
        status=status,
        text="" if overlong else redact(text),
        finish_reason=TOO_LONG if overlong else redact(completion.finish_reason),
        usage=completion.usage,
        cost=cost_of(completion.usage, rates) if stated is None else stated,
        saved=saving_of(completion.usage, rates) if stated is None else 0.0,
        latency=latency,
        fingerprint=fingerprint,
        model_version=redact(completion.model_version),
        # Masked before it is cut: a part of a key would not be recognised.
        detail=redact(detail)[:_LONGEST_DETAIL],
        attempts=attempts,
        token_probabilities=() if overlong else completion.token_probabilities,
        not_settable=not_settable,
        answered=answered,
    )


def classify(completion: Completion) -> tuple[Status, str]:
    """Return the status of a provider's answer, and the reason if it has no usable text."""
    # First: a refusal may come with any finish reason.
    if completion.refusal is not None:
        return Status.REFUSED, completion.refusal or "the model refused"
    reason = completion.finish_reason.casefold()
    if reason in FILTERED:
        return Status.REFUSED, "the provider's content filter cut the reply"
    if _is_overlong(completion):
        return Status.TRUNCATED, f"the reply is longer than {LONGEST_ANSWER:,} bytes and was not read"
    if reason in CUT:
        return Status.TRUNCATED, "the reply was cut at the token limit"
    # A reason that is not known here may mean that half a reply came.
    if reason not in COMPLETE:
        return Status.INCOMPLETE, f"the provider ended the reply with '{completion.finish_reason}', not as complete"
    return Status.OK, ""


def _is_overlong(completion: Completion) -> bool:
    return completion.finish_reason == TOO_LONG or len(completion.text or "") > LONGEST_ANSWER
