"""Run asynchronous work to its end, also where an event loop is running already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the work in this thread, or in one of its own where an event loop runs here (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    from concurrent.futures import ThreadPoolExecutor

    context = copy_context()  # the other thread sees the same context variables
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(context.run, lambda: asyncio.run(work())).result()
