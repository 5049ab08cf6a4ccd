"""Define the ways in which the chat server misbehaves."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final, TypeAlias

from aiohttp import web
from attrs import field, frozen
from attrs.validators import ge, in_, optional

from jrh_testing.server import bodies

Misbehaviour: TypeAlias = Callable[[web.BaseRequest, str, "Fault"], Awaitable[web.StreamResponse]]

HUGE: Final = 10_000_000
"""Bytes of the text in a huge body."""

_JSON: Final = {"Content-Type": "application/json"}
_TEXT: Final = "YES, because this answer is cut off before"


def _json(body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(body=body, status=status, headers={**_JSON, **(headers or {})})


def _failing(status: int, message: str) -> Misbehaviour:
    async def fail(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
        return _json(bodies.error(status, message), status=status)

    return fail


async def _limited_seconds(_request: web.BaseRequest, _prompt: str, fault: Fault) -> web.StreamResponse:
    return _json(bodies.error(429, "slow down"), status=429, headers={"Retry-After": f"{fault.retry_after:g}"})


async def _limited_date(_request: web.BaseRequest, _prompt: str, fault: Fault) -> web.StreamResponse:
    then = datetime.now(UTC) + timedelta(seconds=fault.retry_after)
    return _json(
        bodies.error(429, "slow down"), status=429, headers={"Retry-After": format_datetime(then, usegmt=True)}
    )


async def _reset(request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
    """Send half of the body, then a TCP reset."""
    body = bodies.completion(_TEXT, prompt)
    response = web.StreamResponse(headers={**_JSON, "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    transport = request.transport
    if transport is not None:
        # Without lingering, closing the socket sends RST where it would send FIN.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response


async def _drip(request: web.BaseRequest, prompt: str, fault: Fault) -> web.StreamResponse:
    """Send one byte at a time: no read ever times out, only a total timeout ends it."""
    body = bodies.completion(_TEXT, prompt)
    response = web.StreamResponse(headers={**_JSON, "Content-Length": str(len(body))})
    await response.prepare(request)
    for place in range(len(body)):
        await response.write(body[place : place + 1])
        await asyncio.sleep(fault.pause)
    await response.write_eof()
    return response


async def _hang(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError("unreachable: the wait ends when the client or the server goes")


async def _bad_json(_request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
    return _json(bodies.completion(_TEXT, prompt)[:-20])


async def _empty_choices(_request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
    usage = {"prompt_tokens": bodies.tokens(prompt), "completion_tokens": 0, "total_tokens": bodies.tokens(prompt)}
    return _json(json.dumps(bodies.response(None, usage=usage)).encode())


def _declining(status: int, code: str, message: str) -> Misbehaviour:
    async def decline(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        return _json(json.dumps({"error": error}).encode(), status=status)

    return decline


async def _missing_usage(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
    body = bodies.response({"role": "assistant", "content": "YES"}, usage=None)
    del body["usage"]
    return _json(json.dumps(body).encode())


def _answering(message: bodies.Body, finish_reason: str) -> Misbehaviour:
    async def answer(_request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
        whole = {"role": "assistant", **message}
        return _json(bodies.message_completion(whole, prompt, finish_reason=finish_reason))

    return answer


async def _empty_body(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
    return _json(b"")


async def _huge_body(_request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
    message = {"role": "assistant", "content": "A" * HUGE}
    return _json(bodies.message_completion(message, prompt))


async def _html(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
    page = b"<!doctype html><title>Sign in</title><p>Please sign in to the company network."
    return web.Response(body=page, content_type="text/html")


FAULTS: Final[Mapping[str, Misbehaviour]] = {
    "429-seconds": _limited_seconds,
    "429-date": _limited_date,
    "429-bare": _failing(429, "slow down"),
    "500": _failing(500, "internal error"),
    "503": _failing(503, "overloaded"),
    "401": _failing(401, "incorrect API key"),
    "400": _failing(400, "unknown parameter"),
    "403": _failing(403, "not allowed"),
    "404": _failing(404, "no such model"),
    "402": _failing(402, "payment required"),
    "no-quota": _declining(429, "insufficient_quota", "You exceeded your current quota, please check your plan."),
    "context-overflow": _declining(
        400, "context_length_exceeded", "This model's maximum context length is 8192 tokens. Please reduce the prompt."
    ),
    "reset": _reset,
    "drip": _drip,
    "hang": _hang,
    "bad-json": _bad_json,
    "empty-choices": _empty_choices,
    "missing-usage": _missing_usage,
    "length": _answering({"content": _TEXT}, "length"),
    "refusal": _answering({"content": None, "refusal": "I cannot help with that."}, "stop"),
    "content-filter": _answering({"content": ""}, "content_filter"),
    "finish-error": _answering({"content": _TEXT}, "error"),
    "finish-unknown": _answering({"content": _TEXT}, "banana"),
    "reasoning-only": _answering({"content": None, "reasoning_content": "It is wrong. Verdict: NO"}, "stop"),
    "null-content": _answering({"content": None}, "stop"),
    "empty-body": _empty_body,
    "huge-body": _huge_body,
    "html": _html,
}
"""Name -> what the server does instead of a proper answer."""


@frozen(kw_only=True)
class Fault:
    """One misbehaviour, and which requests it affects."""

    kind: str = field(kw_only=False, validator=in_(FAULTS))
    """One of `FAULTS`."""
    times: int | None = field(default=None, validator=optional(ge(1)))
    """How often in all; None: always."""
    per_prompt: bool = False
    """Count `times` for every prompt on its own: the first attempts fail, a retry succeeds."""
    match: str | None = None
    """Only prompts that hold this text."""
    every: int = field(default=1, validator=ge(1))
    """Only every so manieth of the requests that match: 3 meets the third, the sixth ..."""
    retry_after: float = 1.0
    """Seconds that `429-seconds` and `429-date` ask for."""
    pause: float = 0.2
    """Seconds between two bytes of `drip`."""

    @classmethod
    def read(cls, text: str) -> Fault:
        """Read `kind` or `kind:times`, as the command line writes it.

        Raises:
            ValueError: there is no such kind, or the times are no number from 1.
        """
        kind, _, times = text.partition(":")
        return cls(kind, times=int(times) if times else None)
