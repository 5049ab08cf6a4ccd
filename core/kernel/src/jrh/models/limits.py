"""Limit the load on a model: requests and tokens per minute, and adaptive concurrency."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from aiolimiter import AsyncLimiter

from jrh.suite.definition import Limits

BACK_OFF: Final = 0.7
"""Factor by which a 429 reduces the concurrency."""
REQUEST_WINDOW: Final = 1.0
TOKEN_WINDOW: Final = 10.0
"""Window of the rate limit in seconds: a burst may exceed the even rate by one window's worth."""


class AdaptiveConcurrency:
    """Additive increase, multiplicative decrease (as TCP's): at most `limit` in flight, between 1 and a maximum.

    A 429 lowers the limit once per group of requests that were in flight together; each success raises it by 1/limit.
    A Retry-After closes the gate for everybody until it has passed.
    """

    def __init__(self, maximum: int, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Start at the maximum; `sleep` may return early when the run stops."""
        self._maximum = maximum
        self._sleep = sleep
        self.limit = float(maximum)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = 0.0
        self._lowered_at = 0.0

    async def acquire(self) -> float:
        """Wait for a free place; return the loop time at which it was granted, for `release`."""
        loop = asyncio.get_running_loop()
        if self._open_at > loop.time():
            await self._until_open()
        if self._waiting or self.in_flight >= int(self.limit):
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()
                raise
        else:
            self.in_flight += 1
        try:
            if self._open_at > loop.time():  # a 429 may have closed the gate while this call waited in line
                await self._until_open()
        except asyncio.CancelledError:
            self._leave()
            raise
        return loop.time()

    async def _until_open(self) -> None:
        """Wait while the gate is closed, or until the run stops."""
        loop = asyncio.get_running_loop()
        while (seconds := self._open_at - loop.time()) > 0.0:
            started = loop.time()
            await self._sleep(seconds)
            if loop.time() < started + seconds / 2.0:  # the sleep ended early: the run stops
                return

    def release(self, since: float, *, limited: bool = False, retry_after: float | None = None) -> None:
        """Free the place; `limited` means that the provider answered 429 to the request sent at `since`."""
        if limited:
            now = asyncio.get_running_loop().time()
            if since >= self._lowered_at:
                self.limit = max(1.0, self.limit * BACK_OFF)
                self._lowered_at = now
            self._open_at = max(self._open_at, now + (retry_after or 0.0))
        elif self.limit < self._maximum:
            self.limit = min(float(self._maximum), self.limit + 1.0 / self.limit)
        self._leave()

    def _leave(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


class RateLimits:
    """Limit requests and tokens per minute, with leaky buckets."""

    def __init__(self, limits: Limits) -> None:
        """Create a leaky bucket for each limit that is set."""
        self._requests = _bucket(limits.requests_per_minute, REQUEST_WINDOW)
        self._tokens = _bucket(limits.tokens_per_minute, TOKEN_WINDOW)

    @property
    def any(self) -> bool:
        """Return whether any limit is set."""
        return self._requests is not None or self._tokens is not None

    async def acquire(self, tokens: int) -> None:
        """Wait until one more request with this estimated number of tokens fits."""
        if self._requests:
            await self._requests.acquire(1)
        if self._tokens:
            await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))


def _bucket(per_minute: float | None, window: float) -> AsyncLimiter | None:
    if per_minute is None:
        return None
    window = max(window, 60.0 / per_minute)
    return AsyncLimiter(per_minute * window / 60.0, window)
