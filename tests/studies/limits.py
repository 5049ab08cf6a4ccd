"""Study how fast jrh is at servers with and without limits, beside 64 plain workers.

`python -m tests.studies.limits [--calls 6000]` puts calls to simulated servers, in simulated time: the figures are the
same on every machine. It prints the throughput as a share of the ideal, the share of 429s, and the calls that failed
after five attempts. The ideal is what the server answers at most.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import define, field, frozen
from jrh.models.concurrency import AdaptiveConcurrency
from jrh.running.stages.judge import READY
from jrh_testing.simulated_time import in_simulated_time

LATENCY: Final = 0.1
NETWORK: Final = 0.001
WORKERS: Final = 64
MOST_WAIT: Final = 300.0


class Refused(Exception):
    """A 429, and its Retry-After."""


@define
class Server:
    """Decides about a request when it arrives: refuse it, or answer it after so many seconds."""

    spread: float = 0.0
    stray: float = 0.0
    """Share of requests that are refused for no reason."""
    stray_retry_after: float | None = None
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
            if self.stray and self.chance.random() < self.stray:
                raise Refused(self.stray_retry_after)
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
    """Takes tokens out of a bucket that fills evenly and holds those of a second; a request needs one."""

    rate: float = 300.0
    most_tokens: float = field(default=0.0)
    form: str = "exact"
    """Of the Retry-After: `exact`, `whole` seconds, or `bare` without one."""
    tokens: float = field(default=0.0)
    at: float = 0.0

    def __attrs_post_init__(self) -> None:
        self.most_tokens = self.most_tokens or max(self.rate, 1.0)
        self.tokens = self.most_tokens

    def admit(self, now: float) -> float:
        self.tokens = min(self.most_tokens, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if self.tokens < 1.0:
            waits = {"exact": (1.0 - self.tokens) / self.rate, "whole": max(1.0, 1.0 // self.rate), "bare": None}
            raise Refused(waits[self.form])
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
    whole: float
    """Of the ideal throughput, from the first call on and without the last twentieth."""
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
    waited = 0.0
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
            seconds = longer if wait is None else wait if attempt == 0 else max(wait, longer)
            waited += seconds
            if waited > MOST_WAIT:
                return False
            await asyncio.sleep(seconds)
        else:
            gate.release(place, latency=loop.time() - sent)
            return True
    return False


async def put_calls(server: Any, cap: int, calls: int, fixed: bool) -> tuple[int, Any, float]:
    """Put so many calls; return how many failed, the gate, and the seconds it took."""
    gate = Fixed(cap) if fixed else AdaptiveConcurrency(cap)
    feed, spread, failed = iter(range(calls)), random.Random(1), []

    async def worker() -> None:
        for _ in feed:
            if not await _ask(server, gate, spread):
                failed.append(1)  # noqa: PERF401 - counted while others run

    started = asyncio.get_running_loop().time()
    # Plain workers wait themselves; the judge stage has some calls more at hand than may be in flight.
    await asyncio.gather(*[worker() for _ in range(cap if fixed else cap + cap // READY)])
    return len(failed), gate, asyncio.get_running_loop().time() - started


def use(server: Server, ideal: float, *, cap: int = WORKERS, calls: int = 6000, fixed: bool = False) -> Outcome:
    """Put so many calls to a server in simulated time; `ideal`: the most answers a second it gives."""
    (failed, gate, seconds), _ = in_simulated_time(lambda: put_calls(server, cap, calls, fixed))
    return outcome_of(server, ideal, failed, gate, seconds)


def outcome_of(server: Server, ideal: float, failed: int, gate: Any, seconds: float) -> Outcome:
    """Return what came of the calls that a server has answered and refused."""
    times = sorted(server.answered)
    first, last = len(times) // 3, len(times) * 19 // 20
    late = sum(when > times[first] for when in server.refused)
    return Outcome(
        seconds=seconds,
        share=(last - first) / (times[last] - times[first]) / ideal,
        whole=last / times[last] / ideal,
        refused=late / (late + len(times) - first),
        failed=failed,
        gate=gate,
    )


@frozen(kw_only=True)
class Row:
    """A server, and the most answers a second it gives."""

    name: str
    make: Callable[[], Server]
    ideal: float
    calls: float = 1.0
    """Relative to those of the study: slow servers get fewer."""


def grid() -> Iterator[Row]:
    """Yield the servers of the study."""
    most = WORKERS / LATENCY
    for wait in (None, 1.0):
        after = f", Retry-After {wait:g}" if wait else ""
        for stray in (0.0, 0.001, 0.01, 0.05):
            if stray or not wait:
                name = f"no limit, {stray:.1%} stray 429s{after}"
                yield Row(name=name, make=lambda s=stray, w=wait: Server(stray=s, stray_retry_after=w), ideal=most)
        for places in (5, 10, 48):
            name = f"{places} at once{after}"
            yield Row(name=name, make=lambda p=places, w=wait: AtOnce(places=p, retry_after=w), ideal=places / LATENCY)
    yield Row(
        name="no limit, 1.0% stray 429s, Retry-After 99999",
        make=lambda: Server(stray=0.01, stray_retry_after=99999.0),
        ideal=most,
    )
    yield Row(
        name="48 at once, 1.0% stray 429s, Retry-After 1",
        make=lambda: AtOnce(stray=0.01, stray_retry_after=1.0, retry_after=1.0),
        ideal=48 / LATENCY,
    )
    for quota in (5, 10, 48):
        for form in ("whole", "exact"):
            yield Row(
                name=f"{quota} a minute, saved up for a minute, {form}",
                make=lambda q=quota, f=form: PerMinute(rate=q / 60.0, most_tokens=q, form=f),
                ideal=quota / 60.0,
                calls=quota * 20 / 2000,
            )
        yield Row(
            name=f"{quota} in windows of a minute",
            make=lambda q=quota: Windows(quota=q, window=60.0),
            ideal=quota / 60.0,
            calls=quota * 20 / 2000,
        )
    for rate in (1.0, 10.0, 50.0, 300.0):
        for form in ("bare", "whole", "exact"):
            yield Row(
                name=f"{60 * rate:,.0f} a minute, {form}",
                make=lambda r=rate, f=form: PerMinute(rate=r, form=f),
                ideal=rate,
                calls=min(1.0, max(0.15, rate / 25.0)),
            )
    yield Row(name="300 in windows of a second", make=Windows, ideal=300.0)
    yield Row(name="600 in windows of a minute", make=lambda: Windows(quota=600, window=60.0), ideal=10.0, calls=2.0)
    yield Row(name="queues beyond 16", make=Slower, ideal=160.0, calls=1.5)
    yield Row(name="slows down beyond 16, with the square", make=lambda: Slower(power=2.0), ideal=160.0, calls=1.5)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    print(f"{'server':48}  {'jrh: share':>10} {'whole':>6} {'429s':>6} {'failed':>6}   64 workers: share  429s failed")
    for row in grid():
        if asked.only not in row.name:
            continue
        calls = int(asked.calls * row.calls)
        jrh, plain = (use(row.make(), row.ideal, calls=calls, fixed=fixed) for fixed in (False, True))
        print(
            f"{row.name:48}  {jrh.share:10.2f} {jrh.whole:6.2f} {jrh.refused:6.1%} {jrh.failed:6}"
            f"   {plain.share:17.2f} {plain.refused:6.1%} {plain.failed:6}",
            flush=True,
        )


if __name__ == "__main__":
    main()
