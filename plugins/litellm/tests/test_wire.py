"""What comes out of litellm when a real server behaves and misbehaves."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import jrh_litellm.plugin
import pytest
from jrh import ChatRequest, Message, Sampling, Usage
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import ChatModel
from jrh_testing import ChatServer, Fault, RawServer, build, http_answer

# pytest puts its own filters in place of the one that the plugin sets.
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning:pydantic"), pytest.mark.slow]

CANARY = "canary-1f9e/+key"
REQUEST = ChatRequest(messages=(Message(role="user", content="2 + 2 = 4?"),))
# One for each of the two ways that litellm sends chat completions: OpenAI's client, and its own HTTP handler.
MODELS = ("openai/judge", "hosted_vllm/judge")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", CANARY)


@asynccontextmanager
async def model_at(url: str, model: str = "openai/judge", **options: Any) -> AsyncIterator[ChatModel]:
    built = build(jrh_litellm.plugin, "litellm", options={"model": model, "api_base": url, **options})
    try:
        yield built
    finally:
        await built.aclose()


async def fault_of(model: ChatModel, request: ChatRequest = REQUEST) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        await model.complete(request)
    return caught.value


@pytest.mark.parametrize("name", MODELS)
async def test_a_server_that_is_not_there_is_a_connection_fault(name: str, unused_tcp_port: int) -> None:
    async with model_at(f"http://127.0.0.1:{unused_tcp_port}/v1", name) as model:
        assert (await fault_of(model)).kind is FaultKind.CONNECTION


YES = {"role": "assistant", "content": "YES"}
EMPTY = {"role": "assistant", "content": ""}


def completion(message: object = YES, usage: object = None, **choice: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-2025",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
        "usage": usage,
    }


WHOLE = {"prompt_tokens": 11, "completion_tokens": 9, "total_tokens": 20}

READINGS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    (completion(usage=WHOLE), {"usage": Usage(prompt_tokens=11, completion_tokens=9)}),
    (
        completion(usage={**WHOLE, "completion_tokens_details": {"reasoning_tokens": 6}}),
        {"usage": Usage(prompt_tokens=11, completion_tokens=9, reasoning_tokens=6)},
    ),
    (completion(usage={}), {"usage": Usage()}),
    (completion(usage={"prompt_tokens": 5}), {"usage": Usage(prompt_tokens=5)}),
    (
        completion(
            {"role": "assistant", "content": ""}, {"prompt_tokens": 5, "completion_tokens": 0, "total_tokens": 5}
        ),
        {"text": "", "usage": Usage(prompt_tokens=5, completion_tokens=0)},
    ),
    (completion(usage={**WHOLE, "cost": 0.25}), {"cost": 0.25}),
    (completion(), {"model_version": "judge-2025 fp_1"}),
    (completion({"role": "assistant", "content": "a\ud800b"}), {"text": "a?b"}),
    (completion(finish_reason="length"), {"finish_reason": "length"}),
    (completion(finish_reason="max_tokens"), {"finish_reason": "length"}),
)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("body", "expected"), READINGS)
async def test_what_the_provider_says_arrives_and_nothing_else(
    body: dict[str, Any], expected: dict[str, Any], name: str, raw_server: RawServer
) -> None:
    raw_server.answer = http_answer(200, body)
    async with model_at(raw_server.url, name) as model:
        got = await model.complete(REQUEST)
    version = expected.get("model_version")
    assert {key: getattr(got, key) for key in expected if key != "model_version"} == {
        key: value for key, value in expected.items() if key != "model_version"
    }
    # litellm keeps the provider's name before that of the model for some providers.
    assert version is None or got.model_version.removeprefix("hosted_vllm/") == version


BROKEN: tuple[tuple[object, FaultKind], ...] = (
    (b"[1, 2]", FaultKind.MALFORMED),
    (b"null", FaultKind.MALFORMED),
    ({"id": "1"}, FaultKind.MALFORMED),
    ({**completion(), "choices": None}, FaultKind.MALFORMED),
    ({**completion(), "choices": [{"index": 0, "finish_reason": "stop"}]}, FaultKind.MALFORMED),
    (completion({"role": "assistant", "content": 5}), FaultKind.MALFORMED),
    (completion(finish_reason="error"), FaultKind.MALFORMED),
    ({"error": {"message": "upstream dead", "code": 502}}, FaultKind.SERVER_ERROR),
)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("body", "kind"), BROKEN)
async def test_an_answer_that_is_none_is_a_fault(
    body: object, kind: FaultKind, name: str, raw_server: RawServer
) -> None:
    raw_server.answer = http_answer(200, body)
    async with model_at(raw_server.url, name) as model:
        assert (await fault_of(model)).kind is kind
    assert len(raw_server.heads) == 1


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (402, "payment", FaultKind.NO_CREDIT),
        (408, "late", FaultKind.TIMEOUT),
        (409, "busy", FaultKind.SERVER_ERROR),
        (413, "long", FaultKind.REJECTED),
        (422, "odd", FaultKind.REJECTED),
        (400, "context_length_exceeded", FaultKind.CONTEXT_OVERFLOW),
        (429, "insufficient_quota", FaultKind.NO_CREDIT),
        (502, "gateway", FaultKind.SERVER_ERROR),
    ],
)
async def test_a_status_has_one_meaning(
    status: int, code: str, kind: FaultKind, name: str, raw_server: RawServer
) -> None:
    raw_server.answer = http_answer(status, {"error": {"message": "what is wrong", "code": code}})
    async with model_at(raw_server.url, name) as model:
        fault = await fault_of(model)
    assert (fault.kind, fault.status, len(raw_server.heads)) == (kind, status, 1)
    assert "what is wrong" in fault.detail


@pytest.mark.parametrize("name", MODELS)
async def test_a_prompt_that_the_filter_declines_is_a_refusal(name: str, raw_server: RawServer) -> None:
    raw_server.answer = http_answer(400, {"error": {"message": "filtered: violence", "code": "content_filter"}})
    async with model_at(raw_server.url, name) as model:
        got = await model.complete(REQUEST)
    assert (got.text, got.finish_reason) == (None, "content_filter")
    assert "filtered: violence" in str(got.refusal)


@pytest.mark.parametrize("name", MODELS)
async def test_milliseconds_to_wait_are_passed_on(name: str, raw_server: RawServer) -> None:
    raw_server.answer = http_answer(429, {"error": {"message": "slow"}}, retry_after_ms="1500")
    async with model_at(raw_server.url, name) as model:
        assert (await fault_of(model)).retry_after == 1.5


@pytest.mark.parametrize("name", MODELS)
async def test_everything_asked_arrives_under_its_name(name: str, raw_server: RawServer) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    sampling = Sampling(temperature=0.0, top_p=0.5, max_tokens=5, seed=0)
    request = ChatRequest(messages=REQUEST.messages, sampling=sampling, json_schema=schema, top_logprobs=3)
    async with model_at(raw_server.url, name, extra={"top_k": 3}) as model:
        await model.complete(request)
    sent = raw_server.bodies[0]
    limit = sent.pop("max_tokens", None) or sent.pop("max_completion_tokens")
    assert limit == 5
    assert sent == {
        "model": "judge",
        "messages": [{"role": "user", "content": "2 + 2 = 4?"}],
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 0,
        "logprobs": True,
        "top_logprobs": 3,
        "top_k": 3,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        },
    }


async def test_log_probabilities_become_probabilities(raw_server: RawServer) -> None:
    likely = [{"token": "4", "logprob": -0.5, "bytes": None}, {"token": "5", "logprob": -1.0, "bytes": None}]
    content = [{"token": "4", "logprob": -0.5, "bytes": None, "top_logprobs": likely}]
    raw_server.answer = http_answer(200, completion(finish_reason="stop", logprobs={"content": content}))
    async with model_at(raw_server.url) as model:
        (position,) = (await model.complete(REQUEST)).token_probabilities
    assert position == pytest.approx({"4": 0.6065306597, "5": 0.3678794412})


async def test_a_setting_the_model_does_not_know_is_refused_unless_it_may_be_dropped(raw_server: RawServer) -> None:
    request = ChatRequest(messages=REQUEST.messages, sampling=Sampling(temperature=0.5))
    async with model_at(raw_server.url, "openai/o1") as strict:
        fault = await fault_of(strict, request)
    assert (fault.kind, len(raw_server.heads)) == (FaultKind.REJECTED, 0)
    assert "temperature" in fault.detail
    async with model_at(raw_server.url, "openai/o1", drop_params=True) as tolerant:
        await tolerant.complete(request)
    assert "temperature" not in raw_server.bodies[0]


# All that litellm looks for where it is told no key.
PROVIDERS_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "hosted_vllm": ("HOSTED_VLLM_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "azure": ("AZURE_API_KEY", "AZURE_AD_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "mistral": ("MISTRAL_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
}


@pytest.mark.parametrize("provider", PROVIDERS_KEYS)
async def test_a_providers_key_goes_to_no_other_server_by_itself(
    provider: str, raw_server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROVIDERS_KEYS[provider]:
        monkeypatch.setenv(name, "canary-of-the-environment")
    async with model_at(raw_server.url, f"{provider}/judge", api_version="2024-06-01") as model:
        with contextlib.suppress(ModelFault):  # not everybody reads OpenAI's answers
            await model.complete(REQUEST)
    assert len(raw_server.heads) == 1
    assert "canary" not in raw_server.heads[0]


@pytest.mark.parametrize("name", MODELS)
async def test_a_server_of_ones_own_needs_no_key(
    name: str, raw_server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    async with model_at(raw_server.url, name) as model:
        assert (await model.complete(REQUEST)).text == "YES"


@pytest.mark.parametrize(("options", "hint"), [({}, True), ({"api_key_env": "OPENAI_API_KEY"}, False)])
async def test_a_server_that_wants_a_key_that_was_not_sent_is_told_apart(options: dict[str, Any], hint: bool) -> None:
    with ChatServer(faults=[Fault("401")]) as server:
        async with model_at(server.url, **options) as model:
            fault = await fault_of(model)
    assert fault.kind is FaultKind.UNAUTHORIZED
    assert ("no key was sent; name its environment variable in api_key_env" in fault.detail) is hint


def test_clouds_sign_in_with_credentials_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION_NAME", "eu-west-1")
    model = build(
        jrh_litellm.plugin, "litellm", options={"model": "bedrock/anthropic.claude-v2", "api_base": "https://vpc/x"}
    )
    arguments = model._arguments.write(REQUEST)
    assert (arguments["api_base"], "api_key" in arguments) == ("https://vpc/x", False)


async def test_the_key_of_another_variable_is_sent(raw_server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", " canary-team ")
    async with model_at(raw_server.url, api_key_env="TEAM_KEY") as model:
        await model.complete(REQUEST)
    assert "authorization: bearer canary-team\r\n" in raw_server.heads[0].lower()
