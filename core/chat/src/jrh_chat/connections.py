"""One connection to an endpoint: its session, answers of bounded length, and failures of the network as faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import aiohttp
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import LONGEST_ANSWER

from jrh_chat.completions import protocol_fault
from jrh_chat.credentials import Credentials

MAX_ERROR: Final = 64 * 1024
"""Bytes of an error's body that are read; the status matters, the rest does not."""
NETWORK_ERRORS: Final = (aiohttp.ClientError, OSError, TimeoutError)
"""What a request raises where the network or the server fails; `network_fault` translates it."""


class Connection:
    """A session that opens with the first request, and that may be opened again after it was closed."""

    def __init__(self, credentials: Credentials, headers: Mapping[str, str], timeout: aiohttp.ClientTimeout) -> None:
        """Keep the headers and the timeout of all requests."""
        self._headers = {**headers, **credentials.headers}
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """Return the session; it keeps no cookies."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # The gateway limits concurrency; a second limit here would interfere.
                connector=aiohttp.TCPConnector(limit=0),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
            )
        return self._session

    async def aclose(self) -> None:
        """Close the session; closing twice, or without ever having asked, is fine."""
        # Taken away first, so that a second call finds nothing to close.
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def read_answer(response: aiohttp.ClientResponse) -> bytes | None:
    """Read a whole answer; if it is too long, close the connection and return None."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        # A server may send without an end.
        if len(body) > LONGEST_ANSWER:
            response.close()
            return None
    return bytes(body)


async def read_start(response: aiohttp.ClientResponse) -> bytes:
    """Read the start of an error's body."""
    body = bytearray()
    try:
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) >= MAX_ERROR:
                response.close()
                break
    except aiohttp.ClientError:
        response.close()
    return bytes(body[:MAX_ERROR])


def network_fault(error: Exception) -> ModelFault:
    """Translate a failure of the network, or of a server that does not speak HTTP."""
    name = type(error).__name__
    # First: aiohttp's timeouts are errors of a connection, too.
    if isinstance(error, TimeoutError):
        return ModelFault(FaultKind.TIMEOUT, f"no answer in time ({name})")
    if isinstance(error, aiohttp.ClientResponseError):
        return protocol_fault(f"the server does not speak HTTP properly ({name}: {error.message})")
    # Some error texts contain the proxy's address, which may include a password; strerror does not.
    reason = error.strerror if isinstance(error, OSError) and error.strerror else ""
    sent = not isinstance(error, aiohttp.ClientConnectorError)  # refused, or a host that is not known
    return ModelFault(
        FaultKind.CONNECTION, f"the connection failed ({name}{': ' + reason if reason else ''})", sent=sent
    )
