"""The provider's limit is found, whatever kind it is: nearly all of it is used, and few calls are refused.

The servers live in simulated time, so that thousands of calls cost milliseconds and the figures are the same on every
machine. One of each kind answers over HTTP on loopback, where time passes while nothing is on its way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector, web
from jrh_testing import loop_over
from jrh_testing.simulated_time import in_simulated_time
from studies.limits import (
    LATENCY,
    AtOnce,
    PerMinute,
    Refused,
    Row,
    Server,
    Slower,
    Windows,
    grid,
    outcome_of,
    put_calls,
    use,
)

spreads = pytest.mark.parametrize("spread", [0.0, 0.3, 1.0], ids=["even", "spread", "widely-spread"])


@spreads
@pytest.mark.parametrize("retry_after", [None, 1.0], ids=["bare", "retry-after"])
def test_a_limit_of_calls_at_once_is_found_and_used(spread: float, retry_after: float | None) -> None:
    got = use(AtOnce(spread=spread, retry_after=retry_after), ideal=480.0)
    assert got.share >= 0.95
    assert got.refused <= 0.01
    assert got.failed == 0
    assert 46 <= got.gate.found <= 52


def test_a_maximum_far_above_the_limit_costs_no_call() -> None:
    got = use(AtOnce(), ideal=480.0, cap=256)
    assert (got.failed, got.share >= 0.95, got.refused <= 0.01) == (0, True, True)


@spreads
@pytest.mark.parametrize("whole_seconds", [True, False], ids=["whole-seconds", "exact"])
def test_tokens_per_minute_are_used_up_and_hardly_ever_exceeded(spread: float, whole_seconds: bool) -> None:
    got = use(PerMinute(spread=spread, form="whole" if whole_seconds else "exact"), ideal=300.0)
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


@loop_over("row", list(grid()), ids=[row.name for row in grid()])
def test_nearly_all_that_a_server_takes_is_used(row: Row) -> None:
    """`python -m tests.studies.limits` prints this table, with 64 plain workers beside it."""
    calls = int(2000 * row.calls)
    got = use(row.make(), row.ideal, calls=calls)
    assert got.share >= 0.85
    # A call fails if its Retry-After exceeds its longest wait. At the start, a call may be refused five times.
    assert got.failed <= max(2, calls * 0.012)


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
        (PerMinute(rate=100.0, most_tokens=40.0), 100.0, 5.0),
        (Slower(places=20), 200.0, 2.0),
        (Server(), 320.0, 2.0),
        (Server(stray=0.01, stray_retry_after=1.0), 320.0, 2.0),
    ],
    ids=["calls-at-once", "tokens-per-minute", "latency", "no-limit", "stray-429s"],
)
def test_the_same_over_http(server: Server, ideal: float, lasting: float) -> None:
    async def work() -> tuple[int, Any, float]:
        async with served(server) as ask:
            return await put_calls(ask, 32, int(ideal * lasting), fixed=False)

    (failed, gate, seconds), _ = in_simulated_time(work, network=True)
    got = outcome_of(server, ideal, failed, gate, seconds)
    print(f"share {got.share:.2f}, refused {got.refused:.3f}, {seconds:.1f} s")
    assert got.failed == 0
    assert got.refused <= 0.05
    assert got.share >= 0.6
