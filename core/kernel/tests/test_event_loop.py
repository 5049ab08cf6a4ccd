"""Asynchronous work is run to its end in a notebook, too."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

from jrh.running.event_loop import run_to_end

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


async def who() -> str:
    await asyncio.sleep(0)
    return WHO.get()


def test_work_is_run_where_no_loop_runs() -> None:
    assert run_to_end(who) == "nobody"


def test_work_is_run_inside_of_a_running_loop_with_the_same_context() -> None:
    async def notebook() -> str:
        WHO.set("somebody")
        return run_to_end(who)

    assert asyncio.run(notebook()) == "somebody"
