"""A server that sends the exact bytes a test gives it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from jrh_testing import RawServer


@pytest.fixture
async def raw_server() -> AsyncIterator[RawServer]:
    """Provide a running raw server that answers YES."""
    async with RawServer.run() as server:
        yield server
