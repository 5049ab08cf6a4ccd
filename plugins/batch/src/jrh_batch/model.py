"""A chat model behind a batch API: collect calls, submit them together, wait, and take up again what a kill cut off.

The order of steps keeps every call from being submitted twice: the calls of a batch are noted, then its file, then the
batch is created, then its id is noted. After a kill, a batch that was noted without an id is looked for at the provider
before any of its calls is submitted again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from attrs import evolve
from jrh import ChatRequest
from jrh.errors import FaultKind, ModelFault, StillPendingError
from jrh.plugins import Completion, Logger, ModelNotes, Rates

from jrh_batch.batches import Answers, Batch, Dialect, Look, Outcome, Refusal
from jrh_batch.http import ATTEMPTS, pause, retry
from jrh_batch.options import BatchOptions

_FIRST_LOOK: Final = 1.0
_GROWTH: Final = 1.5
_GONE: Final = (404, 410)
_NO_ACCOUNT: Final = (FaultKind.UNAUTHORIZED, FaultKind.NO_CREDIT)
_OVERDUE: Final = 48 * 3600.0
"""Seconds after which a batch should have ended: both providers give it 24 hours."""
_LAST_PATIENCE: Final = 150.0
"""Seconds that closing waits for a submission under way: an id that is not noted costs a search later."""


class BatchModel:
    """A `jrh.plugins.DeferredModel`: many calls in one batch."""

    def __init__(self, options: BatchOptions, dialect: Dialect, fingerprint: str, log: Logger) -> None:
        """Keep the provider's protocol; nothing is sent before the first call."""
        self._options = options
        self._dialect = dialect
        self.fingerprint = fingerprint
        """The model and the endpoint, and a digest of what else routes."""
        self.rates = Rates(input=0.0, output=0.0) if options.free else None
        """Zero for a free model, otherwise None: the protocols have no prices."""
        self.price_factor = options.price_factor
        """The share of the suite's price that a call costs."""
        self.at_once = options.in_flight
        """How many calls may wait for their answers."""
        self._log = log
        self._notes: ModelNotes | None = None
        self._wait = True
        self._left = False
        self._answers = Answers()
        self._collected: dict[str, bytes] = {}
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._batches: dict[str, Batch] = {}
        """By name, those of earlier processes included."""
        self._batch_of: dict[str, str] = {}
        """Call -> name of its batch."""
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._submitting: set[asyncio.Task[Batch]] = set()
        self._looked: set[str] = set()
        """Names of batches that had not ended when they were looked at."""
        self._earlier: frozenset[str] = frozenset()
        """Names of batches that earlier processes noted."""
        self._refused: set[str] = set()
        """Names of batches that the provider's queue had no room for."""
        self._most = dialect.max_requests
        """The largest number of calls in a batch."""
        self._unread: dict[str, str] = {}
        """Name of a batch -> why its results cannot be read yet."""
        self._one_ended = asyncio.Event()

    def attach(self, notes: ModelNotes, *, wait: bool) -> None:
        """Take up the batches of earlier processes."""
        self._notes, self._wait = notes, wait
        for text in notes.read().values():
            self._know(Batch.from_text(text))
        self._earlier = frozenset(self._batches)

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request that no run keeps."""
        return await self.complete_call(f"single-{uuid4().hex}", request)

    async def complete_call(self, call: str, request: ChatRequest) -> Completion:
        """Put a call into a batch, or take it up in the one it is in; wait for its answer."""
        if self._left:
            raise StillPendingError("the run stops")
        early = self._answers.claim(call)
        if early is not None:
            return early
        answer = self._answers.expect(call, request)
        try:
            self._begin(call, request)
            return await answer
        finally:
            self._answers.leave(call)

    def leave(self) -> None:
        """End all waiting calls in `StillPendingError`; what is being submitted is still noted."""
        self._left = True
        self._stop_timer()
        self._collected.clear()
        self._answers.pend(self._answers.calls_waiting(), self._whereabouts())

    async def aclose(self) -> None:
        """Finish the notes of what is being submitted; the batches go on at the provider."""
        self._left = True
        self._stop_timer()
        if self._submitting:
            await asyncio.wait(self._submitting, timeout=_LAST_PATIENCE)
        tasks = list(self._followed.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._dialect.aclose()

    def __repr__(self) -> str:
        """Show the fingerprint."""
        return f"BatchModel({self.fingerprint})"

    # -- collecting --------------------------------------------------------------------------------------------------

    def _begin(self, call: str, request: ChatRequest) -> None:
        name = self._batch_of.get(call)
        if name is None:
            self._collect(call, self._dialect.line(call, request))
        elif name not in self._followed:
            self._start(name, self._resume(self._batches[name]))

    def _collect(self, call: str, line: bytes) -> None:
        if self._collected and self._size + len(line) > self._dialect.max_bytes:
            self._submit_collected()
        self._collected[call] = line
        self._size += len(line) + 1
        self._stop_timer()
        if len(self._collected) >= self._most:
            self._submit_collected()
            return
        # Restarted with every call: a batch leaves when no more calls arrive.
        self._timer = asyncio.get_running_loop().call_later(self._options.collect_seconds, self._submit_collected)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _submit_collected(self) -> None:
        self._stop_timer()
        lines, self._collected, self._size = self._collected, {}, 0
        if lines and not self._left:
            batch = Batch(name=f"jrh-{uuid4().hex[:20]}", calls=tuple(lines), noted=time.time())
            self._know(batch)
            self._start(batch.name, self._submit_and_follow(batch, list(lines.values())))

    def _know(self, batch: Batch) -> None:
        self._batches[batch.name] = batch
        self._batch_of.update(dict.fromkeys(batch.calls, batch.name))

    async def _forget(self, batch: Batch) -> None:
        """Forget a batch that the provider has done and will do nothing about."""
        if self._notes is not None:
            await self._notes.write(batch.name, "")
        self._batches.pop(batch.name, None)
        for call in batch.calls:
            self._batch_of.pop(call, None)

    async def _note(self, batch: Batch) -> Batch:
        if not self._batches[batch.name].id:
            batch = evolve(batch, noted=time.time())
        self._know(batch)
        if self._notes is not None:
            await self._notes.write(batch.name, batch.to_text())
        return batch

    # -- one batch, in a task of its own -----------------------------------------------------------------------------

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        async def guard() -> None:
            try:
                await work
            except ModelFault as fault:
                self._answers.pend(self._calls_waiting(name), f"{self._whereabouts()}; {fault.detail}")
            except StillPendingError as error:
                self._answers.pend(self._calls_waiting(name), str(error))
            except Exception as error:  # a bug must not lose what the provider may have
                self._log.warning("batch failed", batch=name, error=repr(error))
                self._answers.pend(self._calls_waiting(name), f"{self._whereabouts()}; {type(error).__name__}")
            finally:
                self._followed.pop(name, None)
                # A new event each time, so that every wait is for the next batch to end.
                self._one_ended.set()
                self._one_ended = asyncio.Event()
                self._leave_if_idle()

        self._looked.discard(name)
        self._followed[name] = asyncio.ensure_future(guard())

    async def _submit_and_follow(self, batch: Batch, lines: Sequence[bytes]) -> None:
        """Submit a batch and follow it to its end."""
        submission = asyncio.ensure_future(self._submit(batch, lines))
        self._submitting.add(submission)
        try:
            # Shielded: a batch that is created and not noted would have to be searched for.
            batch = await asyncio.shield(submission)
        except ModelFault as fault:
            # Nothing was submitted, or `_create` would have found it.
            await self._forget(batch)
            if fault.kind is FaultKind.RATE_LIMIT and len(self._followed) > 1:
                await self._wait_for_queue(batch, Refusal(text=fault.detail, queue_full=True))
            else:
                self._answers.deliver_all(batch.calls, fault)
            return
        finally:
            submission.add_done_callback(self._submitting.discard)
        await self._follow(batch)

    async def _submit(self, batch: Batch, lines: Sequence[bytes]) -> Batch:
        batch = await self._note(batch)
        try:
            # A file that is uploaded twice costs nothing.
            file = await retry(lambda: self._dialect.upload(batch, lines))
        except ModelFault as fault:
            # No file, no batch: nothing was asked, so nothing is billed.
            raise ModelFault(fault.kind, fault.detail, status=fault.status, sent=False) from None
        batch = await self._note(evolve(batch, file=file))
        if self._left:
            # After leaving, nothing may be created: its id would not be noted.
            raise StillPendingError("the run stops")
        created = await self._create(batch, lines)
        self._log.info("batch submitted", batch=created, calls=len(batch.calls))
        return await self._note(evolve(batch, id=created))

    async def _create(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Create the batch once: where an attempt may have succeeded, look for it before the next."""
        detail = ""
        for attempt in range(ATTEMPTS):
            try:
                return await self._dialect.create(batch, lines)
            except ModelFault as fault:
                # What was refused or never sent has created nothing, so it may be sent again at once.
                nothing_created = fault.kind is FaultKind.RATE_LIMIT or not fault.sent
                if not fault.retryable or (nothing_created and attempt + 1 == ATTEMPTS):
                    raise
                if nothing_created:
                    await pause(attempt, fault)
                    continue
                detail = fault.detail
            # A new batch may not be listed yet, and would then be created twice.
            await asyncio.sleep(self._options.settle_seconds)
            created = await self._find(batch)
            if created:
                return created
        raise StillPendingError(f"batch '{batch.name}' could not be created: {detail}")

    async def _find(self, batch: Batch) -> str:
        """Return the id of a batch that may have been created; the empty text if it was not."""
        # Two batches of this run may have the same size and time.
        taken = frozenset(other.id for other in self._batches.values() if other.id)
        seconds = min(_FIRST_LOOK, self._options.poll_seconds)
        while True:
            try:
                return await self._dialect.find(batch, taken)
            except ModelFault as fault:
                why = f"cannot tell whether batch '{batch.name}' was created: {fault.detail}"
                raise StillPendingError(why) from None
            except StillPendingError:  # a batch must end before it shows whose it is
                if self._left:
                    raise
            seconds = await self._sleep_between_looks(batch, seconds)

    async def _resume(self, batch: Batch) -> None:
        """Follow a batch of an earlier process; where it was never submitted, submit what still waits for it."""
        if not batch.id:
            # At most an hour: a clock that was set back must not make this wait for days.
            await asyncio.sleep(max(0.0, min(batch.noted + self._options.settle_seconds - time.time(), 3600.0)))
            created = await self._find(batch)
            self._looked.discard(batch.name)
            if not created:
                await self._forget(batch)
                self._collect_again(batch.calls)
                return
            batch = await self._note(evolve(batch, id=created))
        await self._follow(batch)

    async def _follow(self, batch: Batch) -> None:
        """Look at a batch until its results are handed out, or could not be read for too long."""
        first = seconds = min(_FIRST_LOOK, self._options.poll_seconds)
        now = asyncio.get_running_loop().time
        until = now() + self._patience(batch) if batch.unread_since else float("inf")
        while True:
            last = now() >= until
            look = await self._look(batch)
            if look.refusal is not None:
                return await self._handle_refusal(batch, look.refusal)
            why = await self._hand_out(batch, look, last=last) if look.ended else look.unclear
            if look.ended and not why:
                return None
            if last and why:
                return self._give_up(batch, why)
            self._unread[batch.name] = why
            if bool(why) != bool(batch.unread_since):
                # Noted, so that runs that do not wait share one patience.
                batch = await self._note(evolve(batch, unread_since=time.time() if why else 0.0))
                until = now() + self._patience(batch) if why else float("inf")
                seconds = first
            seconds = await self._sleep_between_looks(batch, seconds)

    def _patience(self, batch: Batch) -> float:
        """Return how many more seconds are waited for what cannot be read; at least for one more look."""
        least = self._options.poll_seconds if self._wait else 0.0
        # A clock that was set back must not make this wait for days.
        return max(least, self._options.results_seconds - max(0.0, time.time() - batch.unread_since))

    async def _look(self, batch: Batch) -> Look:
        try:
            look = await self._dialect.look(batch)
        except ModelFault as fault:
            # One such answer may be a gateway's error, and what was submitted may be billed.
            if fault.status in _GONE or fault.kind is FaultKind.MALFORMED:
                return Look(unclear=fault.detail)
            if not fault.retryable or not self._wait:
                raise
            # A batch takes hours: an outage of the provider or of the network is waited out.
            self._log.warning("cannot check batch; trying again", batch=batch.id, detail=fault.detail)
            look = Look()
        if not look.ended and time.time() > batch.noted + _OVERDUE:
            return evolve(look, unclear=look.unclear or "it should have ended a day ago")
        return look

    def _give_up(self, batch: Batch, why: str) -> None:
        """Leave the calls of a batch that cannot be read to a later run, or let them be asked again by agreement."""
        self._log.warning("batch cannot be read", batch=batch.id, detail=why)
        if self._options.rebuy and batch.name in self._earlier:
            self._answers.deliver_all(batch.calls, ModelFault(FaultKind.MALFORMED, why))
            return
        told = f"batch {batch.id} cannot be read: {why}. It may be billed, so jrh asks again only with `rebuy: true`"
        for call in batch.calls:
            self._answers.deliver(call, StillPendingError(told))

    async def _sleep_between_looks(self, batch: Batch, seconds: float) -> float:
        """Note that a batch had not ended, and wait; return how long to wait after the next look."""
        self._looked.add(batch.name)
        self._leave_if_idle()
        await asyncio.sleep(seconds)
        return min(self._options.poll_seconds, seconds * _GROWTH)

    async def _hand_out(self, batch: Batch, look: Look, *, last: bool) -> str:
        """Hand out the results of a batch that has ended; return what is still to be read, or the empty text.

        Answers are handed out as they are read, and everything else when nothing more is to be read: the answer of a
        call that seems to have failed may be in the part that is missing, and would be bought twice.
        """
        answered, failed, detail = await self._read(batch, look)
        numbers = len(answered), len(failed), len(batch.calls)
        why = look.explain_unread(*numbers)
        if why and not (last and look.tells_of_all(*numbers)):
            return f"{why} ({detail})" if detail else why
        for call, outcome in failed.items():
            self._answers.deliver(call, outcome)
        if look.unanswered is not None:
            missing = [call for call in batch.calls if call not in answered and call not in failed]
            self._answers.deliver_all(missing, look.unanswered)
        return ""

    async def _read(self, batch: Batch, look: Look) -> tuple[set[str], dict[str, Outcome], str]:
        """Read the results and hand out the answers; return their calls, those that failed, and what went wrong."""
        calls = frozenset(batch.calls)
        answered: set[str] = set()
        unread: set[str] = set()
        failed: dict[str, Outcome] = {}
        detail = ""
        try:
            async for result in self._dialect.results(batch, look):
                call, outcome = result.call, result.outcome
                if isinstance(outcome, ModelFault) and not result.failed:
                    unread.add(call)
                    detail = outcome.detail
                elif call not in calls or call in (failed if result.failed else answered):
                    self._log.warning("unexpected or repeated result dropped", batch=batch.id, call=call)
                elif result.failed:
                    failed[call] = outcome
                else:
                    answered.add(call)
                    self._answers.deliver(call, outcome)
        except ModelFault as fault:
            if fault.kind in _NO_ACCOUNT:
                raise
            detail = fault.detail
        # An answer counts, wherever it is; a line that may be one is no failure.
        return answered, {call: failed[call] for call in failed if call not in answered | unread}, detail

    async def _handle_refusal(self, batch: Batch, refusal: Refusal) -> None:
        """Handle a batch that the provider did no work on: nothing in it was billed."""
        self._log.warning("batch refused", batch=batch.id, reason=refusal.text)
        await self._forget(batch)
        if refusal.queue_full:
            await self._wait_for_queue(batch, refusal)
        elif refused := {place: fault for place, fault in refusal.lines.items() if place < len(batch.calls)}:
            for place, fault in refused.items():
                self._answers.deliver(batch.calls[place], fault)
            # Lines without a fault of their own are in order, and go into the next batch.
            self._collect_again(batch.calls)
        else:
            self._answers.deliver_all(batch.calls, refusal.fault)

    async def _wait_for_queue(self, batch: Batch, refusal: Refusal) -> None:
        """Submit a batch again once another one has ended; where there is none, in batches of half the size."""
        calls = self._answers.calls_waiting(batch.calls)
        if not self._wait:
            self._answers.pend(calls, f"the provider's queue is full: {refusal.text}")
            return
        self._refused.add(batch.name)
        if self._followed.keys() - self._refused:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._one_ended.wait(), self._options.poll_seconds * ATTEMPTS)
            self._collect_again(calls)
        elif len(calls) > 1:
            # No other batch is in the queue, so this one alone is too large for it. The limit stays: together, halves
            # that are refused as well would be too large for ever.
            self._most = len(calls) // 2
            self._collect_again(calls)
        else:
            # The queue may have room by now: the call is made again, as often as any other.
            self._answers.deliver_all(calls, ModelFault(FaultKind.SERVER_ERROR, refusal.fault.detail))

    def _collect_again(self, calls: Sequence[str]) -> None:
        for call in calls:
            request = self._answers.open_request(call)
            if request is not None:
                self._collect(call, self._dialect.line(call, request))

    # -- leaving -----------------------------------------------------------------------------------------------------

    def _calls_waiting(self, name: str) -> list[str]:
        batch = self._batches.get(name)
        return self._answers.calls_waiting(batch.calls) if batch is not None else []

    def _leave_if_idle(self) -> None:
        """Leave, in a run that does not wait, once every batch is submitted and was looked at."""
        under_way = set(self._followed)
        if not self._wait and not self._collected and not self._left and under_way and self._looked >= under_way:
            self.leave()

    def _whereabouts(self) -> str:
        """Say how many calls wait in which batches."""
        names = {self._batch_of[call] for call in self._answers.calls_waiting() if call in self._batch_of}
        ids = sorted(self._batches[name].id or name for name in names)
        shown = ", ".join(ids[:3]) + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")  # noqa: PLR2004 - enough to find
        where = f" in {'batch' if len(ids) == 1 else 'batches'} {shown}" if ids else ""
        reasons = [f"; {why}" for name in sorted(names) if (why := self._unread.get(name))]
        return f"{len(self._answers)} calls wait{where}{''.join(reasons[:1])}"
