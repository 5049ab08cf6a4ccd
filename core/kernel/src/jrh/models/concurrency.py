"""Find out how many calls a provider takes at once, and stay just below.

Additive increase, multiplicative decrease (as TCP's), with three additions: the number in flight that was refused is
remembered, so that it is approached again and rarely passed; refusals that say nothing about the number in flight set a
pace instead; and short dips show whether fewer calls are answered faster. Stray refusals, as of a busy gateway, change
nothing: limits change by a test. A Retry-After delays the call that was refused (`retries`), and no other.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from jrh.hashing import content_id
from jrh.models.latency_dips import LatencyDips
from jrh.plugins.protocols import ChatModel, DeferredModel
from jrh.suite.definition import ModelUse

SLACK: Final = 0.1
"""Seconds by which sending may lag behind the pace and catch up."""
BELOW: Final = 0.95
"""The pace after a complaint, as a share of what was accepted."""
GROWTH: Final = 0.03
"""Growth of the pace for every cycle without a complaint."""
LEAST_RATE: Final = 0.9
"""Share of the pace that stays after a complaint, at least."""
WRONG: Final = 0.3
"""Share of the pace below which what is accepted shows that the pace was wrong."""
LONGEST_CYCLE: Final = 20.0
"""Seconds after which the pace has grown by `GROWTH`, at most."""
FORGOTTEN: Final = 2.0
"""Multiple of what was accepted at which the pace is given up."""
MEMORY: Final = 256.0
"""Answers that the share of stray 429s is a mean of."""
MOST_STRAY: Final = 0.06
"""That share at most: a pace that is far too fast is refused for the pace however much it was slowed down."""
LEARNING: Final = 1.0
LONGEST_WINDOW: Final = 60.0
"""Seconds for which requests are counted before the pace is set: at least, and at most."""


class LearntPace:
    """Requests per second that were accepted between two complaints; None until two were seen.

    A cycle ends with the first request after a complaint: by then all complaints of the same group are counted.
    """

    def __init__(self) -> None:
        """Start without a pace."""
        self.rate: float | None = None
        self.stray = 0.0
        """Share of requests that are refused whatever the pace."""
        self._seen = False
        self._cycle = 1.0
        self._begun: float | None = None
        self._accepted = 0
        self._ending = False
        self._learnt_until = 0.0
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
        self._next = due + 1.0 / (self.rate * self.share(now))
        return max(0.0, due - now)

    def expire(self, now: float) -> bool:
        """Give up a pace that has grown without a complaint; tell whether that happened now."""
        if self.rate is None or self.share(now) <= FORGOTTEN:
            return False
        self.rate = None
        return True

    def share(self, now: float) -> float:
        """Return the pace that holds now, relative to what was accepted."""
        return BELOW + GROWTH * (now - (self._begun or now)) / self._cycle

    def note_sent(self, now: float) -> None:
        """Count a request."""
        self._accepted += 1
        if self._begun is None:
            self._begun = now

    def note_outcome(self, since: float, now: float, *, limited: bool) -> None:
        """Take into account what became of a request that was sent at `since`."""
        if self._begun is None or since < self._begun:
            return
        self._accepted -= limited
        # What is refused below the pace that was accepted before is not refused for the pace.
        if self.rate is not None and self.share(now) < 1.0:
            self.stray = min(self.stray + (limited - self.stray) / MEMORY, MOST_STRAY)

    def slow_down(self, now: float, retry_after: float) -> None:
        """Set the pace again, unless that was done so recently that it says nothing yet."""
        if now >= self._learnt_until:
            self._ending = True
            # A Retry-After tells when a provider that counts by windows begins the next one.
            self._learnt_until = now + min(max(LEARNING, retry_after), LONGEST_WINDOW)

    def _end_cycle(self, now: float) -> None:
        self._ending = False
        seconds = now - (self._begun if self._begun is not None else now)
        # What was accepted before the first complaint includes what the provider had saved up.
        measured = max(self._accepted, 1) / max(seconds, 1e-3) / (1.0 - self.stray) if self._seen else None
        # A cycle of a provider that counts by windows may hold a window more or less than it should.
        if measured is not None and self.rate is not None:
            measured = max(measured, (LEAST_RATE if measured > WRONG * self.rate else WRONG) * self.rate)
        self.rate, self._seen = measured, True
        self._cycle = min(max(seconds, 1.0), LONGEST_CYCLE)
        self._begun, self._accepted = now, 0


STRAY: Final = 0.05
LIMITED: Final = 0.3
"""Share of 429s that may be chance, and one that is not."""
STRAY_OF_RATE: Final = 0.01
BEYOND: Final = 0.09
"""The same where there is a pace: at least, and how much more is not chance."""
EVIDENCE: Final = 7.0
"""Logarithm of the likelihood ratio of the two shares from which on a limit changes (Page 1954). Where 429s come by
chance, that takes exp(7) = 1,097 answers on average, at least."""
EVIDENCE_OF_RATE: Final = 5.0
"""The same where there is a pace, which such a change alters by little."""
CERTAIN: Final = 14.0
"""The same for a limit below the floor, for one cut by half, and for a pace where no Retry-After speaks for one: a
million answers."""
BACK_OFF: Final = 0.8
"""Least factor by which evidence reduces the concurrency, unless it is certain."""
FEWEST: Final = 8.0
"""Calls in flight down to which evidence reduces the concurrency, unless it is certain."""
AT_FIRST: Final = 256
"""Calls in flight at once before the first answer; above, the number doubles with every round of answers."""
PATIENCE: Final = 10.0
MOST_PATIENCE: Final = 40.0
"""Rounds of answers after which the number that was refused is tried again: at first, and when it is refused again."""
NEAR: Final = 0.1
"""Difference of two numbers that were refused, as a share, up to which they are the same."""
CATCH_UP: Final = 2.0
"""Calls more in every round, up to the number that was not refused."""
SLOWLY: Final = 0.004
"""Growth in every round, as a share, where more calls in flight were answered more slowly."""
FASTEST: Final = 6.0
"""Doublings of the step by which the limit passes the number that was refused."""
FAR_BELOW: Final = 0.8
"""Share of the most that were accepted at once below which 429s are about the rate."""
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

    429s beyond chance lower the limit to what stays in flight, once per group of requests that were in flight together:
    at most to four fifths and not below the floor, or, where chance is out of the question, at most to half.
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
        self._before = self.limit
        """The limit before it was lowered last."""
        self._rounds = 0.0
        self._patience = PATIENCE
        self._refused = 0.0
        self._slow = False
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._evidence = 0.0
        self._fewest = FEWEST
        self._lowered = False
        """The requests whose complaints lowered the limit are still coming back."""
        self._lowered_at = 0.0

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
        if self.pace.is_known:
            try:
                await self._until_due(moment)
            except asyncio.CancelledError:
                self._leave()
                raise
            moment = loop.time()
        self._sent += 1
        self.pace.note_sent(moment)
        return Place(moment, self._sent)

    async def _until_due(self, now: float) -> None:
        """Wait for the pace."""
        if self.pace.expire(now):
            self._accepted = 0  # perhaps it was a matter of how many are in flight after all
        wait = self.pace.reserve(now)
        if wait > 0.0:
            await self._sleep(wait)

    def release(
        self, place: Place, *, limited: bool = False, retry_after: float | None = None, latency: float | None = None
    ) -> None:
        """Free the place.

        Args:
            place: what `acquire` returned.
            limited: the provider answered 429.
            retry_after: seconds after which the provider wants the call again.
            latency: seconds until the answer, where there is one.
        """
        sent, now = self._sent, asyncio.get_running_loop().time()
        self._sent -= 1
        self.pace.note_outcome(place.since, now, limited=limited)
        if limited:
            self._complain(max(place.level, sent), place.since, now, retry_after or 0.0)
        else:
            self._weigh(limited=False)
            self._accepted = max(self._accepted, min(place.level, sent))
            self._grow(place)
            if latency is not None:
                self._watch(place, latency)
        self._leave()

    def _weigh(self, *, limited: bool) -> float:
        """Add an answer to the evidence for a limit, and return it: Page's cumulative sum of log likelihood ratios."""
        stray, beyond = STRAY, LIMITED
        if self.pace.rate is not None:
            stray = max(self.pace.stray, STRAY_OF_RATE)
            beyond = stray + BEYOND
        against = math.log((1.0 - beyond) / (1.0 - stray))
        self._evidence = max(0.0, self._evidence + (math.log(beyond / stray) if limited else against))
        # Refusals come back sooner than answers, so those in flight are counted as if they were answered. Where there
        # is a pace, they were sent one after the other.
        return self._evidence + (self._sent * against if self.pace.rate is None else 0.0)

    def _complain(self, level: int, since: float, now: float, retry_after: float) -> None:
        # A request sent before the limit was lowered belongs to the same group: one group lowers the limit once.
        if self._lowered and since >= self._lowered_at:
            self._evidence, self._lowered = 0.0, False
        evidence = self._weigh(limited=True)
        certain = evidence >= CERTAIN
        if evidence < (EVIDENCE if self.pace.rate is None else EVIDENCE_OF_RATE):
            return
        self._dips.cancel()
        if (certain or retry_after or self.pace.rate is not None) and level <= max(1.0, FAR_BELOW * self._accepted):
            # More were accepted before: it is not a matter of how many are in flight.
            self.pace.slow_down(now, retry_after)
            self._evidence = 0.0
            self.limit, self.found = max(self.limit, float(self._accepted)), None
            return
        before = self._before if self._lowered else self.limit
        floor = max(1.0, before / 2.0) if certain else max(BACK_OFF * before, min(self._fewest, before))
        if self.limit <= floor:
            return
        if not self._lowered:
            self._lowered, self._lowered_at = True, now
            self._note_too_many(level)
            self._slow, self._before = False, self.limit
            self.found = float(self._sent)
        self.limit = max(floor, min(self.limit, self._sent))
        self.found = max(floor, min(self.found or self._sent, self._sent))
        if certain:
            self._fewest = min(self._fewest, self.limit)

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
            if self._rounds >= self._patience:
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
