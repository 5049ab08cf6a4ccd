"""The provider's limit is found, whatever kind it is: nearly all of it is used, and few calls are refused.

The servers live in simulated time, so that thousands of calls cost milliseconds and the figures are the same on every
machine. One of each kind answers over HTTP on loopback, where time passes while nothing is on its way.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector, web
from attrs import define, field, frozen
from jrh.models.concurrency import AdaptiveConcurrency
from jrh_testing import loop_over
from jrh_testing.simulated_time import in_simulated_time

LATENCY = 0.1
NETWORK = 0.001


class Refused(Exception):
    """A 429, and its Retry-After."""


@define
class Server:
    """Decides about a request when it arrives: refuse it, or answer it after so many seconds."""

    spread: float = 0.0
    in_flight: int = 0
    most: int = 0
    answered: list[float] = field(factory=list)
    refused: list[float] = field(factory=list)
    chance: random.Random = field(factory=lambda: random.Random(3))

    def admit(self, now: float) -> float:
        """Return the latency of a request that arrives now."""
        return LATENCY

    async def __call__(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(NETWORK)
        try:
            seconds = self.admit(loop.time())
        except Refused:
            self.refused.append(loop.time())
            raise
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        if self.spread:
            seconds *= self.chance.lognormvariate(-(self.spread**2) / 2, self.spread)
        await asyncio.sleep(seconds)
        self.in_flight -= 1
        self.answered.append(loop.time())


@define
class AtOnce(Server):
    """Takes so many calls at once."""

    places: int = 48
    retry_after: float | None = None

    def admit(self, now: float) -> float:
        if self.in_flight >= self.places:
            raise Refused(self.retry_after)
        return LATENCY


@define
class PerMinute(Server):
    """Takes tokens out of a bucket that fills evenly; a request needs one."""

    rate: float = 300.0
    most_tokens: float = 300.0
    whole_seconds: bool = False
    tokens: float = 300.0
    at: float = 0.0

    def admit(self, now: float) -> float:
        self.tokens = min(self.most_tokens, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens < 1.0:
            raise Refused(1.0 if self.whole_seconds else (1.0 - self.tokens) / self.rate)
        self.tokens -= 1.0
        return LATENCY


@define
class Windows(Server):
    """Takes so many requests in each window."""

    quota: int = 300
    window: float = 1.0
    current: int = -1
    left: int = 0

    def admit(self, now: float) -> float:
        number = int(now / self.window)
        if number != self.current:
            self.current, self.left = number, self.quota
        if self.left == 0:
            raise Refused((number + 1) * self.window - now)
        self.left -= 1
        return LATENCY


@define
class Slower(Server):
    """Answers the slower the more calls beyond so many are in flight; `power` 1 keeps the answers a second."""

    places: int = 16
    power: float = 1.0

    def admit(self, now: float) -> float:
        return LATENCY * max(1.0, ((self.in_flight + 1) / self.places) ** self.power)


@frozen
class Outcome:
    """What came of a number of calls."""

    seconds: float
    share: float
    """Of the ideal throughput, after the first third of the calls and without the last twentieth."""
    refused: float
    """Share of 429s after the first third."""
    failed: int
    gate: Any


class Fixed:
    """A fixed number of calls at once, to compare with."""

    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self.found = None

    async def acquire(self) -> None:
        await self.places.acquire()

    def release(self, place: None, **told: Any) -> None:
        self.places.release()


async def _ask(server: Callable[[], Any], gate: Any, spread: random.Random) -> bool:
    """Ask as the gateway does: five attempts, waiting as long as the server says or ever longer."""
    loop = asyncio.get_running_loop()
    for attempt in range(5):
        place = await gate.acquire()
        sent = loop.time()
        try:
            await server()
        except Refused as error:
            gate.release(place, limited=True, retry_after=error.args[0])
            most = 0.5 * 2.0**attempt
            longer = spread.uniform(most / 2, most)
            wait = error.args[0]
            await asyncio.sleep(longer if wait is None else wait if attempt == 0 else max(wait, longer))
        else:
            gate.release(place, latency=loop.time() - sent)
            return True
    return False


async def _work(server: Any, cap: int, calls: int, fixed: bool) -> tuple[int, Any, float]:
    gate = Fixed(cap) if fixed else AdaptiveConcurrency(cap)
    feed, spread, failed = iter(range(calls)), random.Random(1), []

    async def worker() -> None:
        for _ in feed:
            if not await _ask(server, gate, spread):
                failed.append(1)  # noqa: PERF401 - counted while others run

    started = asyncio.get_running_loop().time()
    await asyncio.gather(*[worker() for _ in range(cap + cap // 4)])
    return len(failed), gate, asyncio.get_running_loop().time() - started


def use(server: Server, ideal: float, *, cap: int = 64, calls: int = 6000, fixed: bool = False) -> Outcome:
    """Put so many calls to a server in simulated time; `ideal`: the most answers a second it gives."""
    (failed, gate, seconds), _ = in_simulated_time(lambda: _work(server, cap, calls, fixed))
    return _outcome(server, ideal, failed, gate, seconds)


def _outcome(server: Server, ideal: float, failed: int, gate: Any, seconds: float) -> Outcome:
    times = sorted(server.answered)
    first, last = len(times) // 3, len(times) * 19 // 20
    late = sum(when > times[first] for when in server.refused)
    return Outcome(
        seconds=seconds,
        share=(last - first) / (times[last] - times[first]) / ideal,
        refused=late / (late + len(times) - first),
        failed=failed,
        gate=gate,
    )


spreads = pytest.mark.parametrize("spread", [0.0, 0.3, 1.0], ids=["even", "spread", "widely-spread"])


@spreads
@pytest.mark.parametrize("retry_after", [None, 1.0], ids=["bare", "retry-after"])
def test_a_limit_of_calls_at_once_is_found_and_used(spread: float, retry_after: float | None) -> None:
    got = use(AtOnce(spread=spread, retry_after=retry_after), ideal=480.0)
    assert got.share >= 0.95
    assert got.refused <= 0.01
    assert got.failed == 0
    assert 46 <= got.gate.found <= 50


def test_a_maximum_far_above_the_limit_costs_no_call() -> None:
    got = use(AtOnce(), ideal=480.0, cap=256)
    assert (got.failed, got.share >= 0.95, got.refused <= 0.01) == (0, True, True)


@spreads
@pytest.mark.parametrize("whole_seconds", [True, False], ids=["whole-seconds", "exact"])
def test_tokens_per_minute_are_used_up_and_hardly_ever_exceeded(spread: float, whole_seconds: bool) -> None:
    got = use(PerMinute(spread=spread, whole_seconds=whole_seconds), ideal=300.0)
    assert got.share >= 0.9
    assert got.refused <= 0.02
    assert got.failed == 0


@spreads
def test_windows_of_requests_are_used_up_and_hardly_ever_exceeded(spread: float) -> None:
    got = use(Windows(spread=spread), ideal=300.0)
    assert got.share >= 0.92
    assert got.refused <= 0.02
    assert got.failed == 0


@loop_over("power", [1.0, 2.0], ids=["queues", "slows-down"])
@loop_over("spread", [0.0, 0.3])
def test_latency_that_grows_beyond_a_number_in_flight_lowers_the_limit_to_it(spread: float, power: float) -> None:
    got = use(Slower(spread=spread, power=power), ideal=160.0, calls=9000)
    assert got.share >= (0.92 if power == 1.0 else 0.75)  # it takes time to notice, and time to dare more
    assert 13 <= got.gate.limit <= 40
    if power > 1.0:
        fixed = use(Slower(spread=spread, power=power), ideal=160.0, calls=9000, fixed=True)
        assert fixed.share < 0.3
        assert got.seconds < fixed.seconds / 2.5


@spreads
@pytest.mark.parametrize(("cap", "rounds"), [(16, 40), (64, 25), (64, 100), (256, 25)])
def test_without_a_limit_the_run_is_as_fast_as_with_a_fixed_number(spread: float, cap: int, rounds: int) -> None:
    ideal = cap / LATENCY
    found = use(Server(spread=spread), ideal, cap=cap, calls=cap * rounds)
    fixed = use(Server(spread=spread), ideal, cap=cap, calls=cap * rounds, fixed=True)
    assert found.seconds <= 1.05 * fixed.seconds
    assert found.gate.limit == cap


# -- over HTTP -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def served(server: Server) -> AsyncIterator[Callable[[], Any]]:
    """Serve on loopback; yield what asks it."""

    async def answer(request: web.Request) -> web.Response:
        try:
            await server()
        except Refused as error:
            wait = error.args[0]
            return web.Response(status=429, headers={} if wait is None else {"Retry-After": f"{wait}"})
        return web.Response()

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    async with ClientSession(connector=TCPConnector(limit=0)) as session:

        async def ask() -> None:
            async with session.get(url) as reply:
                if reply.status == 429:
                    wait = reply.headers.get("Retry-After")
                    raise Refused(None if wait is None else float(wait))

        try:
            yield ask
        finally:
            await runner.cleanup()


@loop_over(
    ("server", "ideal", "lasting"),
    [
        (AtOnce(places=12), 120.0, 2.0),
        (PerMinute(rate=100.0, most_tokens=40.0, tokens=40.0), 100.0, 5.0),
        (Slower(places=20), 200.0, 2.0),
        (Server(), 320.0, 2.0),
    ],
    ids=["calls-at-once", "tokens-per-minute", "latency", "no-limit"],
)
def test_the_same_over_http(server: Server, ideal: float, lasting: float) -> None:
    async def work() -> tuple[int, Any, float]:
        async with served(server) as ask:
            return await _work(ask, 32, int(ideal * lasting), fixed=False)

    (failed, gate, seconds), _ = in_simulated_time(work, network=True)
    got = _outcome(server, ideal, failed, gate, seconds)
    print(f"share {got.share:.2f}, refused {got.refused:.3f}, {seconds:.1f} s")
    assert got.failed == 0
    assert got.refused <= 0.05
    assert got.share >= 0.6
