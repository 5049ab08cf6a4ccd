"""What is known of a batch, which calls wait for their answers, and what a provider's protocol has to do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from attrs import Factory, asdict, frozen
from jrh import ChatRequest
from jrh.errors import FaultKind, ModelFault, StillPendingError
from jrh.plugins import Completion
from jrh_chat import error_text


@frozen(kw_only=True)
class Batch:
    """Calls that are submitted together."""

    name: str
    """jrh's own name of it, which no other batch has."""
    calls: tuple[str, ...]
    """The ids of the calls, in the order of the lines."""
    noted: float
    """When it was noted last, in seconds since 1970: it was submitted after this, if at all."""
    file: str = ""
    """The provider's id of the uploaded requests; empty if there is none yet, or none at this provider."""
    id: str = ""
    """The provider's id of the batch; empty while it is not known."""
    unread_since: float = 0.0
    """When its state or its results could not be read for the first time, in seconds since 1970; 0: they could."""

    def to_text(self) -> str:
        """Write the batch down."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Batch:
        """Read a batch that was written down."""
        fields = json.loads(text)
        return cls(**{**fields, "calls": tuple(fields["calls"])})


@frozen(kw_only=True)
class Refusal:
    """Why a provider did no work on a batch."""

    text: str
    queue_full: bool = False
    """Too many tokens are waiting already; the same batch is accepted later."""
    lines: Mapping[int, ModelFault] = Factory(dict)
    """Place of a line, from 0 -> what is wrong with it; empty: the batch is refused as a whole."""
    fault: ModelFault = Factory(lambda self: ModelFault(FaultKind.REJECTED, self.text), takes_self=True)
    """What every call gets where no line is named."""


@frozen(kw_only=True)
class Look:
    """The state of a batch."""

    ended: bool = False
    unclear: str = ""
    """Why the provider's answer does not tell the state; empty if it does."""
    refusal: Refusal | None = None
    files: tuple[str, ...] = ()
    """The provider's ids of the files with results, answers before errors."""
    answered: int | None = None
    """How many requests the provider counts as answered; None if it does not say or contradicts itself."""
    unanswered: ModelFault | None = None
    """What the provider says of the requests that it did not answer; None: nothing, so they may be answered."""

    def explain_unread(self, answered: int, failed: int, calls: int) -> str:
        """Return which results are still to be read, given how many were; empty if each was."""
        if self.answered is not None and answered < self.answered:
            return f"{answered:,} of {self.answered:,} answers could be read"
        return f"{answered + failed:,} of {calls:,} results could be read" if answered + failed < calls else ""

    def tells_of_all(self, answered: int, failed: int, calls: int) -> bool:
        """Tell whether the provider has said what became of every call, by a line of its own or by its counts."""
        counted = self.unanswered is not None and self.answered is not None and answered >= self.answered
        return counted or answered + failed == calls


def unclear_look(status: object, redact: Callable[[str], str]) -> Look:
    """Return the look at a batch whose status is none that the protocol has."""
    return Look(unclear=f"the provider states an unknown status, {error_text(repr(status), redact)[:80]}")


@frozen
class Result:
    """One line of a batch's results."""

    call: str
    """Empty for a line that cannot be read."""
    outcome: Completion | ModelFault
    failed: bool = False
    """Whether the provider says that the request failed; a fault without this may be an answer that is billed."""


class Dialect(Protocol):
    """One provider's protocol."""

    max_requests: int
    max_bytes: int

    def line(self, call: str, request: ChatRequest) -> bytes:
        """Write one request; raise `ModelFault` if the provider cannot be asked this."""

    async def upload(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Upload the requests and return the file's id; the empty text where the protocol has no files."""

    async def create(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Submit the batch, sending once, and return its id."""

    async def find(self, batch: Batch, taken: Collection[str]) -> str:
        """Return the id of a batch that may have been submitted; the empty text if it was not.

        Args:
            batch: what was noted of it.
            taken: ids of other batches of this run.

        Raises:
            ModelFault: the provider does not tell.
            StillPendingError: a batch that is still being worked on may be this one.
        """

    async def look(self, batch: Batch) -> Look:
        """Return the state of a batch."""

    def results(self, batch: Batch, look: Look) -> AsyncIterator[Result]:
        """Yield the results of a batch that has ended."""

    async def aclose(self) -> None:
        """Close connections."""


Outcome: TypeAlias = Completion | ModelFault | StillPendingError


class Answers:
    """Hands every answer to its call, once."""

    def __init__(self) -> None:
        """Begin without calls."""
        self._waiting: dict[str, tuple[ChatRequest, asyncio.Future[Completion]]] = {}
        self._unclaimed: dict[str, Outcome] = {}
        """Results of calls that were not made again yet."""

    def __len__(self) -> int:
        """Count the calls that wait."""
        return len(self._waiting)

    def claim(self, call: str) -> Completion | None:
        """Return the answer of a call of an earlier process, if it is here already.

        Raises:
            ModelFault: it failed.
            StillPendingError: its result cannot be read.
        """
        # Removed, so that a call is answered once.
        outcome = self._unclaimed.pop(call, None)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def expect(self, call: str, request: ChatRequest) -> asyncio.Future[Completion]:
        """Let a call wait."""
        answer: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting[call] = request, answer
        return answer

    def leave(self, call: str) -> None:
        """Forget a call that waits no longer."""
        del self._waiting[call]

    def calls_waiting(self, calls: Iterable[str] | None = None) -> list[str]:
        """Return those calls that wait; without calls all."""
        return [call for call in (self._waiting if calls is None else calls) if call in self._waiting]

    def open_request(self, call: str) -> ChatRequest | None:
        """Return the request of a call that has no answer yet; None if it has one or does not wait."""
        request, answer = self._waiting.get(call, (None, None))
        return None if answer is None or answer.done() else request

    def deliver(self, call: str, outcome: Outcome) -> None:
        """Answer a call; keep the answer if no call waits for it yet. The first answer counts."""
        _, answer = self._waiting.get(call, (None, None))
        if answer is None:
            # A resumed run may read results before it makes the calls again.
            if not isinstance(self._unclaimed.get(call), Completion):
                self._unclaimed[call] = outcome
        elif answer.done():
            return
        elif isinstance(outcome, Exception):
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
