"""Find out how many calls a provider takes at once, and stay just below.

Additive increase, multiplicative decrease (as TCP's), with three additions: the number in flight that was refused is
remembered, so that it is approached again and rarely passed; a Retry-After that says nothing about the number in flight
sets a pace instead; and short dips show whether fewer calls are answered faster.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from jrh.hashing import content_id
from jrh.models.latency_dips import LatencyDips
from jrh.plugins.protocols import ChatModel, DeferredModel
from jrh.suite.definition import ModelUse

SLACK: Final = 0.1
"""Seconds by which sending may lag behind the pace and catch up."""
BELOW: Final = 0.98
"""The pace after a complaint, as a share of what was accepted."""
GROWTH: Final = 0.03
"""Growth of the pace for every cycle without a complaint."""
FORGOTTEN: Final = 2.0
"""Multiple of what was accepted at which the pace is given up."""
SHORTEST: Final = 0.2
"""Seconds of a cycle that measures better than what is known."""
TOO_FAST: Final = 0.95
"""Factor of the pace after a complaint that follows sooner."""


class LearntPace:
    """Requests per second that were accepted between two complaints; None until two were seen.

    A cycle ends with the first request after a complaint: by then all complaints of the same group are counted.
    """

    def __init__(self) -> None:
        """Start without a pace."""
        self.rate: float | None = None
        self._seen = False
        self._cycle = 1.0
        self._begun: float | None = None
        self._accepted = 0
        self._ending = False
        self._next = 0.0

    @property
    def is_known(self) -> bool:
        """Tell whether a pace is known, or is about to be."""
        return self.rate is not None or self._ending

    def reserve(self, now: float) -> float:
        """Return how many seconds to wait before the next request."""
        if self._ending:
            self._end_cycle(now)
        if self.rate is None or self._begun is None:
            return 0.0
        # Without the slack, each late wake-up of the event loop would lower the rate for good.
        due = max(self._next, now - SLACK)
        self._next = due + 1.0 / (self.rate * self._share(now))
        return max(0.0, due - now)

    def expire(self, now: float) -> bool:
        """Give up a pace that has grown without a complaint; tell whether that happened now."""
        if self.rate is None or self._share(now) <= FORGOTTEN:
            return False
        self.rate = None
        return True

    def _share(self, now: float) -> float:
        return BELOW + GROWTH * (now - (self._begun or now)) / self._cycle

    def note_sent(self, now: float) -> None:
        """Count a request."""
        self._accepted += 1
        if self._begun is None:
            self._begun = now

    def note_refused(self) -> None:
        """Count a request as not accepted."""
        self._accepted -= 1

    def slow_down(self) -> None:
        """Set the pace again once all complaints are in."""
        self._ending = True

    def _end_cycle(self, now: float) -> None:
        self._ending = False
        seconds = now - (self._begun if self._begun is not None else now)
        # So short a cycle says little about the rate: the pace known before is better, and was a little too fast.
        if self.rate is not None and seconds < SHORTEST:
            self.rate *= TOO_FAST
            return
        # What was accepted before the first complaint includes what the provider had saved up.
        self.rate = max(self._accepted, 1) / max(seconds, 1e-3) if self._seen else None
        self._seen = True
        self._cycle = max(seconds, 1.0)
        self._begun, self._accepted = now, 0


BACK_OFF: Final = 0.9
"""Factor by which a 429 reduces the concurrency."""
AT_FIRST: Final = 256
"""Calls in flight at once before the first answer; above, the number doubles with every round of answers."""
PATIENCE: Final = 10.0
MOST_PATIENCE: Final = 40.0
"""Rounds of answers after which the number that was refused is tried again: at first, and when it is refused again."""
NEAR: Final = 0.1
"""Difference of two numbers that were refused, as a share, up to which they are the same."""
CATCH_UP: Final = 2.0
"""Calls more in every round, up to the number that was not refused."""
PAUSES: Final = 20.0
"""Times the provider's Retry-After that pass before the number that was refused is tried again."""
SLOWLY: Final = 0.01
"""Growth in every round, as a share, where more calls in flight were answered more slowly."""
FASTEST: Final = 6.0
"""Doublings of the step by which the limit passes the number that was refused."""
FAR_BELOW: Final = 0.8
"""Share of the most that were accepted at once below which a 429 with a Retry-After is about the rate."""
USED: Final = 0.75
"""Share of the limit that must be in flight for an answer to count: what is not used is not tried."""


class Place(NamedTuple):
    """A place that a call has taken."""

    since: float
    """Loop time at which it was granted."""
    level: int
    """Calls in flight then, this one included."""


class AdaptiveConcurrency:
    """At most `limit` calls in flight, between 1 and a maximum.

    A 429 lowers the limit to what stays in flight, once per group of requests that were in flight together and never
    below half. A Retry-After closes the gate for everybody until it has passed.
    """

    def __init__(
        self, maximum: int, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, first: int = AT_FIRST
    ) -> None:
        """Start at the maximum, or at the first limit; `sleep` may return early when the run stops."""
        self.maximum = maximum
        self.limit = float(min(maximum, first))
        self.found: float | None = None
        """The number in flight that was found to be too many, less one; None where none was."""
        self.pace = LearntPace()
        self.in_flight = 0
        self._sleep = sleep
        self._dips = LatencyDips()
        self._sent = 0
        self._accepted = 0
        self._floor = 1.0
        self._rounds = 0.0
        self._patience = PATIENCE
        self._refused = 0.0
        self._slow = False
        self._quiet_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = 0.0
        self._complained_at = 0.0

    def widen(self, places: int) -> None:
        """Raise the maximum: another model of the suite shares the provider's limit."""
        # Each entry of the suite brings its places, so that two entries are not slower than one with their sum.
        self.maximum += places
        if self.found is None:
            self.limit = float(min(self.maximum, AT_FIRST))

    def describe(self) -> str:
        """Describe what was found, such as `limit found 48`; empty where nothing was."""
        if self.pace.rate is not None:
            return f"limit found {self.pace.rate * 60:,.0f} requests a minute"
        return f"limit found {int(self.found)}" if self.found is not None else ""

    @property
    def places(self) -> int:
        """Return how many calls may be in flight now."""
        # At least one: with none no answer would ever raise the limit again.
        return max(1, int(self._dips.effective_limit(self.limit)))

    async def acquire(self) -> Place:
        """Wait for a free place; pass what is returned to `release`."""
        loop = asyncio.get_running_loop()
        if self._open_at > loop.time():
            await self._until_open()
        if self._waiting or self.in_flight >= self.places:
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                # The place had been given to this call before it was cancelled: it goes to the next one.
                if turn.done() and not turn.cancelled():
                    self._leave()
                raise
        else:
            self.in_flight += 1
        moment = loop.time()
        if self._open_at > moment or self.pace.is_known:
            try:
                await self._until_due(loop)
            except asyncio.CancelledError:
                self._leave()
                raise
            moment = loop.time()
        self._sent += 1
        self.pace.note_sent(moment)
        return Place(moment, self._sent)

    async def _until_due(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the gate, which a 429 may have closed while this call waited in line, and for the pace."""
        if self._open_at > loop.time():
            await self._until_open()
        if self.pace.expire(loop.time()):
            self._accepted = 0  # perhaps it was a matter of how many are in flight after all
        wait = self.pace.reserve(loop.time())
        if wait > 0.0:
            await self._sleep(wait)
            if self._open_at > loop.time():
                await self._until_open()

    async def _until_open(self) -> None:
        """Wait while the gate is closed, or until the run stops."""
        loop = asyncio.get_running_loop()
        while (seconds := self._open_at - loop.time()) > 0.0:
            started = loop.time()
            await self._sleep(seconds)
            if loop.time() < started + seconds / 2.0:  # the sleep ended early: the run stops
                return

    def release(
        self, place: Place, *, limited: bool = False, retry_after: float | None = None, latency: float | None = None
    ) -> None:
        """Free the place.

        Args:
            place: what `acquire` returned.
            limited: the provider answered 429.
            retry_after: seconds for which the provider wants no call.
            latency: seconds until the answer, where there is one.
        """
        sent = self._sent
        self._sent -= 1
        if limited:
            self._complain(max(place.level, sent), place.since, asyncio.get_running_loop().time(), retry_after or 0.0)
        else:
            self._accepted = max(self._accepted, min(place.level, sent))
            self._grow(place)
            if latency is not None:
                self._watch(place, latency)
        self._leave()

    def _complain(self, level: int, since: float, now: float, retry_after: float) -> None:
        # A request sent before the last complaint belongs to the same group: one group lowers the limit once.
        first = since >= self._complained_at
        self._complained_at = now if first else self._complained_at
        self._open_at = max(self._open_at, now + retry_after)
        self._dips.cancel()
        self.pace.note_refused()
        if retry_after and level < FAR_BELOW * self._accepted:
            # More were accepted before: it is not a matter of how many are in flight.
            self.pace.slow_down()
            self.limit, self.found = max(self.limit, float(self._accepted)), None
            return
        self._quiet_until = max(self._quiet_until, now + PAUSES * retry_after)
        if first:
            self._note_too_many(level)
            self._slow, self._floor = False, max(1.0, self.limit / 2.0)
            self.limit = self.limit * BACK_OFF
            self.found = float(self._sent)
        self.limit = max(self._floor, min(self.limit, self._sent))
        self.found = max(self._floor, min(self.found or self._sent, self._sent))

    def _note_too_many(self, level: float) -> None:
        """Wait longer before more calls are tried than were too many, each time that as many are too many again."""
        same = abs(level - self._refused) <= max(NEAR * level, 1.0)
        self._patience = min(2.0 * self._patience, MOST_PATIENCE) if same else PATIENCE
        self._refused, self._rounds = level, 0.0

    def _grow(self, place: Place) -> None:
        if place.level < USED * self.places or self._dips.under_way:
            return
        if self.found is None:
            self.limit = min(float(self.maximum), self.limit + 1.0)
        elif self.limit < self.found:
            self.limit = min(self.found, self.limit + CATCH_UP / self.limit)
        else:
            # One answer is that part of a round.
            self._rounds += 1.0 / self.limit
            if self._rounds >= self._patience and place.since >= self._quiet_until:
                step = SLOWLY * self.limit if self._slow else 2.0 ** min(self._rounds - self._patience, FASTEST)
                self.limit = min(float(self.maximum), self.limit + step / self.limit)
                self.found = None if self.limit >= self.maximum else self.limit

    def _watch(self, place: Place, latency: float) -> None:
        if not self._waiting:  # what is not used shows nothing
            self._dips.cancel()
            return
        lower = self._dips.note(place.since, latency, self.limit, self._sent, asyncio.get_running_loop().time())
        if lower is not None:
            self._note_too_many(self.limit)
            self.limit = self.found = lower
            self._slow = True

    def _leave(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.places:
            turn = self._waiting.popleft()
            # Calls that were cancelled in line are still in it.
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


class SharedConcurrency:
    """One adaptive concurrency for each model, endpoint and key; each entry of the suite adds its places."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Start with none; `sleep` may return early when the run stops."""
        self._sleep = sleep
        self._known: dict[str, tuple[str, AdaptiveConcurrency]] = {}

    def of(self, use: ModelUse, model: ChatModel, places: int) -> AdaptiveConcurrency:
        """Return the concurrency of a model, with so many places more."""
        if isinstance(model, DeferredModel):  # hands calls over and waits for hours: there is no limit to find
            return AdaptiveConcurrency(places, self._sleep, first=places)
        # Options that name a variable with a key: the limit of a provider is that of an account.
        keys = {name: value for name, value in use.options.items() if name.endswith("_env")}
        shared = content_id(use.component, model.fingerprint, keys)
        if shared in self._known:
            name, concurrency = self._known[shared]
            concurrency.widen(places)
            self._known[shared] = f"{name}, {use.name}", concurrency
        else:
            self._known[shared] = use.name, AdaptiveConcurrency(places, self._sleep)
        return self._known[shared][1]

    def describe(self) -> str:
        """Describe what is in flight and what was found, of the models in use."""
        busy = [(name, concurrency) for name, concurrency in self._known.values() if concurrency.in_flight]
        if not busy:
            return ""
        limits = [(name, text) for name, concurrency in busy if (text := concurrency.describe())]
        named = [f"{text} ({name})" if len(busy) > 1 else text for name, text in limits]
        return ", ".join([f"{sum(concurrency.in_flight for _, concurrency in busy)} at once", *named])
