"""Serve the exact bytes a test provides, for responses the chat server cannot produce."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from attrs import Factory, define

_YES = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "YES"}, "finish_reason": "stop"}]}


def http_answer(status: int, body: bytes | object, **headers: str) -> bytes:
    """Write an HTTP answer.

    Args:
        status: of the answer.
        body: bytes as they are; anything else is sent as JSON.
        headers: further ones, or others in place of the usual; underscores stand for hyphens.
    """
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", "content-length": str(len(raw)), **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + raw


@define
class RawServer:
    """Sends `answer` to every request and keeps what it receives."""

    url: str = ""
    """The base URL, which ends in `/v1`."""
    answer: bytes = http_answer(200, _YES)
    """What is sent; a chat completion that says YES until a test sets another one."""
    close_after: bool = False
    """Whether the connection is closed after an answer."""
    connections: int = 0
    heads: list[str] = Factory(list)
    """Request lines and headers, as they came."""
    bodies: list[dict[str, Any]] = Factory(list)

    @classmethod
    @asynccontextmanager
    async def run(cls) -> AsyncIterator[RawServer]:
        """Serve on a free port of loopback as long as the context lasts."""
        raw = cls()
        server = await asyncio.start_server(raw._serve, "127.0.0.1", 0)
        raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield raw
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            # Connections are kept alive: clients reuse them, and some mistakes show only then.
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
                self.heads.append(head)
                self.bodies.append(json.loads(await reader.readexactly(length)))
                writer.write(self.answer)
                await writer.drain()
                if self.close_after:
                    break
        # The client closing its connection is the ordinary end.
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
