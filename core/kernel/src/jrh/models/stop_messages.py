"""Say why the gateway stops a run, and what to do about it."""

from __future__ import annotations

from typing import Final

from jrh.errors import FaultKind, StopReason
from jrh.models.ledger import Ledger

STOPPING: Final = {FaultKind.UNAUTHORIZED: StopReason.UNAUTHORIZED, FaultKind.NO_CREDIT: StopReason.NO_CREDIT}
"""Kinds of faults that no other call of the run would escape."""
_AGAIN: Final = "and run the same command again: finished calls are not repeated"


def refused_account(model: str, kind: FaultKind, detail: str) -> str:
    """Return the message for a fault of `STOPPING`."""
    if kind is FaultKind.NO_CREDIT:
        return f"the account of model '{model}' has no credit left ({detail}). Add credit to the account {_AGAIN}"
    return f"model '{model}' rejected the key ({detail}). Set a valid key {_AGAIN}"


def too_many_failures(model: str, calls: int, kind: FaultKind, detail: str) -> str:
    """Return the message for an open circuit."""
    return f"model '{model}' failed {calls} calls in a row, the last one with {kind.value}: {detail}"


def billed_beyond(model: str, cost: float, worst: float, ledger: Ledger) -> str:
    """Return the message for a call that cost more than it could, and took the budget with it."""
    return (
        f"model '{model}' billed ${cost:.4f} for a call that could cost ${worst:.4f} at most, by its price and "
        f"`max_tokens`: ${ledger.paid:.4f} is paid, more than the budget of ${ledger.budget.usd or 0.0:.2f}. Correct "
        "its `price`, or ask its provider"
    )


def too_long_for_budget(model: str, tokens: int | None, ledger: Ledger) -> str:
    """Return the message for a reply that was cut at what was left of the budget."""
    return (
        f"the budget of ${ledger.budget.usd or 0.0:.2f} is used up: ${ledger.paid:.4f} is paid, and a reply of model "
        f"'{model}' is longer than the {tokens} tokens that were left for it"
    )
