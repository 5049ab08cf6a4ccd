"""The calls that wait for their answers, and answers whose calls were not made again yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from jrh import ChatRequest
from jrh.errors import ModelFault, StillPendingError
from jrh.plugins import Completion


class Answers:
    """Hands every answer to its call, once."""

    def __init__(self) -> None:
        """Begin without calls."""
        self._waiting: dict[str, tuple[ChatRequest, asyncio.Future[Completion]]] = {}
        self._unclaimed: dict[str, Completion | ModelFault] = {}
        """Results of calls that were not made again yet."""

    def __len__(self) -> int:
        """Count the calls that wait."""
        return len(self._waiting)

    def claim(self, call: str) -> Completion | None:
        """Return the answer of a call of an earlier process, if it is here already.

        Raises:
            ModelFault: it failed.
        """
        found = self._unclaimed.pop(call, None)
        if isinstance(found, ModelFault):
            raise found
        return found

    def expect(self, call: str, request: ChatRequest) -> asyncio.Future[Completion]:
        """Let a call wait."""
        answer: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting[call] = request, answer
        return answer

    def leave(self, call: str) -> None:
        """Forget a call that waits no longer."""
        del self._waiting[call]

    def waiting(self, calls: Iterable[str] | None = None) -> list[str]:
        """Return those calls that wait; without calls all."""
        return [call for call in (self._waiting if calls is None else calls) if call in self._waiting]

    def unanswered(self, call: str) -> ChatRequest | None:
        """Return the request of a call that has no answer yet; None if it has one or does not wait."""
        request, answer = self._waiting.get(call, (None, None))
        return None if answer is None or answer.done() else request

    def deliver(self, call: str, outcome: Completion | ModelFault) -> None:
        """Answer a call; keep the answer where nobody waits for it yet. The first answer counts."""
        _, answer = self._waiting.get(call, (None, None))
        if answer is None:
            self._unclaimed[call] = outcome
        elif answer.done():
            return
        elif isinstance(outcome, ModelFault):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)

    def deliver_all(self, calls: Iterable[str], fault: ModelFault) -> None:
        """Give calls the same fault, each one of its own."""
        for call in calls:
            self.deliver(call, fault.with_detail(fault.detail))

    def pend(self, calls: Iterable[str], why: str) -> None:
        """End the waiting of calls whose batches go on at the provider."""
        for call in calls:
            _, answer = self._waiting[call]
            if not answer.done():
                answer.set_exception(StillPendingError(why))
