"""Wait for what other tasks do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from jrh.values.verdicts import Reply


async def wait_for(event: asyncio.Event) -> None:
    """Wait for an event, and return nothing."""
    await event.wait()


@contextmanager
def unless_given_up(under_way: asyncio.Future[Reply]) -> Iterator[None]:
    """Suppress the cancellation of another task's call, so that the waiter asks itself."""
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not under_way.cancelled() or (task is not None and task.cancelling()):
            raise
