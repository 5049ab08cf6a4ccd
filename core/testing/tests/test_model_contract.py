"""The model contract fails on a planted mistake of every kind, on the wire too."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import attrs
import pytest
from jrh import ModelSpec, Usage
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion, Rates
from jrh_chat import http_fault
from jrh_testing import ModelContract
from jrh_testing.contracts.base import ComponentContract
from jrh_testing.contracts.models import WIRE_ANSWERS, WIRE_FAULTS, WIRE_SILENCE
from jrh_testing.server.faults import FAULTS

pytestmark = pytest.mark.slow


@attrs.frozen(kw_only=True)
class Options:
    model: str = attrs.field(default="m", metadata={"help": "the model"})
    url: str = attrs.field(default="http://127.0.0.1:1/v1", metadata={"help": "the endpoint"})


class Client:
    """A sound provider, as small as it can be."""

    rates = None

    def __init__(self, options):
        self.options = options
        self.key = os.environ.get("OPENAI_API_KEY", "")

    @property
    def fingerprint(self):
        return f"http/{self.options.model}@{self.options.url}"

    def body(self, request):
        sampling = request.sampling
        return {
            "model": self.options.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
        }

    async def complete(self, request):
        try:
            status, headers, raw = await self.post(self.body(request))
        except aiohttp.ClientError as error:
            raise ModelFault(FaultKind.CONNECTION, type(error).__name__) from error
        if status != 200:
            raise self.failed(status, headers, raw)
        try:
            return self.read(json.loads(raw))
        except (ValueError, LookupError) as error:
            raise ModelFault(FaultKind.MALFORMED, "no completion") from error

    async def post(self, body):
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {self.key}"}) as session,
            session.post(f"{self.options.url}/chat/completions", json=body) as response,
        ):
            return response.status, response.headers, await response.read()

    def failed(self, status, headers, raw):
        return http_fault(status, self.code(raw), f"HTTP {status}", wait=self.wait(headers.get("Retry-After")))

    def code(self, raw):
        return json.loads(raw)["error"].get("code") or ""

    def wait(self, header):
        if header is None:
            return None
        if header.isdigit():
            return float(header)
        return (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()

    def read(self, parsed):
        choice = parsed["choices"][0]
        usage = parsed.get("usage") or {}
        return Completion(
            text=choice["message"]["content"],
            finish_reason=choice["finish_reason"],
            refusal=choice["message"].get("refusal"),
            usage=Usage(prompt_tokens=usage.get("prompt_tokens"), completion_tokens=usage.get("completion_tokens")),
        )

    async def aclose(self):
        pass


class ShowsKey(Client):
    @property
    def fingerprint(self):
        return f"{super().fingerprint}#{self.key}"


class ReprShowsKey(Client):
    def __repr__(self):
        return f"Client({self.key})"


class SameFingerprint(Client):
    fingerprint = "http"


class ClosesOnce(Client):
    closed = False

    async def aclose(self):
        if self.closed:
            raise RuntimeError("already closed")
        self.closed = True


class NegativePrice(Client):
    rates = Rates(input=-1.0, output=0.0)


class LosesUsage(Client):
    def read(self, parsed):
        return attrs.evolve(super().read(parsed), usage=Usage())


class DropsSeed(Client):
    def body(self, request):
        return {**super().body(request), "seed": None}


class EverythingIsServerError(Client):
    def failed(self, status, headers, raw):
        fault = super().failed(status, headers, raw)
        return ModelFault(FaultKind.SERVER_ERROR, fault.detail, retry_after=fault.retry_after)


class IgnoresCode(Client):
    """Takes an account without credit for a busy provider: both are a 429."""

    def code(self, raw):
        return ""


class FaultShowsKey(Client):
    def failed(self, status, headers, raw):
        fault = super().failed(status, headers, raw)
        return ModelFault(fault.kind, f"refused: Bearer {self.key}", retry_after=fault.retry_after)


class NoDates(Client):
    def wait(self, header):
        return float(header) if header and header.isdigit() else None


class Retries(Client):
    async def post(self, body):
        for _ in range(2):
            answer = await super().post(body)
            if answer[0] != 500:
                break
        return answer


class Patient(Client):
    """Takes the end of the wait for an answer."""

    async def complete(self, request):
        try:
            return await super().complete(request)
        except asyncio.CancelledError:
            return Completion(text="", finish_reason="stop")


class EverythingStops(Client):
    def read(self, parsed):
        return attrs.evolve(super().read(parsed), finish_reason="stop")


class UnknownIsZero(Client):
    def read(self, parsed):
        usage = super().read(parsed).usage
        counts = Usage(prompt_tokens=usage.prompt_tokens or 0, completion_tokens=usage.completion_tokens or 0)
        return attrs.evolve(super().read(parsed), usage=counts)


class Unsteady(Client):
    """Declared as simulated, but numbers its answers."""

    calls = 0

    async def complete(self, request):
        Unsteady.calls += 1
        return Completion(text=str(Unsteady.calls), finish_reason="stop")


class Steady(Client):
    async def complete(self, request):
        return Completion(text="YES", finish_reason="stop")


FINGERPRINT = "test_the_fingerprint_says_what_answers_and_no_secret"
KINDS = "test_every_failure_is_a_fault_of_its_kind"
PLANTED = {
    ShowsKey: FINGERPRINT,
    ReprShowsKey: FINGERPRINT,
    SameFingerprint: "test_another_model_has_another_fingerprint",
    ClosesOnce: "test_closing_twice_is_harmless",
    NegativePrice: "test_rates_are_prices_or_unknown",
    LosesUsage: "test_an_answer_comes_whole",
    DropsSeed: "test_messages_and_sampling_arrive",
    EverythingIsServerError: KINDS,
    IgnoresCode: KINDS,
    FaultShowsKey: KINDS,
    NoDates: "test_the_time_to_wait_is_passed_on",
    Retries: KINDS,
    Patient: "test_a_wait_can_be_given_up",
    EverythingStops: "test_unfinished_answers_are_passed_on_as_they_are",
    UnknownIsZero: "test_unknown_usage_is_not_zero",
}


def spec(cls, **settings):
    return ModelSpec(name="planted", summary="planted", options=Options, factory=lambda o, context: cls(o), **settings)


def run(failing, spec):
    return failing(
        ModelContract,
        "jrh_models",
        spec,
        other_options={"model": "n"},
        endpoint_options=lambda self, url: {"url": url},
    )


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test_and_no_other(failing, cls):
    assert run(failing, spec(cls)) == [PLANTED[cls]]


def test_a_sound_provider_passes_everything(failing):
    assert run(failing, spec(Client)) == []


def test_a_simulated_model_that_is_not_steady_is_found(failing):
    found = failing(ModelContract, "jrh_models", spec(Unsteady, simulated=True))
    assert found == ["test_a_simulated_model_answers"]
    assert failing(ModelContract, "jrh_models", spec(Steady, simulated=True)) == []


def test_every_fault_of_the_chat_server_is_met():
    own = {"huge-body", "finish-error", "finish-unknown", "reasoning-only"}  # the program's fault matrix has these
    assert {*WIRE_FAULTS, *WIRE_ANSWERS, *WIRE_SILENCE, *own} == set(FAULTS)


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(ModelContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) | {"test_a_simulated_model_answers"} == own


class TestTheContractRunsUnderPytest(ModelContract):
    """Collected by pytest itself: its fixtures start the server and set the canary."""

    class plugin:
        @staticmethod
        def jrh_models():
            return [spec(Client)]

    component = "planted"

    def endpoint_options(self, url):
        return {"url": url}

    def test_the_canary_is_set(self):
        assert "canary" in os.environ["OPENAI_API_KEY"]
