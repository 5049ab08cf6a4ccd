"""Many jobs at once, ended in good order."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import StopReason, StopRun
from jrh.running.event_loop import for_each


@given(st.integers(0, 40), st.integers(1, 8))
def test_every_job_is_done_once_in_order_and_never_more_at_once_than_workers(jobs: int, workers: int) -> None:
    started: list[int] = []
    under_way: list[int] = []
    most = 0

    async def work(job: int) -> None:
        nonlocal most
        started.append(job)
        under_way.append(job)
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        under_way.remove(job)

    asyncio.run(for_each(range(jobs), work, workers))
    assert started == list(range(jobs))
    assert most == min(jobs, workers)


@pytest.mark.parametrize("error", [ValueError("bad"), StopRun(StopReason.BUDGET, "no more")])
async def test_the_first_error_ends_the_feeding_and_lets_what_is_under_way_finish(error: BaseException) -> None:
    started: list[int] = []
    finished: list[int] = []

    async def work(job: int) -> None:
        started.append(job)
        if job == 2:
            raise error
        await asyncio.sleep(0.01)
        finished.append(job)

    with pytest.raises(type(error)) as raised:
        await for_each(range(100), work, 4)
    assert raised.value is error
    assert finished == [job for job in started if job != 2]
    assert len(started) <= 8


async def test_of_several_errors_the_first_is_raised() -> None:
    turns = [asyncio.Event() for _ in range(3)]
    turns[2].set()

    async def work(job: int) -> None:
        await turns[job].wait()
        turns[job - 1].set()
        raise ValueError(str(job))

    with pytest.raises(ValueError, match="2"):
        await for_each(range(3), work, 3)


async def test_cancelling_it_cancels_what_is_under_way() -> None:
    cancelled: list[int] = []
    started = asyncio.Event()

    async def work(job: int) -> None:
        if job == 2:
            started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(job)
            raise

    running = asyncio.ensure_future(for_each(range(10), work, 3))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sorted(cancelled) == [0, 1, 2]


async def test_a_job_that_was_cancelled_by_its_own_doing_is_not_silently_left_out() -> None:
    done: list[int] = []

    async def work(job: int) -> None:
        if job == 1:
            raise asyncio.CancelledError
        done.append(job)

    with pytest.raises(asyncio.CancelledError):
        await for_each(range(4), work, 1)
    assert done == [0]
