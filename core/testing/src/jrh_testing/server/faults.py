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


def _respond_with(write: Callable[[str, Fault], web.Response]) -> Misbehaviour:
    """Return the misbehaviour that is a whole response, written from the prompt and the fault."""

    async def respond(_request: web.BaseRequest, prompt: str, fault: Fault) -> web.StreamResponse:
        return write(prompt, fault)

    return respond


def json_response(body: bytes, status: int = 200, **headers: str) -> web.Response:
    """Return a response whose body is JSON text."""
    return web.Response(body=body, status=status, headers={**_JSON, **headers})


def _fail(status: int, message: str) -> Misbehaviour:
    return _respond_with(lambda _prompt, _fault: json_response(bodies.error(status, message), status))


def _limit_rate(retry_after: Callable[[Fault], str]) -> Misbehaviour:
    body = bodies.error(429, "slow down")
    return _respond_with(lambda _prompt, fault: json_response(body, 429, **{"Retry-After": retry_after(fault)}))


def _date_of(fault: Fault) -> str:
    # HTTP allows a date in place of seconds.
    return format_datetime(datetime.now(UTC) + timedelta(seconds=fault.retry_after), usegmt=True)


def _decline(status: int, code: str, message: str) -> Misbehaviour:
    body = bodies.error(code, message, type="invalid_request_error", param=None)
    return _respond_with(lambda _prompt, _fault: json_response(body, status))


def _answer_with(message: bodies.Body, finish_reason: str = "stop") -> Misbehaviour:
    message = {"role": "assistant", **message}
    return _respond_with(
        lambda prompt, _: json_response(bodies.message_completion(message, prompt, finish_reason=finish_reason))
    )


def _without_choices(prompt: str) -> web.Response:
    usage = {"prompt_tokens": bodies.tokens(prompt), "completion_tokens": 0, "total_tokens": bodies.tokens(prompt)}
    return json_response(json.dumps(bodies.response(None, usage=usage)).encode())


def _without_usage() -> web.Response:
    body = bodies.response({"role": "assistant", "content": "YES"}, usage=None)
    del body["usage"]
    return json_response(json.dumps(body).encode())


async def _begin(request: web.BaseRequest, prompt: str) -> tuple[web.StreamResponse, bytes]:
    """Send the headers of an answer, and return what to send the rest with, and its body."""
    body = bodies.completion(_TEXT, prompt)
    response = web.StreamResponse(headers={**_JSON, "Content-Length": str(len(body))})
    await response.prepare(request)
    return response, body


async def _reset(request: web.BaseRequest, prompt: str, _fault: Fault) -> web.StreamResponse:
    """Send half of the body, then a TCP reset."""
    # The headers promise the full length, so that the client notices what is missing.
    response, body = await _begin(request, prompt)
    await response.write(body[: len(body) // 2])
    transport = request.transport
    if transport is not None:
        # Without lingering, closing the socket sends RST where it would send FIN.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response


async def _drip(request: web.BaseRequest, prompt: str, fault: Fault) -> web.StreamResponse:
    """Send one byte at a time: no read ever times out, only a total timeout ends it."""
    response, body = await _begin(request, prompt)
    for place in range(len(body)):
        await response.write(body[place : place + 1])
        await asyncio.sleep(fault.pause)
    await response.write_eof()
    return response


async def _hang(_request: web.BaseRequest, _prompt: str, _fault: Fault) -> web.StreamResponse:
    # Cancelled when the client goes away; see `handler_cancellation` in `listen`.
    await asyncio.Event().wait()
    raise AssertionError("unreachable: the wait ends when the client or the server goes")


_PAGE: Final = b"<!doctype html><title>Sign in</title><p>Please sign in to the company network."

FAULTS: Final[Mapping[str, Misbehaviour]] = {
    "429-seconds": _limit_rate(lambda fault: f"{fault.retry_after:g}"),
    "429-date": _limit_rate(_date_of),
    "429-bare": _fail(429, "slow down"),
    "500": _fail(500, "internal error"),
    "503": _fail(503, "overloaded"),
    "401": _fail(401, "incorrect API key"),
    "400": _fail(400, "unknown parameter"),
    "403": _fail(403, "not allowed"),
    "404": _fail(404, "no such model"),
    "402": _fail(402, "payment required"),
    # The same status as a rate limit; only the code says that waiting does not help.
    "no-quota": _decline(429, "insufficient_quota", "You exceeded your current quota, please check your plan."),
    "context-overflow": _decline(
        400, "context_length_exceeded", "This model's maximum context length is 8192 tokens. Please reduce the prompt."
    ),
    "reset": _reset,
    "drip": _drip,
    "hang": _hang,
    "bad-json": _respond_with(lambda prompt, _: json_response(bodies.completion(_TEXT, prompt)[:-20])),
    "empty-choices": _respond_with(lambda prompt, _: _without_choices(prompt)),
    "missing-usage": _respond_with(lambda _prompt, _fault: _without_usage()),
    "length": _answer_with({"content": _TEXT}, "length"),
    "refusal": _answer_with({"content": None, "refusal": "I cannot help with that."}),
    "content-filter": _answer_with({"content": ""}, "content_filter"),
    "finish-error": _answer_with({"content": _TEXT}, "error"),
    "finish-unknown": _answer_with({"content": _TEXT}, "banana"),
    "reasoning-only": _answer_with({"content": None, "reasoning_content": "It is wrong. Verdict: NO"}),
    "null-content": _answer_with({"content": None}),
    "empty-body": _respond_with(lambda _prompt, _fault: json_response(b"")),
    "huge-body": _answer_with({"content": "A" * HUGE}),
    "html": _respond_with(lambda _prompt, _fault: web.Response(body=_PAGE, content_type="text/html")),
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
