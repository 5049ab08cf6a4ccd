"""What a model leaves behind: no open connection, no slow collector, no key in any text."""

from __future__ import annotations

import asyncio
import gc
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jrh_litellm.plugin
import pytest
from jrh import ChatRequest, Message
from jrh.errors import ModelFault
from jrh.plugins import ChatModel
from jrh_testing import ChatServer, RawServer, build, http_answer

# pytest puts its own filters in place of the one that the plugin sets.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pydantic")

CANARY = "canary-1f9e/+key"
REQUEST = ChatRequest(messages=(Message(role="user", content="2 + 2 = 4?"),))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@asynccontextmanager
async def model_at(url: str, model: str = "openai/judge", **options: Any) -> AsyncIterator[ChatModel]:
    named = {"model": model, "api_base": url, "api_key_env": "OPENAI_API_KEY", **options}
    built = build(jrh_litellm.plugin, "litellm", options=named)
    try:
        yield built
    finally:
        await built.aclose()


async def test_one_model_can_be_closed_while_another_works() -> None:
    with ChatServer() as server:
        async with model_at(server.url, "openai/a") as first:
            await first.complete(REQUEST)
            async with model_at(server.url, "openai/b") as second:
                await second.complete(REQUEST)
            assert (await first.complete(REQUEST)).text == "YES"


def test_a_second_event_loop_finds_no_connections_of_the_first() -> None:
    async def once(url: str) -> str | None:
        async with model_at(url) as model:
            return (await model.complete(REQUEST)).text

    with ChatServer() as server:
        assert [asyncio.run(once(server.url)) for _ in range(3)] == ["YES"] * 3
    gc.collect()  # an unclosed session would complain here, and a warning is an error


def test_after_the_first_call_the_collector_leaves_litellm_alone() -> None:
    async def once(url: str) -> None:
        async with model_at(url) as model:
            await model.complete(REQUEST)

    with ChatServer() as server:
        asyncio.run(once(server.url))
        frozen = gc.get_freeze_count()
        asyncio.run(once(server.url))
    assert frozen > 100_000
    assert gc.get_freeze_count() == pytest.approx(frozen, rel=0.1)


ECHOES: tuple[tuple[int, str], ...] = (
    (401, '{"error": {"message": "Incorrect API key provided: KEY"}}'),
    (400, "<html>KEY</html>"),
    (429, '{"error": {"message": "KEY", "code": "KEY"}}'),
    (503, "KEY" * 300),
    (200, "KEY is not JSON"),
    (200, '{"error": {"message": "KEY", "code": 502}}'),
    (400, '{"error": {"code": "content_filter", "message": "KEY"}}'),
)


@pytest.mark.parametrize("name", ["openai/judge", "hosted_vllm/judge"])
@pytest.mark.parametrize(("status", "body"), ECHOES)
async def test_a_key_that_the_server_echoes_is_seen_nowhere(
    status: int,
    body: str,
    name: str,
    raw_server: RawServer,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    raw_server.answer = http_answer(status, body.replace("KEY", CANARY).encode())
    with caplog.at_level(logging.DEBUG):
        async with model_at(raw_server.url, name) as model:
            outcome: object = None
            try:
                outcome = await model.complete(REQUEST)
            except ModelFault as fault:
                outcome = fault
            seen = [*shown(outcome), *shown(model), model.fingerprint]
    assert "canary" not in "".join(seen) + caplog.text + "".join(capfd.readouterr())
    assert f"authorization: bearer {CANARY}\r\n" in raw_server.heads[0].lower(), "the key was not sent"


def shown(value: object) -> list[str]:
    """Return all that can be printed of a value."""
    if isinstance(value, ModelFault):
        assert (value.__cause__, value.__context__) == (None, None)
        assert len(value.detail) <= 500
        return [str(value), repr(value), *traceback.format_exception(value)]
    return [str(value), repr(value)]
