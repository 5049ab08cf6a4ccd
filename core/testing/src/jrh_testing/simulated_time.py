"""Tests of waiting that take no time and depend on no machine: an event loop whose clock jumps to the next event."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")
_SOON: Final = 1.0
"""Seconds within which something else is due, so that the network is not waited for."""


class _Jumping(selectors.DefaultSelector):
    """Does not wait: lets the time pass. With a network, it first waits for what is on its way."""

    time = 0.0
    network = False

    def select(self, timeout: float | None = None) -> list[Any]:
        # Look without waiting: whatever is ready runs before time moves on.
        arrived = super().select(0)
        if not arrived and self.network and timeout != 0.0:
            # Without anything else to do soon, the answer to a request is what everybody waits for.
            arrived = super().select(0.002 if timeout is not None and timeout < _SOON else 2.0)
        if not arrived:
            # asyncio asks to wait until its next timer; that wait is the step of the clock.
            self.time += max(timeout or 0.0, 0.0)
        return arrived


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and jumps to the next event.

    With `network`, it first gives sockets on loopback the time to answer.
    """

    def __init__(self, *, network: bool = False) -> None:
        """Start the clock."""
        self._jumping = _Jumping()
        self._jumping.network = network
        super().__init__(self._jumping)
        # asyncio runs timers early by this much; the default of a real clock would blur simulated waits.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return self._jumping.time


def in_simulated_time(work: Callable[[], Coroutine[Any, Any, T]], *, network: bool = False) -> tuple[T, float]:
    """Run a coroutine function in a loop of its own; return its result and the simulated seconds it took."""
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(network=network)) as runner:
        result = runner.run(work())
        return result, runner.get_loop().time()
