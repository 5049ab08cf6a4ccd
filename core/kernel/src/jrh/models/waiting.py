"""What a call waits for: room in the budget, the same call of another task, an answer that comes hours later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from attrs import frozen

from jrh.errors import StillPendingError, StopReason, StopRun
from jrh.models.client import Client
from jrh.models.ledger import Ledger, worst_case
from jrh.plugins.protocols import ChatRequest, Logger
from jrh.store.run_store import Store
from jrh.text.redact import Redactor
from jrh.values.verdicts import Reply


async def wait_for(event: asyncio.Event) -> None:
    """Wait for an event, and return nothing."""
    await event.wait()


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
    if known is None:
        known = uuid4().hex[:16]
        store.set_meta(_ID, known)
    return known


def left_pending(model: str, error: StillPendingError) -> StopRun:
    """Return the end of a run whose calls a provider has accepted and not answered yet."""
    return StopRun(StopReason.PENDING, f"model '{model}' has not answered yet: {error}")


class Reserving:
    """Let calls wait for room in the budget."""

    def __init__(
        self,
        ledger: Ledger,
        log: Logger,
        unless_stopped: Callable[[Coroutine[Any, Any, None]], Coroutine[Any, Any, None]],
        check: Callable[[], None],
    ) -> None:
        """Keep the ledger, and how to wait and to notice that the run stops."""
        self.pending: StopRun | None = None
        """Set once this process no longer waits for a call in flight: nothing more may be settled."""
        self._ledger = ledger
        self._log = log
        self._unless_stopped = unless_stopped
        self._check = check
        self._settled = asyncio.Event()
        self._awaited = False

    def settled(self) -> None:
        """Tell waiting calls that one in flight is settled."""
        if self._awaited:
            self._awaited = False
            self._settled.set()
            self._settled = asyncio.Event()

    async def reserve(self, client: Client, request: ChatRequest) -> tuple[ChatRequest, float | None]:
        """Reserve a call's worst case, as soon as it fits the budget; return the request as it may be sent.

        Where it does not fit, calls in flight are waited for, because most cost less than is set aside for them. What
        still does not fit is sent with a lower limit for its reply, if the model's replies so far are shorter than it.

        Raises:
            StopRun: it does not fit, or the run stops.
        """
        rates = client.rates
        worst = worst_case(request, rates)
        while self._ledger.may_wait(worst):
            if self.pending is not None:
                raise self.pending
            self._awaited = True
            await self._unless_stopped(wait_for(self._settled))
            self._check()
        if rates is not None and worst is not None and worst > self._ledger.room:
            narrowed = client.seen.narrowed(request, rates, self._ledger.room)
            if narrowed is not None and client.accepted(narrowed[0]) == narrowed[0]:
                request, worst = narrowed
                self._log.info("reserved by what was used so far", model=client.name, usd=worst)
        self._ledger.reserve(worst)
        return request, worst
