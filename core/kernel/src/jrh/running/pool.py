"""Many jobs at once, a bounded number under way, ended in good order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()
_AT_FIRST = 256
"""Workers that are started before the first job; more follow while there are jobs for them."""


async def for_each(jobs: Iterable[T], work: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Do the work for every job, at most `workers` at once, started in the order of the jobs.

    The first job that raises (`StopRun` too) ends the feeding: no further job is started, those under way are finished,
    and then the error is raised.
    """
    feed = iter(jobs)

    async def take() -> T:
        return next(feed, _END)

    await for_each_taken(take, work, workers)


async def for_each_taken(
    take: Callable[[], Awaitable[T | None]], work: Callable[[T], Awaitable[None]], workers: int
) -> None:
    """Do the work for every job as `for_each` does; `take` may wait for the next one, and returns None at the end."""
    raised: list[BaseException] = []
    started = 0

    async def worker() -> None:
        while (job := await take()) is not None and job is not _END:
            if raised:
                return
            start_next()
            try:
                await work(job)
            except BaseException as error:  # raised below, once nothing is under way any more
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                raised.append(error)

    async with asyncio.TaskGroup() as group:

        def start_next() -> None:
            """Start one more worker; `workers` may be far above the number of jobs."""
            nonlocal started
            if started < workers and not raised:
                started += 1
                group.create_task(worker())

        for _ in range(min(workers, _AT_FIRST)):
            start_next()
    if raised:
        raise raised[0]


def _is_cancelled() -> bool:
    """Tell whether somebody cancels this task; a job may also let out a cancellation of its own making."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
