"""Limit the load on a model to the requests and tokens per minute that the suite allows."""

from __future__ import annotations

from typing import Final

from aiolimiter import AsyncLimiter

from jrh.suite.definition import Limits

REQUEST_WINDOW: Final = 1.0
TOKEN_WINDOW: Final = 10.0
"""Window of the rate limit in seconds: a burst may exceed the even rate by one window's worth."""


class RateLimits:
    """Limit requests and tokens per minute, with leaky buckets."""

    def __init__(self, limits: Limits) -> None:
        """Create a leaky bucket for each limit that is set."""
        self._requests = _bucket(limits.requests_per_minute, REQUEST_WINDOW)
        self._tokens = _bucket(limits.tokens_per_minute, TOKEN_WINDOW)
        self.any = self._requests is not None or self._tokens is not None
        """Whether any limit is set."""

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
