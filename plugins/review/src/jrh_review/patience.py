"""A bound on the time that a request may take to arrive: a client that sends a byte a minute holds no connection."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """HTTP/1.1 whose requests arrive whole within some seconds, or the connection is closed."""

    SECONDS: ClassVar = 15.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._late = self.loop.call_later(self.SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Wait no longer once a request is whole; the next one has the same time from its first byte on."""
        # First, as h11 has to parse what came before its state means anything.
        super().data_received(data)
        # These two states: waiting for a request, or in the middle of one.
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            if self._late is None and not self.transport.is_closing():
                self._late = self.loop.call_later(self.SECONDS, self.transport.abort)
        else:
            self._cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
