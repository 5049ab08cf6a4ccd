"""What becomes of a call that is not answered at once: retries, waiting, and the messages of a run that stops."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from attrs import frozen

from jrh.errors import FaultKind, ModelFault, StopReason
from jrh.models.ledger import Ledger
from jrh.store.run_store import Store
from jrh.suite.definition import Limits
from jrh.text.redact import Redactor
from jrh.values.verdicts import Reply

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 60.0
"""Seconds between attempts: exponential with jitter between these, or the server's Retry-After: as it is after the
first attempt, and if it is longer after the others."""


def retry_policy(limits: Limits, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Return the retry policy: retry while the fault may be temporary, within the limits' attempts and waiting time."""
    from tenacity import AsyncRetrying, retry_if_exception

    def is_exhausted(state: RetryCallState) -> bool:
        # With the wait to come: a call that could not wait it out fails now rather than later.
        waited = state.idle_for + state.upcoming_sleep
        return state.attempt_number >= limits.max_attempts or waited > limits.max_wait

    return AsyncRetrying(
        sleep=sleep,
        stop=is_exhausted,
        wait=_wait,
        retry=retry_if_exception(lambda error: isinstance(error, ModelFault) and error.retryable),
        reraise=True,
    )


def as_fault(error: Exception, timeout: float) -> ModelFault:
    """Turn an exception of an attempt into a fault: a fault as is, a timeout (seconds), or else a bug of the plugin."""
    if isinstance(error, ModelFault):
        return error
    if isinstance(error, TimeoutError):
        return ModelFault(FaultKind.TIMEOUT, f"no complete answer within {timeout:g} s")
    return ModelFault(FaultKind.REJECTED, f"the model plugin raised {type(error).__name__}: {error}")


def _wait(state: RetryCallState) -> float:
    """Return the seconds before the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    ceiling = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (state.attempt_number - 1))
    # Half of the wait is drawn, so that calls refused together do not come back together.
    spread = random.uniform(ceiling / 2.0, ceiling)  # noqa: S311 - spreads retries, decides nothing
    if isinstance(error, ModelFault) and error.retry_after is not None:
        # A limit of tokens a minute asks for milliseconds: as many attempts in a row would be over in no time.
        return error.retry_after if state.attempt_number == 1 else max(error.retry_after, spread)
    return spread


STOPPING: Final = {FaultKind.UNAUTHORIZED: StopReason.UNAUTHORIZED, FaultKind.NO_CREDIT: StopReason.NO_CREDIT}
"""Kinds of faults that no other call of the run would escape."""
_AGAIN: Final = "and run the same command again: finished calls are not repeated"


def account_message(model: str, kind: FaultKind, detail: str) -> str:
    """Return the message for a fault of `STOPPING`."""
    if kind is FaultKind.NO_CREDIT:
        return f"the account of model '{model}' has no credit left ({detail}). Add credit to the account {_AGAIN}"
    return f"model '{model}' rejected the key ({detail}). Set a valid key {_AGAIN}"


def too_many_failures(model: str, calls: int, kind: FaultKind, detail: str) -> str:
    """Return the message for an open circuit."""
    return f"model '{model}' failed {calls} questions in a row, the last one with {kind.value}: {detail}"


def bill_sentence(model: str, factor: float) -> str:
    """Say that a model bills more than its calls can cost."""
    return (
        f"model '{model}' bills up to {factor:.3g} times what a call can cost by its price and `max_tokens`, and jrh "
        "reserves that much: correct its `price`, or ask its provider about hidden prompts"
    )


def too_long_for_budget(model: str, tokens: int | None, ledger: Ledger) -> str:
    """Return the message for a reply that was cut at what was left of the budget."""
    return (
        f"the budget of ${ledger.budget.usd or 0.0:.2f} is used up: ${ledger.paid:.4f} is paid, and a reply of model "
        f"'{model}' is longer than the {tokens} tokens that were left for it"
    )


@contextmanager
def unless_given_up(under_way: asyncio.Future[Reply]) -> Iterator[None]:
    """Suppress the cancellation of another task's call, so that the waiter asks itself."""
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not under_way.cancelled() or (task is not None and task.cancelling()):
            raise


_ID: Final = "id"
"""Meta key of a run directory's own id; a copy of the directory keeps it, and with it what was paid for."""


@frozen
class StoredNotes:
    """The notes of one model (`jrh.plugins.ModelNotes`)."""

    _store: Store
    _model: str
    """Its fingerprint: another model or endpoint has notes of its own."""
    _redact: Redactor

    def read(self) -> Mapping[str, str]:
        """Return all notes by name."""
        return self._store.notes.read(self._model)

    async def write(self, name: str, text: str) -> None:
        """Write a note; it is durable when this returns."""
        await self._store.notes.write(self._model, name, self._redact(text))


def call_prefix(store: Store) -> str:
    """Return what the ids of this run directory's calls begin with, so that no two runs share an id."""
    known = store.meta(_ID)
    # Drawn and not derived: two run directories may send the same questions, and their calls are not the same.
    if known is None:
        known = uuid4().hex[:16]
        store.set_meta(_ID, known)
    return known
