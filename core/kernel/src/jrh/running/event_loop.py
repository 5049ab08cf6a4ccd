"""Run asynchronous work to its end, also where an event loop is running already, and many jobs of it at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

_LEAVING: Final = 5.0
"""Seconds that work gets to clean up after it was cancelled."""


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]], stop: Callable[[], object] | None = None) -> T:
    """Run the work in this thread, or in one of its own where an event loop runs here (notebooks).

    Args:
        work: makes the coroutine.
        stop: called at the first interrupt while another thread works; the second one cancels the work.

    Raises:
        KeyboardInterrupt: interrupted for the second time, or without a `stop`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    # asyncio runs no second loop in a thread that runs one.
    return _Thread(work).wait(stop)


async def run_in_thread(work: Callable[[], Coroutine[Any, Any, T]], stop: Callable[[], object]) -> T:
    """Run the work in a thread of its own, so that this event loop stays free; cancelling it stops the work first."""
    waiting = asyncio.wrap_future(_Thread(work).future)
    try:
        # Without the shield a cancellation would reach the future, and the end of the work would be lost.
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait([waiting])
        raise


class _Thread(Generic[T]):
    """Work in a thread with an event loop of its own."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.future: Future[T] = Future()
        self.future.set_running_or_notify_cancel()  # cancelled through the work, which then ends in good order
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._work = work
        context = copy_context()  # the other thread sees the same context variables
        threading.Thread(target=context.run, args=(self._run,), name="jrh-run", daemon=True).start()

    def _run(self) -> None:
        try:
            self.future.set_result(asyncio.run(self._whole()))
        except BaseException as error:  # raised where it is waited for
            self.future.set_exception(error)

    async def _whole(self) -> T:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        return await self._work()

    def wait(self, stop: Callable[[], object] | None) -> T:
        """Wait for the work; an interrupt stops it in good order, a second one (or one without `stop`) cancels it."""
        try:
            return self.future.result()
        except KeyboardInterrupt:
            if stop is None:
                self._cancel()
                raise
        stop()
        return self.wait(None)

    def _cancel(self) -> None:
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop has closed meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)
        # Bounded: work that does not clean up must not keep the interrupt from its caller.
        with suppress(BaseException):
            self.future.result(_LEAVING)


_AT_FIRST: Final = 256
"""Workers that are started before the first job; more follow while there are jobs for them."""


async def for_each(jobs: Iterable[T], work: Callable[[T], Awaitable[None]], workers: int) -> None:
    """Do the work for every job, none of which is None, at most `workers` at once, started in the order of the jobs.

    The first job that raises (`StopRun` too) ends the feeding: no further job is started, those under way are finished,
    and then the error is raised.
    """
    feed = iter(jobs)

    async def take() -> T | None:
        return next(feed, None)

    await for_each_taken(take, work, workers)


async def for_each_taken(
    take: Callable[[], Awaitable[T | None]], work: Callable[[T], Awaitable[None]], workers: int
) -> None:
    """Do the work for every job as `for_each` does; `take` may wait for the next one, and returns None at the end."""
    raised: list[BaseException] = []
    started = 0

    async def worker() -> None:
        while (job := await take()) is not None:
            # Taken before another job failed, and not started any more.
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
