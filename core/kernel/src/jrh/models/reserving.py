"""Set the worst case of a call aside before it is sent, as soon as the budget has room for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from jrh.errors import StopRun
from jrh.models.client import Client
from jrh.models.ledger import Ledger, worst_case
from jrh.models.waiting import wait_for
from jrh.plugins.protocols import ChatRequest, Logger


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
