"""Many jobs at once, a bounded number under way, ended in good order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sized
from typing import TypeVar

T = TypeVar("T")


async def for_each(jobs: Iterable[T], work: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Do the work for every job, at most `workers` at once, started in the order of the jobs.

    The first job that raises (`StopRun` too) ends the feeding: no further job is started, those under way are finished,
    and then the error is raised.
    """
    feed = iter(jobs)
    raised: list[BaseException] = []

    async def worker() -> None:
        for job in feed:
            if raised:
                return
            try:
                await work(job)
            except BaseException as error:  # raised below, once nothing is under way any more
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                raised.append(error)

    async with asyncio.TaskGroup() as group:
        # Where all jobs may be under way at once, `workers` is far above their number.
        for _ in range(min(workers, len(jobs)) if isinstance(jobs, Sized) else workers):
            group.create_task(worker())
    if raised:
        raise raised[0]


def _is_cancelled() -> bool:
    """Tell whether somebody cancels this task; a job may also let out a cancellation of its own making."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
