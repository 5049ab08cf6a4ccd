"""Count the steps of a run and what they cost, for everything that shows progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from jrh.models.ledger import Spent
from jrh.text import format_dollars


class Counting:
    """Count steps and cost."""

    def __init__(self) -> None:
        self.stage = ""
        self.total: int | None = None
        self.done = 0
        self.earlier = 0
        self._spent = 0.0, 0
        self.started = 0.0
        self.load: Callable[[], str] = str

    def begin(self, stage: str, total: int | None, *, done: int = 0) -> None:
        """Start counting a stage."""
        self.stage, self.total, self.done, self.earlier = stage, total, done, done
        self.started = time.monotonic()

    def advance(self, steps: int = 1) -> None:
        """Count steps."""
        self.done += steps

    def spent(self, spent: Spent) -> None:
        """Update the amount spent."""
        self._spent = spent.paid, spent.unpriced

    @property
    def dollars(self) -> str:
        """Return the amount spent as it is shown."""
        return format_dollars(*self._spent)

    def watch(self, load: Callable[[], str]) -> None:
        """Look here for the calls in flight."""
        self.load = load

    def rate(self) -> float:
        """Return steps per second of this process."""
        seconds = time.monotonic() - self.started
        return (self.done - self.earlier) / seconds if seconds > 0 else 0.0

    def facts(self) -> str:
        """Format rate, cost and time left."""
        rate = self.rate()
        parts = [f"{rate:.0f}/s", self.dollars, *filter(None, [self.load()])]
        if rate > 0 and self.total is not None and self.total > self.done:
            parts.append(f"{(self.total - self.done) / rate:.0f} s left")
        return ", ".join(parts)
