"""Every fault of the chat server really happens on the wire, seen with a client we did not write."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import pytest
from jrh_testing import FAULTS, ChatServer, Fault, loop_over
from jrh_testing.server.faults import HUGE

BODY = {"model": "m", "messages": [{"role": "user", "content": "Is 2 + 2 = 4?"}]}


async def post(server, *, prompt=None, headers=None, patience=30.0, **more):
    """Send one request; return status, headers and the raw body."""
    sent = {**BODY, **more, "messages": [{"role": "user", "content": prompt or "Is 2 + 2 = 4?"}]}
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=patience)) as session,
        session.post(f"{server.url}/chat/completions", json=sent, headers=headers) as response,
    ):
        return response.status, response.headers, await response.read()


@pytest.fixture
def server():
    with ChatServer(answer="YES") as running:
        yield running


async def under(server, kind, **settings):
    server.misbehave(Fault(kind, **settings))
    return await post(server)


@pytest.mark.parametrize("kind", ["500", "503", "401", "400", "403", "404"])
async def test_a_status_is_sent_with_an_error_body(server, kind):
    status, headers, raw = await under(server, kind)
    assert status == int(kind)
    assert headers["Content-Type"] == "application/json"
    assert json.loads(raw)["error"]["code"] == kind


async def test_429_asks_to_wait_in_seconds_by_date_or_not_at_all(server):
    status, headers, _ = await under(server, "429-seconds", retry_after=3)
    assert (status, headers["Retry-After"]) == (429, "3")
    status, headers, _ = await under(server, "429-date", retry_after=60)
    ahead = (parsedate_to_datetime(headers["Retry-After"]) - datetime.now(UTC)).total_seconds()
    assert status == 429
    assert 55 < ahead <= 60
    status, headers, _ = await under(server, "429-bare")
    assert status == 429
    assert "Retry-After" not in headers


async def drain(reader, received):
    while chunk := await reader.read(1000):
        received += chunk


async def test_reset_breaks_the_connection_in_mid_body(server):
    server.misbehave(Fault("reset"))
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.split(":")[2].split("/")[0]))
    raw = json.dumps(BODY).encode()
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw)
    received = bytearray()
    with pytest.raises(ConnectionResetError):
        await drain(reader, received)
    writer.close()
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert 0 < len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])


async def test_reset_is_a_client_error_to_aiohttp(server):
    with pytest.raises(aiohttp.ClientError):
        await under(server, "reset")


async def test_drip_is_slower_than_a_total_timeout_but_never_silent(server):
    server.misbehave(Fault("drip", pause=0.02))
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        await post(server, patience=0.3)
    assert time.monotonic() - started < 5  # the whole drip takes seven seconds
    # No single pause is long, so a timeout between two reads alone would not have ended it.
    session_timeout = aiohttp.ClientTimeout(total=2.0, sock_read=1.5)
    async with (
        aiohttp.ClientSession(timeout=session_timeout) as session,
        session.post(f"{server.url}/chat/completions", json=BODY) as response,
    ):
        assert len(await response.content.read(1)) == 1
        with pytest.raises(TimeoutError) as caught:
            await response.read()
    assert not isinstance(caught.value, aiohttp.SocketTimeoutError)


async def test_a_drip_that_is_waited_for_is_a_whole_answer(server):
    status, _, raw = await under(server, "drip", pause=0.0)
    assert (status, json.loads(raw)["choices"][0]["finish_reason"]) == (200, "stop")


async def test_hang_sends_nothing_and_ends_with_the_client(server):
    server.misbehave(Fault("hang"))
    with pytest.raises(TimeoutError):
        await post(server, patience=0.2)
    async with asyncio.timeout(20):
        while server._app.tally.in_flight:  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(0.02)


def test_a_server_with_a_hanging_request_stops_at_once():
    started = time.monotonic()

    async def work():
        with ChatServer(faults=[Fault("hang")]) as server:
            asking = asyncio.ensure_future(post(server, patience=30))
            while server.count == 0:  # noqa: ASYNC110 - the server is in another thread
                await asyncio.sleep(0.01)
        with pytest.raises(aiohttp.ClientError):
            await asking

    asyncio.run(work())
    assert time.monotonic() - started < 20  # the client would wait for thirty seconds


async def test_bad_json_is_cut_off(server):
    status, _, raw = await under(server, "bad-json")
    assert status == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(raw)


async def test_bodies_that_are_no_completion(server):
    assert (await under(server, "empty-body"))[::2] == (200, b"")
    status, headers, raw = await under(server, "html")
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert raw.startswith(b"<!doctype html>")


async def test_a_huge_body_has_ten_megabytes_of_text(server):
    status, _, raw = await under(server, "huge-body")
    assert status == 200
    assert len(json.loads(raw)["choices"][0]["message"]["content"]) == HUGE == 10_000_000


async def choice(server, kind):
    status, _, raw = await under(server, kind)
    assert status == 200
    parsed = json.loads(raw)
    return parsed, parsed["choices"][0] if parsed["choices"] else None


async def test_answers_that_are_not_whole(server):
    assert (await choice(server, "empty-choices"))[1] is None
    parsed, _ = await choice(server, "missing-usage")
    assert "usage" not in parsed
    _, cut = await choice(server, "length")
    assert cut["finish_reason"] == "length"
    assert cut["message"]["content"].startswith("YES")
    _, refused = await choice(server, "refusal")
    assert refused["message"]["content"] is None
    assert refused["message"]["refusal"] == "I cannot help with that."
    _, filtered = await choice(server, "content-filter")
    assert filtered["finish_reason"] == "content_filter"
    _, absent = await choice(server, "null-content")
    assert absent["message"] == {"role": "assistant", "content": None}


@loop_over(
    ("kind", "status", "said"),
    [
        ("402", 402, "payment required"),
        ("no-quota", 429, "insufficient_quota"),
        ("context-overflow", 400, "context_length_exceeded"),
        ("finish-error", 200, '"finish_reason": "error"'),
        ("finish-unknown", 200, '"finish_reason": "banana"'),
        ("reasoning-only", 200, "reasoning_content"),
    ],
)
async def test_what_a_provider_may_say_of_its_answer(kind, status, said):
    with ChatServer(faults=[Fault(kind)]) as server:
        found, _, body = await post(server)
    assert found == status
    assert said in body.decode()


async def test_a_setting_that_the_model_does_not_have_is_refused_by_name():
    with ChatServer(refuses=["seed"]) as server:
        status, _, body = await post(server, seed=1)
        assert (status, json.loads(body)["error"]["param"]) == (400, "seed")
        assert (await post(server))[0] == 200


def test_every_fault_is_shown_here():
    shown = {"500", "503", "401", "400", "403", "404", "429-seconds", "429-date", "429-bare", "reset", "drip", "hang"}
    shown |= {"bad-json", "empty-body", "html", "huge-body", "empty-choices", "missing-usage", "length", "refusal"}
    shown |= {"402", "no-quota", "context-overflow", "finish-error", "finish-unknown", "reasoning-only"}
    assert shown | {"content-filter", "null-content"} == set(FAULTS)


async def statuses(server, count, **request):
    return [(await post(server, **request))[0] for _ in range(count)]


async def test_a_fault_happens_so_many_times(server):
    server.misbehave(Fault("500", times=2))
    assert await statuses(server, 4) == [500, 500, 200, 200]


async def test_a_fault_happens_every_so_many_requests(server):
    server.misbehave(Fault("500", every=3))
    assert await statuses(server, 7) == [200, 200, 500, 200, 200, 500, 200]


async def test_a_fault_happens_once_for_every_prompt(server):
    server.misbehave(Fault("503", times=1, per_prompt=True))
    assert [(await post(server, prompt=prompt))[0] for prompt in "abab"] == [503, 503, 200, 200]


async def test_a_fault_meets_only_prompts_that_match(server):
    server.misbehave(Fault("404", match="Paris"), Fault("500", match="Rome"))
    assert [(await post(server, prompt=p))[0] for p in ("in Paris", "in Rome", "in Oslo")] == [404, 500, 200]


def test_an_unknown_fault_is_said_to_be_unknown():
    with pytest.raises(ValueError, match="earthquake"):
        Fault("earthquake")
