"""Many questions at once; the answers come back in the order of the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE: Final = 64
"""Questions under way at once; models have limits of their own."""


async def together(jobs: Sequence[T], work: Callable[[T], Awaitable[R]]) -> list[R]:
    """Do the work for every job and return the results in the order of the jobs.

    After the first job that raises (the end of the run too) no further one is started; those under way are finished,
    since their answers are paid for, and then the error is raised.
    """
    results: dict[int, R] = {}
    raised: list[BaseException] = []
    feed = iter(enumerate(jobs))

    async def worker() -> None:
        for place, job in feed:
            if raised:
                return
            try:
                results[place] = await work(job)
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # raised below, once nothing is under way any more
                raised.append(error)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(AT_ONCE, len(jobs))):
            group.create_task(worker())
    if raised:
        raise raised[0]
    return [results[place] for place in range(len(jobs))]
