"""Test the contract of every provider of chat models."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jrh import ChatRequest, Json, Message, ModelSpec, Sampling
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import TOO_LONG, Completion
from jrh.plugins.specs import Spec

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.server.faults import HUGE, Fault
from jrh_testing.server.thread import ChatServer

CANARY = "canary-7f3a-do-not-print"
"""The value that every key variable has while a model is tested."""

_REQUEST = ChatRequest(messages=(Message(role="user", content="Is 2 + 2 = 4? Answer YES or NO."),))

# The kind decides whether the gateway retries: the table is what providers have to agree on.
WIRE_FAULTS: Mapping[str, FaultKind] = {
    "429-seconds": FaultKind.RATE_LIMIT,
    "429-date": FaultKind.RATE_LIMIT,
    "429-bare": FaultKind.RATE_LIMIT,
    "500": FaultKind.SERVER_ERROR,
    "503": FaultKind.SERVER_ERROR,
    "401": FaultKind.UNAUTHORIZED,
    "403": FaultKind.UNAUTHORIZED,
    "400": FaultKind.REJECTED,
    "404": FaultKind.REJECTED,
    "402": FaultKind.NO_CREDIT,
    "no-quota": FaultKind.NO_CREDIT,
    "context-overflow": FaultKind.CONTEXT_OVERFLOW,
    "reset": FaultKind.CONNECTION,
    "bad-json": FaultKind.MALFORMED,
    "empty-body": FaultKind.MALFORMED,
    "html": FaultKind.MALFORMED,
    "empty-choices": FaultKind.MALFORMED,
}
"""What the chat server does -> the fault a model has to raise."""

WIRE_ANSWERS: Mapping[str, tuple[str | None, str, str | None]] = {
    "missing-usage": ("YES", "stop", None),
    "length": ("YES, because this answer is cut off before", "length", None),
    "refusal": (None, "stop", "I cannot help with that."),
    "content-filter": ("", "content_filter", None),
    "null-content": (None, "stop", None),
}
"""What the chat server does -> text, finish reason and refusal that a model has to pass on."""

WIRE_SILENCE = ("drip", "hang")
"""What only the gateway's time limit ends."""

# A library may read the whole body before anyone can stop it; both outcomes are safe.
_HUGE = (("A" * HUGE, "stop", None), (None, TOO_LONG, None))
"""What a model may make of a huge body: all of it, which the gateway leaves out, or what says that it was too long."""


class ModelContract(ComponentContract):
    """Contract tests for every provider; with `endpoint_options`, also over HTTP against the chat server."""

    role: ClassVar[type[Spec]] = ModelSpec
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    """Environment variables the provider reads keys from; set to a canary in every test."""
    other_options: ClassVar[Mapping[str, Json]] = {}
    """Options of another model or endpoint; its fingerprint has to differ. Empty: not tested."""
    wire_faults: ClassVar[Mapping[str, FaultKind]] = WIRE_FAULTS

    @pytest.fixture(autouse=True)
    def _canaries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in self.key_variables:
            # Set for every test: a real key of the machine must not be sent anywhere.
            monkeypatch.setenv(name, CANARY)

    @pytest.fixture
    def wire(self) -> Iterator[ChatServer]:
        """Start the chat server, or skip if the provider's endpoint cannot be set."""
        if not self.endpoint_options("http://127.0.0.1:1/v1"):
            pytest.skip("no endpoint_options: this provider is not tested on the wire")
        with ChatServer(answer="YES") as server:
            yield server

    def endpoint_options(self, url: str) -> Mapping[str, Json]:  # noqa: ARG002 - for those who override it
        """Return the options that lead to an OpenAI-compatible endpoint; override to test on the wire."""
        return {}

    def send(
        self,
        base: Path,
        request: ChatRequest = _REQUEST,
        options: Mapping[str, Json] | None = None,
        limit: float | None = None,
    ) -> Completion:
        """Build the model, send one request, within a limit of seconds where one is given, and close it."""
        model = self.build_component(base, options=options)

        async def work() -> Completion:
            try:
                async with asyncio.timeout(limit):
                    completion: Completion = await model.complete(request)
            finally:
                await model.aclose()
            return completion

        return asyncio.run(work())

    def send_to(self, base: Path, server: ChatServer, request: ChatRequest = _REQUEST) -> Completion:
        """Send one request to the chat server."""
        return self.send(base, request, self.endpoint_options(server.url))

    def test_the_fingerprint_says_what_answers_and_no_secret(self, base: Path) -> None:
        """If this fails: name provider, model and endpoint in one line; neither it nor `repr` may contain keys."""
        model = self.build_component(base)
        assert model.fingerprint.strip(), "the fingerprint is empty"
        assert "\n" not in model.fingerprint, "the fingerprint is more than one line"
        assert self.build_component(base).fingerprint == model.fingerprint, "equal options give another fingerprint"
        # Fingerprints are stored in every record, and a `repr` ends in tracebacks and logs.
        for shown in (model.fingerprint, repr(model), str(model)):
            assert CANARY not in shown, "a key can be read"
        asyncio.run(model.aclose())

    def test_another_model_has_another_fingerprint(self, base: Path) -> None:
        """If this fails: answers of one model would be taken from the cache for another."""
        if not self.other_options:
            pytest.skip("no other_options were given")
        model, other = self.build_component(base), self.build_component(base, options=self.other_options)
        assert model.fingerprint != other.fingerprint, "two models share a fingerprint"

    def test_closing_twice_is_harmless(self, base: Path) -> None:
        """If this fails: `aclose` is also called after failures and before the first request."""
        model = self.build_component(base)

        async def close() -> None:
            await model.aclose()
            await model.aclose()

        asyncio.run(close())

    def test_rates_are_prices_or_unknown(self, base: Path) -> None:
        """If this fails: an unknown price is None; 0 means free."""
        rates = self.build_component(base).rates
        assert rates is None or min(rates.input, rates.output, rates.call) >= 0.0, f"a price below 0: {rates}"

    def test_a_simulated_model_answers(self, base: Path) -> None:
        """If this fails: a model declared as simulated needs no network, and answers the same question the same."""
        if not self.spec.simulated:
            return
        first = self.send(base)
        assert isinstance(first.text, str), "a simulated model gives no text"
        assert self.send(base) == first, "the same request is answered otherwise"

    def test_an_answer_comes_whole(self, base: Path, wire: ChatServer) -> None:
        """If this fails: text, finish reason or token counts of a plain answer are lost."""
        completion = self.send_to(base, wire)
        assert completion.text == "YES", f"the text is {completion.text!r}"
        assert completion.finish_reason == "stop", f"the finish reason is {completion.finish_reason!r}"
        assert completion.usage.prompt_tokens, "the prompt's tokens are not counted"
        assert completion.usage.completion_tokens, "the answer's tokens are not counted"

    def test_messages_and_sampling_arrive(self, base: Path, wire: ChatServer) -> None:
        """If this fails: what is asked differs from what the run recorded."""
        messages = (Message(role="system", content="Be brief. 短く"), Message(role="user", content="😀?"))
        sampling = Sampling(temperature=0.25, top_p=0.5, max_tokens=7, seed=11)
        self.send_to(base, wire, ChatRequest(messages=messages, sampling=sampling))
        body = wire.requests[-1]
        sent = [(message["role"], message["content"]) for message in body["messages"]]
        assert sent == [(message.role, message.content) for message in messages], f"the messages sent are {sent}"
        # Newer models of OpenAI refuse the old name.
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        got = (body.get("temperature"), body.get("top_p"), limit, body.get("seed"))
        assert got == (0.25, 0.5, 7, 11), f"temperature, top_p, limit and seed sent are {got}"

    def test_every_failure_is_a_fault_of_its_kind(self, base: Path, wire: ChatServer) -> None:
        """If this fails: the gateway would retry what is final, or give up what would pass."""
        for name, kind in self.wire_faults.items():
            before = wire.count
            fault = self.fault_of(base, wire, Fault(name))
            assert fault.kind is kind, f"{name} is raised as {fault.kind.value}, not as {kind.value}"
            # If the library retries on its own, switch that off: retries are the gateway's.
            assert wire.count == before + 1, f"{name}: {wire.count - before} requests were sent"
            assert CANARY not in f"{fault} {fault.detail} {fault!r}", f"{name}: the fault shows the key"

    def test_the_time_to_wait_is_passed_on(self, base: Path, wire: ChatServer) -> None:
        """If this fails: Retry-After in seconds or as an HTTP date is not read."""
        seconds = self.fault_of(base, wire, Fault("429-seconds", retry_after=7)).retry_after
        assert seconds == pytest.approx(7.0), f"'Retry-After: 7' is passed on as {seconds}"
        dated = self.fault_of(base, wire, Fault("429-date", retry_after=30)).retry_after
        assert dated is not None, "Retry-After as an HTTP date is not passed on"
        # A date has whole seconds, and the test itself takes a moment.
        assert 25.0 <= dated <= 31.0, f"Retry-After 30 s ahead is passed on as {dated}"
        assert self.fault_of(base, wire, Fault("429-bare")).retry_after is None, "a wait that no header states"

    def test_unfinished_answers_are_passed_on_as_they_are(self, base: Path, wire: ChatServer) -> None:
        """If this fails: the gateway cannot tell a cut, refused, absent or endless answer from a whole one."""
        for name, expected in {**WIRE_ANSWERS, "huge-body": _HUGE}.items():
            answer = self.answer_under(base, wire, name)
            got = (answer.text, answer.finish_reason, answer.refusal)
            assert got == expected or got in expected, f"{name}: text, finish reason and refusal are {str(got)[:200]}"

    def test_a_wait_can_be_given_up(self, base: Path, wire: ChatServer) -> None:
        """If this fails: the model catches the gateway's time limit, or waits where it cannot be cancelled."""
        for name in WIRE_SILENCE:
            wire.misbehave(Fault(name))
            with pytest.raises(TimeoutError):
                # The gateway cancels what takes too long; a provider that swallows it would hang the run.
                self.send(base, options=self.endpoint_options(wire.url), limit=0.3)

    def test_unknown_usage_is_not_zero(self, base: Path, wire: ChatServer) -> None:
        """If this fails: a provider that does not count tokens looks free."""
        usage = self.answer_under(base, wire, "missing-usage").usage
        assert usage.completion_tokens is None, f"completion_tokens is {usage.completion_tokens}, not None"

    def fault_of(self, base: Path, server: ChatServer, fault: Fault) -> ModelFault:
        """Send one request to a misbehaving server and return what is raised."""
        server.misbehave(fault)
        with pytest.raises(ModelFault) as caught:
            self.send_to(base, server)
        return caught.value

    def answer_under(self, base: Path, server: ChatServer, fault: str) -> Any:
        """Send one request to a misbehaving server and return the completion."""
        server.misbehave(Fault(fault))
        return self.send_to(base, server)
