"""How many calls a model takes at once: never more than allowed, fewer when it complains, and nobody is forgotten."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh.models.concurrency import PATIENCE, AdaptiveConcurrency, Place
from jrh_testing.simulated_time import in_simulated_time

STEPS = st.lists(
    st.one_of(
        st.just(("ask", 0)),
        st.tuples(st.sampled_from(["succeed", "fail", "give up"]), st.integers(0, 30)),
    ),
    max_size=80,
)


class Crowd:
    """Tasks that want a place, told one by one what happens to them."""

    def __init__(self, maximum: int) -> None:
        self.gate = AdaptiveConcurrency(maximum)
        self.maximum = maximum
        self.waiting: list[asyncio.Task[Place]] = []
        self.inside: list[Place] = []
        self.abandoned = 0

    async def step(self, action: str, which: int) -> None:
        if action == "ask":
            self.waiting.append(asyncio.ensure_future(self.gate.acquire()))
        elif action == "give up" and self.waiting:
            self.waiting.pop(which % len(self.waiting)).cancel()
            self.abandoned += 1
        elif action in ("succeed", "fail") and self.inside:
            self.gate.release(self.inside.pop(which % len(self.inside)), limited=action == "fail")
        await self.settle()

    async def settle(self) -> None:
        before = len(self.inside)
        for _ in range(3):
            await asyncio.sleep(0)
        admitted = [task for task in self.waiting if task.done()]
        self.waiting = [task for task in self.waiting if not task.done()]
        self.inside += [task.result() for task in admitted]
        assert not admitted or len(self.inside) <= max(int(self.gate.limit), before)

    def check(self) -> None:
        assert self.gate.in_flight == len(self.inside) <= self.maximum
        assert 1.0 <= self.gate.limit <= self.maximum
        # Nobody waits while there is a place.
        assert not self.waiting or len(self.inside) >= int(self.gate.limit)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9), STEPS)
def test_whatever_happens_the_limit_holds_and_no_waiter_is_lost(maximum: int, steps: list[tuple[str, int]]) -> None:
    async def live() -> None:
        crowd = Crowd(maximum)
        for action, which in steps:
            await crowd.step(action, which)
            crowd.check()
        while crowd.inside:
            await crowd.step("succeed", 0)
            crowd.check()
        assert not crowd.waiting
        assert crowd.gate.in_flight == 0

    asyncio.run(live())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.data())
def test_a_waiter_that_gives_up_in_the_moment_it_is_let_in_leaves_its_place_to_the_next(
    maximum: int, data: st.DataObject
) -> None:
    async def live() -> None:
        gate = AdaptiveConcurrency(maximum)
        inside = [await gate.acquire() for _ in range(maximum)]
        waiting = [asyncio.ensure_future(gate.acquire()) for _ in range(maximum + 2)]
        await asyncio.sleep(0)
        for since in inside:
            gate.release(since)  # the first waiters have their turn, and have not run yet
        gone = data.draw(st.sets(st.integers(0, len(waiting) - 1)))
        for position in sorted(gone):
            waiting[position].cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        left = [task for position, task in enumerate(waiting) if position not in gone]
        assert sum(task.done() for task in left) == min(len(left), maximum)
        assert gate.in_flight == min(len(left), maximum)
        for task in left:  # in line: each place given back lets the next one in
            gate.release(await asyncio.wait_for(task, 20.0))
        assert gate.in_flight == 0

    asyncio.run(live())


async def refuse(gate: AdaptiveConcurrency, places: list[Place], retry_after: float | None = None) -> None:
    """Refuse calls, and let time pass, so that those sent from now on belong to another group."""
    for place in places:
        gate.release(place, limited=True, retry_after=retry_after)
    await asyncio.sleep(0.0001)


async def test_few_complaints_change_nothing() -> None:
    gate = AdaptiveConcurrency(64)
    together = [await gate.acquire() for _ in range(64)]
    await refuse(gate, together[:8], retry_after=99999.0)
    assert (gate.limit, gate.found) == (64.0, None)
    # Others are sent at once, whatever the Retry-After of those that were refused.
    async with asyncio.timeout(20.0):
        assert len([await gate.acquire() for _ in range(8)]) == 8


async def test_complaints_beyond_chance_lower_the_limit_once_by_a_fifth() -> None:
    gate = AdaptiveConcurrency(64)
    together = [await gate.acquire() for _ in range(64)]
    await refuse(gate, together[:14])
    assert gate.limit == gate.found == pytest.approx(0.8 * 64)
    for place in together[14:]:
        gate.release(place)
    assert gate.limit == pytest.approx(0.8 * 64)


async def test_a_group_of_certain_complaints_lowers_the_limit_to_what_was_accepted_and_never_below_half() -> None:
    gate = AdaptiveConcurrency(64)
    together = [await gate.acquire() for _ in range(64)]
    await refuse(gate, together[:24])
    assert gate.limit == gate.found == 40.0
    await refuse(gate, together[24:])
    assert gate.limit == gate.found == 32.0
    await refuse(gate, [await gate.acquire() for _ in range(32)])  # another group
    assert gate.limit == 16.0


async def test_the_floor_needs_certain_evidence_to_be_passed() -> None:
    gate = AdaptiveConcurrency(9)
    together = [await gate.acquire() for _ in range(9)]
    await refuse(gate, together[:5])
    assert gate.limit == 8.0
    for place in together[5:]:
        gate.release(place)
    await refuse(gate, [await gate.acquire() for _ in range(8)])
    assert gate.limit < 8.0


def test_the_limit_never_falls_below_one_and_recovers_to_the_maximum_once_it_is_used() -> None:
    async def live() -> None:
        gate = AdaptiveConcurrency(6)
        while gate.places > 1:
            await refuse(gate, [await gate.acquire() for _ in range(gate.places)])
        assert 1.0 <= gate.limit < 2.0
        rounds = 0
        while gate.limit < 6.0 and rounds < 500:
            together = [await gate.acquire() for _ in range(gate.places)]
            for place in together:
                gate.release(place)
            rounds += 1
        assert PATIENCE <= rounds <= 60
        assert gate.found is None

    in_simulated_time(live)


async def test_who_gives_up_while_there_is_a_pace_keeps_no_place() -> None:
    gate = AdaptiveConcurrency(1)
    gate.pace.rate, gate.pace._begun = 0.001, asyncio.get_running_loop().time()
    gate.release(await gate.acquire())
    line = asyncio.ensure_future(gate.acquire())
    await asyncio.sleep(0)
    line.cancel()
    await asyncio.sleep(0)
    assert gate.in_flight == 0
