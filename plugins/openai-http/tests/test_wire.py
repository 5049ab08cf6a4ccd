"""What happens between the model and a real server."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jrh_openai_http.plugin
import pytest
from jrh import ChatRequest, Message
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import LONGEST_ANSWER, TOO_LONG, ChatModel, Rates
from jrh_testing import ChatServer, Fault, RawServer, build, http_answer

CANARY = "canary-1f9e/+key"
REQUEST = ChatRequest(messages=(Message(role="user", content="2 + 2 = 4?"),))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@asynccontextmanager
async def model_at(url: str, **options: Any) -> AsyncIterator[ChatModel]:
    named = {"model": "judge", "base_url": url, "api_key_env": "OPENAI_API_KEY", **options}
    model = build(jrh_openai_http.plugin, "openai-http", options=named)
    try:
        yield model
    finally:
        await model.aclose()


async def fault_of(model: ChatModel, request: ChatRequest = REQUEST) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        await model.complete(request)
    return caught.value


async def timed_out(server: ChatServer, model: ChatModel) -> None:
    """Ask, and be patient no longer once the request has arrived."""
    async with asyncio.timeout(20) as patience, asyncio.TaskGroup() as both:
        both.create_task(model.complete(REQUEST))
        while not server.count:  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(0.01)
        patience.reschedule(asyncio.get_running_loop().time() + 0.1)


async def test_a_timeout_leaves_the_model_usable() -> None:
    with ChatServer(faults=[Fault("hang", times=1)]) as server:
        async with model_at(server.url) as model:
            with pytest.raises(TimeoutError):
                await timed_out(server, model)
            assert (await model.complete(REQUEST)).text == "YES"


async def test_a_server_that_is_not_there_is_a_connection_fault(unused_tcp_port: int) -> None:
    async with model_at(f"http://127.0.0.1:{unused_tcp_port}/v1") as model:
        fault = await fault_of(model)
    assert fault.kind is FaultKind.CONNECTION
    assert "ClientConnectorError" in fault.detail


async def test_requests_one_after_the_other_share_a_connection(raw_server: RawServer) -> None:
    async with model_at(raw_server.url) as model:
        for _ in range(3):
            await model.complete(REQUEST)
    assert (raw_server.connections, len(raw_server.heads)) == (1, 3)


async def test_requests_at_the_same_time_are_not_queued_by_the_client() -> None:
    with ChatServer(latency=2.0) as server:  # until the last one has come, on a busy machine too
        async with model_at(server.url) as model:
            await asyncio.gather(*(model.complete(REQUEST) for _ in range(150)))
        assert server.max_in_flight == 150  # aiohttp's own limit is 100


async def test_a_redirect_is_refused_and_the_key_stays_here(raw_server: RawServer) -> None:
    raw_server.answer = http_answer(307, b"", location=raw_server.url + "/elsewhere")
    async with model_at(raw_server.url) as model:
        fault = await fault_of(model)
    assert (fault.kind, fault.status, len(raw_server.heads)) == (FaultKind.REJECTED, 307, 1)


async def test_cookies_are_not_kept(raw_server: RawServer) -> None:
    raw_server.answer = http_answer(200, {"choices": [{"message": {"content": "A"}}]}, set_cookie="who=me; Path=/")
    async with model_at(raw_server.url.replace("127.0.0.1", "localhost")) as model:
        await model.complete(REQUEST)
        await model.complete(REQUEST)
    assert "cookie" not in raw_server.heads[1].lower()


async def test_a_packed_answer_is_unpacked(raw_server: RawServer) -> None:
    packed = gzip.compress(json.dumps({"choices": [{"message": {"content": "packed"}}]}).encode())
    raw_server.answer = http_answer(200, packed, content_encoding="gzip")
    async with model_at(raw_server.url) as model:
        assert (await model.complete(REQUEST)).text == "packed"


async def test_a_small_packed_answer_that_unpacks_to_a_huge_one_is_too_long(raw_server: RawServer) -> None:
    packed = gzip.compress(b" " * (LONGEST_ANSWER + 1))
    assert len(packed) < 20_000
    raw_server.answer = http_answer(200, packed, content_encoding="gzip")
    async with model_at(raw_server.url) as model:
        got = await model.complete(REQUEST)
    assert (got.text, got.finish_reason) == (None, TOO_LONG)


async def test_a_prompt_of_two_megabytes_arrives_whole(raw_server: RawServer) -> None:
    text = "é" * 1_000_000
    async with model_at(raw_server.url) as model:
        await model.complete(ChatRequest(messages=(Message(role="user", content=text),)))
    assert raw_server.bodies[0]["messages"][0]["content"] == text


async def test_an_answer_that_is_not_http_is_malformed(raw_server: RawServer) -> None:
    raw_server.answer, raw_server.close_after = b"220 mail.example ESMTP\r\n\r\n", True
    async with model_at(raw_server.url) as model:
        assert (await fault_of(model)).kind is FaultKind.MALFORMED


async def test_a_connection_closed_before_the_answer_is_not_tried_again(raw_server: RawServer) -> None:
    async with model_at(raw_server.url) as model:
        await model.complete(REQUEST)
        # The next one goes over the same connection, where libraries like to send again without a word.
        raw_server.answer, raw_server.close_after = b"", True
        assert (await fault_of(model)).kind is FaultKind.CONNECTION
    assert len(raw_server.heads) == 2


async def test_the_query_of_the_base_url_is_kept(raw_server: RawServer) -> None:
    async with model_at(raw_server.url + "/?api-version=2024-06-01") as model:
        await model.complete(REQUEST)
        assert model.fingerprint.startswith(f"openai-http/judge@{raw_server.url}#")
    assert raw_server.heads[0].startswith("POST /v1/chat/completions?api-version=2024-06-01 HTTP/1.1\r\n")


async def test_key_and_further_headers_are_sent(raw_server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM", " blue ")
    async with model_at(raw_server.url, headers_env={"X-Team": "TEAM"}) as model:
        await model.complete(REQUEST)
    assert f"authorization: bearer {CANARY}\r\n" in raw_server.heads[0].lower()
    assert "x-team: blue\r\n" in raw_server.heads[0].lower()


async def test_openais_key_goes_to_no_other_server_by_itself(raw_server: RawServer) -> None:
    async with model_at(raw_server.url, api_key_env=None) as model:
        await model.complete(REQUEST)
    assert "authorization" not in raw_server.heads[0].lower()
    assert "canary" not in raw_server.heads[0]


async def test_a_header_that_says_who_asks_stands_in_place_of_the_key(
    raw_server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKET", "Ticket 4711")
    async with model_at(raw_server.url, headers_env={"authorization": "TICKET"}) as model:
        await model.complete(REQUEST)
    assert raw_server.heads[0].lower().count("authorization: ") == 1
    assert "authorization: ticket 4711\r\n" in raw_server.heads[0].lower()


@pytest.mark.parametrize(("options", "hint"), [({"api_key_env": None}, True), ({}, False)])
async def test_a_server_that_wants_a_key_that_was_not_sent_is_told_apart(options: dict[str, Any], hint: bool) -> None:
    with ChatServer(faults=[Fault("401")]) as server:
        async with model_at(server.url, **options) as model:
            fault = await fault_of(model)
    assert fault.kind is FaultKind.UNAUTHORIZED
    assert ("no key was sent; name its environment variable in api_key_env" in fault.detail) is hint


async def test_a_free_model_costs_nothing_and_any_other_is_unknown() -> None:
    async with model_at("http://localhost:1/v1", free=True) as free, model_at("http://localhost:1/v1") as other:
        assert (free.rates, other.rates) == (Rates(input=0.0, output=0.0), None)


ECHOES: tuple[tuple[int, str], ...] = (
    (401, '{"error": {"message": "Incorrect API key provided: KEY"}}'),
    (400, "<html>KEY</html>"),
    (429, '{"error": {"message": "KEY", "code": "KEY"}}'),
    (500, '{"detail": {"sent": "Bearer KEY"}}'),
    (503, "KEY" * 300),
    (200, "KEY is not JSON"),
    (200, "x" * 475 + "KEY"),
    (503, "y" * 495 + "KEY"),
    (200, '{"error": {"message": "KEY", "code": 502}}'),
    (200, '{"error": "KEY"}'),
    (400, '{"error": {"code": "content_filter", "message": "KEY"}}'),
)


@pytest.mark.parametrize(("status", "body"), ECHOES)
@pytest.mark.parametrize("form", [CANARY, "canary-1f9e%2F%2Bkey", "canary-1f9e\\/+key"])
async def test_a_key_that_the_server_echoes_is_seen_nowhere(
    status: int,
    body: str,
    form: str,
    raw_server: RawServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw_server.answer = http_answer(status, body.replace("KEY", form).encode())
    with caplog.at_level(logging.DEBUG):
        async with model_at(raw_server.url) as model:
            outcome: object = None
            try:
                outcome = await model.complete(REQUEST)
            except ModelFault as fault:
                outcome = fault
            seen = [*shown(outcome), *shown(model), model.fingerprint]
    assert "canary" not in "".join(seen) + caplog.text
    assert "redacted" in "".join(seen) or status in (200, 503)


def shown(value: object) -> list[str]:
    """Return all that can be printed of a value."""
    if isinstance(value, ModelFault):
        assert (value.__cause__, value.__context__) == (None, None)
        assert len(value.detail) <= 500
        return [str(value), repr(value), *traceback.format_exception(value)]
    return [str(value), repr(value)]
