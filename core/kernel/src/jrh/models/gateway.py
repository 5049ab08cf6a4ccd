"""The gateway: every model call goes through it.

Cache -> rate limits -> budget -> intent row, durable -> send under a total timeout -> outcome row, durable -> retries.
A committed outcome is never lost and never paid for again. Failures are values; only the end of a run is raised.
The state of one model (limits, failures) belongs to its client; the gateway decides what follows from it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any, Final

from attrs import define

from jrh.document.convert import to_text_once
from jrh.errors import FaultKind, ModelFault, StillPendingError, StopReason, StopRun
from jrh.models.client import BREAKER, Client, request_key
from jrh.models.concurrency import SharedConcurrency
from jrh.models.ledger import PREFLIGHT, Ledger, current_payer, worst_case
from jrh.models.replies import read_reply, refused_in, reply_about_question
from jrh.models.retries import (
    FIRST_WAIT,
    STOPPING,
    StoredNotes,
    account_message,
    as_fault,
    bill_sentence,
    call_prefix,
    retry_policy,
    too_long_for_budget,
    too_many_failures,
    unless_given_up,
)
from jrh.plugins.protocols import ChatModel, ChatRequest, Logger
from jrh.store.cache import stored_reply
from jrh.store.calls_table import ANSWERED, NOT_SETTABLE
from jrh.suite.definition import ModelUse
from jrh.text.redact import Redactor
from jrh.values.verdicts import Reply, Status

if TYPE_CHECKING:
    from jrh.store.cache import Cache
    from jrh.store.run_store import Store

_UNUSABLE: Final = frozenset(
    kind.value for kind in (FaultKind.UNAUTHORIZED, FaultKind.NO_CREDIT, FaultKind.CONNECTION, FaultKind.TIMEOUT)
)
"""Outcomes after which a model is probed again: its key, its account or its address may be what was wrong."""
_MAYBE_BILLED: Final = frozenset({FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.MALFORMED})


@define
class _Call:
    """One question on its way through retries."""

    key: str
    request: ChatRequest
    purpose: str
    attempts: int = 0
    row: int = 0
    answered: int = 0
    """Calls that the model had answered when this one was first sent."""


class Gateway:
    """Answer requests from stored replies, or ask providers within budget and limits."""

    def __init__(
        self,
        store: Store,
        cache: Cache | None,
        ledger: Ledger,
        redact: Redactor,
        log: Logger,
        *,
        on_paid: Callable[[], None] = lambda: None,
        wait: bool = True,
    ) -> None:
        """Use the run's store, the shared cache (None for no cache) and the ledger; say when a reply is paid for.

        `wait`: for the answers of deferred models; otherwise the run ends once they have all calls.
        """
        self.ledger = ledger
        self.stopped: StopRun | None = None
        self._store = store
        self._calls = store.calls
        self._wait = wait
        self._spending = store.spending
        self._cache = cache
        self._redact = redact
        self._log = log
        self._on_paid = on_paid
        self._stopping = asyncio.Event()
        self._pending: StopRun | None = None
        """Set once this process no longer waits for a call in flight: nothing more may be settled."""
        self._settled = asyncio.Event()
        self._turn = asyncio.Lock()
        self._prefix = ""
        self._in_flight: dict[str, asyncio.Future[Reply]] = {}
        self._clients: list[Client] = []
        self.concurrency = SharedConcurrency(self.sleep)

    @property
    def draft_failures(self) -> int:
        """Return how many calls that no judge made have no answer after all retries; a later run repeats them."""
        return sum(client.draft_failures for client in self._clients)

    def client(self, use: ModelUse, model: ChatModel) -> Client:
        """Return the client of a model; `aclose` closes the model with it."""
        client = Client(use, model, self)
        client.seen.earlier_ratio, client.seen.earlier_excess = self._calls.overbilled(client.name)
        self._clients.append(client)
        if client.deferred is not None:
            notes = StoredNotes(self._store, model.fingerprint, self._redact)
            self._prefix = call_prefix(self._store)
            client.deferred.attach(notes, wait=self._wait)
            client.recall_refused(StoredNotes(self._store, f"{model.fingerprint} refused", self._redact))
        return client

    def stop(self, reason: StopReason, message: str) -> StopRun:
        """Stop the run: send no new attempt, let those in flight finish. The first reason counts."""
        if self.stopped is None:
            self.stopped = StopRun(reason, message)
            self._log.warning("stopping", reason=reason.value, message=message)
            self._stopping.set()
            for client in self._clients:
                if client.deferred is not None:
                    client.deferred.leave()
        return self.stopped

    async def aclose(self) -> None:
        """Close every model's connections."""
        for client in self._clients:
            try:
                await client.aclose()
            except Exception as error:  # a provider's clean-up must not hide the run's outcome
                self._log.warning("model did not close", model=client.name, error=self._redact(repr(error)))

    async def answer(self, client: Client, request: ChatRequest, repeat: int, purpose: str) -> Reply:
        """Answer one request; identical requests of the same repeat are sent once."""
        key = request_key(client.use, client.model, request, repeat)
        reply = await self._answer_once(client, _Call(key, request, purpose))
        self._book(key, client.name, purpose, reply)
        return reply

    async def probe(
        self, client: Client, request: ChatRequest, attempts: int, again: Collection[FaultKind]
    ) -> Reply | ModelFault:
        """Ask a model whether it can be used: never from stored replies, within the budget; or return the last fault.

        Args:
            client: the model.
            request: the request, with the model's sampling.
            attempts: how often at most.
            again: the kinds of faults after which it is asked again.
        """
        call = _Call(request_key(client.use, client.model, request, 0), request, PREFLIGHT)
        for number in range(1, attempts + 1):
            try:
                reply = await self._attempt(client, call)
            except ModelFault as fault:
                if number < attempts and fault.kind in again:
                    await self.sleep(FIRST_WAIT * 2.0**number)
                    continue
                await self._calls.mark_final(call.row)
                return fault
            self._book(call.key, client.name, call.purpose, reply)
            return reply
        raise ValueError("a probe needs at least one attempt")

    def reuse_probe(self, client: Client, request: ChatRequest) -> bool:
        """Tell whether this run holds the answer to a probe, and no call since says that the model cannot be used."""
        key = request_key(client.use, client.model, request, 0)
        reply = stored_reply(key, self._calls, None)
        if reply is None or self._calls.last_outcome(client.name) in _UNUSABLE:
            return False
        client.note_refused(reply.not_settable, request)
        return True

    def book_known(self, client: Client, request: ChatRequest) -> None:
        """Book a reply that is stored, if there is one."""
        key = request_key(client.use, client.model, request, 0)
        if (reply := self.find_reply(key)) is not None:
            self._book(key, client.name, PREFLIGHT, reply)

    def find_reply(self, key: str) -> Reply | None:
        """Return the stored reply to a request, of this run or of another."""
        return stored_reply(key, self._calls, self._cache)

    def _book(self, key: str, model: str, purpose: str, reply: Reply) -> None:
        """Book a reply to whoever it was asked for, also one that somebody paid for before."""
        payer = current_payer()
        if payer is not None and reply.status.value in ANSWERED:
            about = payer.name, payer.task, payer.test
            self._spending.note(payer.owner, key, reply, role=payer.role_of(purpose), model=model, about=about)

    async def _answer_once(self, client: Client, call: _Call) -> Reply:
        key = call.key
        # Another task asks the same question: its reply serves both, unless that task gives up.
        while (under_way := self._in_flight.get(key)) is not None:
            with unless_given_up(under_way):
                # Shielded: one waiter that is cancelled must not end the call for the others.
                return await asyncio.shield(under_way)
        if (reply := self.find_reply(key)) is not None:
            return reply
        mine: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = mine
        try:
            reply = await self._ask(client, call)
        except asyncio.CancelledError:
            mine.cancel()
            raise
        except BaseException as error:
            mine.set_exception(error)
            mine.exception()  # retrieved here, or asyncio warns when no other task awaits it
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            del self._in_flight[key]

    async def _ask(self, client: Client, call: _Call) -> Reply:
        try:
            reply = await self._attempts(client, call)
        except ModelFault as fault:
            await self._calls.mark_final(call.row)
            detail = self._redact(fault.detail)
            about = reply_about_question(fault, detail, call.attempts, client.model.fingerprint)
            if about is not None:
                client.note_answer()
                return about
            # Questions that always fail end last, after all their retries, and fail again in each process. So neither
            # counts: a question that failed while others were answered, nor one that an earlier process gave up.
            alive = client.answered > call.answered or self._calls.given_up_before(call.key, call.row)
            client.note_failure(call.request, counts=not alive)
            # An endpoint that is down would cost every remaining trial all its attempts.
            if client.circuit_open:
                message = too_many_failures(client.name, BREAKER, fault.kind, detail)
                raise self.stop(StopReason.BREAKER, message) from None
            status = Status.TIMEOUT if fault.kind is FaultKind.TIMEOUT else Status.PROVIDER_ERROR
            detail = f"{fault.kind.value}: {detail}"
            return Reply(status=status, detail=detail, attempts=call.attempts, fingerprint=client.model.fingerprint)
        client.note_answer()
        return reply

    async def _attempts(self, client: Client, call: _Call) -> Reply:
        """Attempt a call, with retries."""
        try:
            return await self._attempt(client, call)
        except ModelFault as fault:
            earlier = [fault]

        async def attempt() -> Reply:
            # The first attempt was made above, without the overhead of tenacity, which few calls need.
            if earlier:
                raise earlier.pop()
            return await self._attempt(client, call)

        reply: Reply = await retry_policy(client.use.limits, self.sleep)(attempt)
        return reply

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts, or return early if the run stops."""
        await self.unless_stopped(asyncio.sleep(seconds))

    async def unless_stopped(self, waiting: Coroutine[Any, Any, object]) -> None:
        """Wait for a coroutine, or return early if the run stops."""
        turn = asyncio.ensure_future(waiting)
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            # `wait` and not a timeout: a run that stops wakes all callers at once, however long their limits let them
            # wait.
            await asyncio.wait((turn, stop), return_when=asyncio.FIRST_COMPLETED)
        finally:
            turn.cancel()
            stop.cancel()

    def _check(self) -> None:
        if self.stopped is not None:
            raise self.stopped

    async def _attempt(self, client: Client, call: _Call) -> Reply:
        """Make one attempt, and another one without each setting that the model turns out not to have."""
        while True:
            client.check_needed(call.request)
            request = client.drop_refused(call.request)
            try:
                return await self._attempt_once(client, call, request)
            except ModelFault as fault:
                if not client.note_refused(fault.settings, request):
                    raise
                self._log.info("setting refused", model=client.name, settings=list(fault.settings))
                # Durable first: a later process that takes up the call has to know what it was made without.
                await client.keep_refused()

    async def _attempt_once(self, client: Client, call: _Call, request: ChatRequest) -> Reply:
        """Make one attempt: reserve, write the intent, send, write the outcome."""
        self._check()
        place = await client.take_place(call.request)
        fault: ModelFault | None = None
        latency: float | None = None
        try:
            self._check()
            # Checked again, as the run may have stopped while this call waited for its place.
            reply, durable = await self._send(client, call, request)
            latency = reply.latency
        except ModelFault as error:
            fault = error
            raise
        finally:
            client.leave_place(place, fault, latency)
        # The next call may already have the place. Its intent is written after this outcome or with it, so a kill
        # still leaves at most as many unknown outcomes as there are places.
        await durable
        if self._cache is not None and reply.ok and reply.text:
            self._cache.put(call.key, to_text_once(reply))
        return reply

    async def _reserve(self, client: Client, request: ChatRequest) -> tuple[ChatRequest, float | None]:
        """Reserve a call's worst case, as soon as it fits the budget; return the request as it may be sent.

        Where it does not fit, calls in flight are waited for, because most cost less than is set aside for them. What
        still does not fit is sent with a lower limit for its reply, if the model's replies so far are shorter than it.

        Raises:
            StopRun: it does not fit, or the run stops.
        """
        rates = client.rates
        limit = worst = worst_case(request, rates)
        # One call at a time waits for room, in the order of calls: every bill would wake all of them.
        async with self._turn:
            self._check()
            # Looked up again after each wait: a bill that comes in may say that calls cost more.
            while limit is not None and self.ledger.may_wait(worst := limit * client.seen.factor):
                if self._pending is not None:
                    raise self._pending
                self._settled.clear()
                await self.unless_stopped(self._settled.wait())
                self._check()
        if rates is not None and limit is not None and worst is not None and worst > self.ledger.room:
            worst = client.seen.trial(limit, self.ledger.room)
        if rates is not None and worst is not None and worst > self.ledger.room:
            limited = client.seen.narrow(request, rates, self.ledger.room)
            if limited is not None and client.drop_refused(limited[0]) == limited[0]:
                request, worst = limited
                self._log.info("reserved by what was used so far", model=client.name, usd=worst)
        self.ledger.reserve(worst)
        return request, worst

    async def _intend(self, client: Client, call: _Call, wanted: ChatRequest) -> tuple[ChatRequest, float | None]:
        """Reserve a call's worst case and write its intent, unless an earlier process has handed the call over."""
        resumed = self._calls.resume(call.key) if client.deferred is not None else None
        if resumed is not None:
            call.row, worst, call.attempts = resumed
            worst = worst and worst * client.seen.factor
            self.ledger.resume(worst)
            return wanted, worst
        try:
            request, worst = await self._reserve(client, wanted)
        except StopRun as stop:
            # For any other reason the run has been stopped already.
            if stop.reason is StopReason.BUDGET:
                factor = client.seen.factor
                why = [stop.message, *([bill_sentence(client.name, factor)] if factor > 1.0 else [])]
                stop = self.stop(stop.reason, "; ".join(why))
            raise stop from None
        # Durable before anything is sent: after a kill there is a row for every call that may be billed.
        # The worst case by price, from which a later process learns what the model bills relative to it.
        limit = worst_case(request, client.rates)
        call.row, durable = self._calls.intend(call.key, client.name, call.purpose, time.time(), limit)
        await durable
        return request, worst

    async def _send(self, client: Client, call: _Call, wanted: ChatRequest) -> tuple[Reply, asyncio.Future[None]]:
        """Return the reply and a future that completes once it is durable."""
        rates = client.rates
        if not call.attempts:
            call.answered = client.answered
        call.attempts += 1
        request, worst = await self._intend(client, call, wanted)
        started = time.perf_counter()
        try:
            completion = await client.complete(request, f"{self._prefix}-{call.row}")
            client.note_stated(completion, self._redact)
            reply = read_reply(
                completion,
                self._redact,
                fingerprint=client.model.fingerprint,
                rates=rates,
                latency=time.perf_counter() - started,
                attempts=call.attempts,
                not_settable=client.refusals(call.request),
                answered=time.strftime("%Y-%m-%d", time.gmtime()),
            )
            # Inside of the `try`: an answer that cannot be written down is a fault of the provider like any other.
            payload = to_text_once(reply)
        except StillPendingError as error:  # no outcome: the row stays open, and a later run resumes the call
            self.ledger.lose(worst, billed=True)
            self._pending = StopRun(StopReason.PENDING, f"model '{client.name}' has not answered yet: {error}")
            self._settled.set()
            raise self.stopped or self._pending from None
        except Exception as error:  # a provider's bug, too, ends this call and not the run
            fault = as_fault(error, client.use.limits.timeout)
            # A bug may have lost an answer.
            billed = fault is not error or (fault.kind in _MAYBE_BILLED and fault.sent)
            raise await self._note_fault(client, call, request, fault, worst, billed=billed) from None
        client.seen.note(request, reply, rates)
        cut = reply.status is Status.TRUNCATED and request is not wanted  # by the budget, not by the suite
        limit = worst_case(request, rates)  # not what is reserved where that follows from what was used so far
        durable = self._note_reply(client, call, reply, None if cut else payload, worst, limit)
        if cut:
            await durable
            message = too_long_for_budget(client.name, request.sampling.max_tokens, self.ledger)
            raise self.stop(StopReason.BUDGET, message)
        return reply, durable

    async def _note_fault(
        self, client: Client, call: _Call, request: ChatRequest, fault: ModelFault, worst: float | None, *, billed: bool
    ) -> ModelFault:
        self.ledger.lose(worst, billed=billed)
        self._settled.set()
        detail = self._redact(fault.detail)
        self._log.warning("attempt failed", model=client.name, kind=fault.kind.value, detail=detail)
        outcome = NOT_SETTABLE if refused_in(request, fault.settings) else fault.kind.value
        await self._calls.conclude(
            call.row, outcome=outcome, final=False, cost=None if billed else 0.0, detail=detail, payload=None
        )
        # The preflight gathers the faults of all models before it ends the run.
        if fault.kind in STOPPING and call.purpose != PREFLIGHT:
            raise self.stop(STOPPING[fault.kind], account_message(client.name, fault.kind, detail))
        return fault

    def _note_reply(
        self, client: Client, call: _Call, reply: Reply, payload: str | None, worst: float | None, limit: float | None
    ) -> asyncio.Future[None]:
        self.ledger.settle(worst, reply.cost, most=limit)
        factor = client.seen.factor
        client.seen.note_bill(reply.cost, limit, earlier=call.purpose == PREFLIGHT)
        if client.seen.factor > factor:
            self._log.warning("billed beyond the price", what=bill_sentence(client.name, client.seen.factor))
        self._settled.set()
        self._on_paid()
        return self._calls.conclude(
            call.row, outcome=reply.status.value, final=True, cost=reply.cost, detail=reply.detail, payload=payload
        )
