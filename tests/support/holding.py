"""A model that stops in the middle of a run, so that what is to happen there happens there on the busiest machine."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any


class Held:
    """Answers as another model does. It can be told to stop before an answer, and goes on when it is told to."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        self._answer = answer
        self._asked = 0
        self._stop_at = 0
        self._on = Event()

    def stop_before(self, further: int) -> None:
        """Stop before the answer of this number from now on; so many requests have then arrived."""
        self._stop_at = self._asked + further
        self._on.clear()

    def go_on(self) -> None:
        """Give all further answers."""
        self._stop_at = 0
        self._on.set()

    def __call__(self, body: dict[str, Any]) -> Any:
        """Answer. The server has one thread, so nothing else is answered while this waits."""
        self._asked += 1
        if self._stop_at and self._asked >= self._stop_at:
            self._on.wait(150)
        return self._answer(body)
