"""Provide working fakes: a scripted model, a parser of bare labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from attrs import frozen
from jrh import ChatRequest, Reply, Scale, Status, Usage, Verdict
from jrh.errors import FaultKind, ModelFault, StopReason, StopRun
from jrh.models.replies import read_reply
from jrh.plugins import Completion, Rates
from jrh.text import Redactor

from jrh_testing.server.bodies import tokens

Answer: TypeAlias = str | Completion | Reply | BaseException
"""What a script may answer: text, a completion, a finished reply, or something to raise."""

Script: TypeAlias = str | Sequence[Answer] | Mapping[str, Answer] | Callable[[ChatRequest], Answer]


@frozen(kw_only=True)
class Asked:
    """One request sent to a scripted model."""

    request: ChatRequest
    repeat: int = 0
    purpose: str = ""


class ScriptedModel:
    """A model that answers from a script: a `ModelClient` to components, and a `ChatModel` to the gateway.

    The script is one text for everything, a sequence used up in order, a mapping from a piece of the prompt to the
    answer (the first piece found counts), or a function of the request. A request the script has no answer for fails
    the test with an `AssertionError`.

    As a client it turns faults into replies the way the gateway does: a `ModelFault` becomes a status, a refused key
    stops the run.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        fingerprint: str = "",
        rates: Rates | None = None,
    ) -> None:
        """Keep the script; the fingerprint defaults to one made from the name."""
        self.name = name
        self.fingerprint = fingerprint or f"scripted/{name}"
        self.rates = rates
        self.asked: list[Asked] = []
        self.closed = 0
        self._script = script
        # A sequence is used up once over all requests; the other kinds of scripts answer any number of times.
        self._sequence: Iterator[Answer] = iter(())
        if not isinstance(script, (str, Mapping)) and not callable(script):
            self._sequence = iter(script)

    @property
    def requests(self) -> list[ChatRequest]:
        """Return the requests in order of arrival."""
        return [entry.request for entry in self.asked]

    @property
    def prompts(self) -> list[str]:
        """Return the text of every request: its messages joined by blank lines."""
        return [_prompt(request) for request in self.requests]

    def fresh(self) -> ScriptedModel:
        """Return a model with the same script, unused."""
        # Contract tests build a component several times: a script that is used up would fail the second build.
        return ScriptedModel(self._script, name=self.name, fingerprint=self.fingerprint, rates=self.rates)

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:
        """Answer as the gateway would; failures are statuses."""
        self.asked.append(Asked(request=request, repeat=repeat, purpose=purpose))
        answer = self._answer(request)
        if isinstance(answer, Reply):
            return answer
        # The gateway has no part in tests of components, so its translation of faults is repeated here.
        if isinstance(answer, ModelFault):
            return _fault_reply(answer, self.fingerprint)
        if isinstance(answer, BaseException):
            raise answer
        completion = _completion(answer, request)
        return read_reply(completion, Redactor(frozenset()), fingerprint=self.fingerprint, rates=self.rates)

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer as a provider would; faults are raised."""
        self.asked.append(Asked(request=request))
        answer = self._answer(request)
        if isinstance(answer, Reply):
            # A finished reply would bypass the gateway, which is what such a test is about.
            raise AssertionError("a scripted model answers a gateway with text or a Completion, not with a Reply")
        if isinstance(answer, BaseException):
            raise answer
        return _completion(answer, request)

    async def aclose(self) -> None:
        """Count that it was closed."""
        self.closed += 1

    def _answer(self, request: ChatRequest) -> Answer:
        if isinstance(self._script, str):
            return self._script
        if isinstance(self._script, Mapping):
            return self._look_up(self._script, _prompt(request))
        if callable(self._script):
            return self._script(request)
        try:
            return next(self._sequence)
        except StopIteration:
            # No default answer: a call that the test did not foresee would otherwise be answered as if it were right.
            raise AssertionError(f"the script of '{self.name}' has no answer number {len(self.asked)}") from None

    def _look_up(self, script: Mapping[str, Answer], prompt: str) -> Answer:
        # The first piece that occurs counts, so a test can list special cases before a general one.
        for piece, answer in script.items():
            if piece in prompt:
                return answer
        raise AssertionError(f"the script of '{self.name}' has no answer for the prompt {prompt[:200]!r}")


def _prompt(request: ChatRequest) -> str:
    return "\n\n".join(message.content for message in request.messages)


def _completion(answer: str | Completion, request: ChatRequest) -> Completion:
    if isinstance(answer, Completion):
        return answer
    usage = Usage(prompt_tokens=tokens(_prompt(request)), completion_tokens=tokens(answer))
    return Completion(text=answer, finish_reason="stop", usage=usage)


def _fault_reply(fault: ModelFault, fingerprint: str) -> Reply:
    # A refused key is refused for every question: the gateway stops the run.
    if fault.kind is FaultKind.UNAUTHORIZED:
        raise StopRun(StopReason.UNAUTHORIZED, fault.detail)
    kinds = {
        FaultKind.TIMEOUT: Status.TIMEOUT,
        FaultKind.CONTEXT_OVERFLOW: Status.CONTEXT_OVERFLOW,
        FaultKind.NOT_AVAILABLE: Status.NOT_AVAILABLE,
    }
    status = kinds.get(fault.kind, Status.PROVIDER_ERROR)
    return Reply(status=status, fingerprint=fingerprint, detail=fault.detail)


class LabelParser:
    """A parser of replies that consist of a label alone."""

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the label, or `unparsable`."""
        label = scale.match(reply.text)
        if label is None:
            return Verdict(status=Status.UNPARSABLE, detail="the reply is not a label")
        return Verdict(status=Status.OK, presented=label)
