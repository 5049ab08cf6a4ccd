"""A server that sends the exact bytes a test gives it, for what the chat server of the kit does not do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from attrs import Factory, define

YES = {"role": "assistant", "content": "YES"}


def http_answer(status: int, body: bytes | object, **headers: str) -> bytes:
    """Write an HTTP answer; a body that is not bytes is sent as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", "content-length": str(len(raw)), **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + raw


@define
class RawServer:
    """Sends `answer` to every request and keeps what it was sent."""

    url: str = ""
    answer: bytes = b""
    close_after: bool = False
    connections: int = 0
    heads: list[str] = Factory(list)
    bodies: list[dict[str, Any]] = Factory(list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
                self.heads.append(head)
                self.bodies.append(json.loads(await reader.readexactly(length)))
                writer.write(self.answer)
                await writer.drain()
                if self.close_after:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def raw_server() -> AsyncIterator[RawServer]:
    """Provide a running raw server that answers YES."""
    raw = RawServer(answer=http_answer(200, {"choices": [{"index": 0, "message": YES, "finish_reason": "stop"}]}))
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield raw
    server.close()


@pytest.fixture
def answer() -> Callable[..., bytes]:
    """Provide the writer of raw HTTP answers."""
    return http_answer
