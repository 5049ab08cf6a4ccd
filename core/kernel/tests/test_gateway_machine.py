"""Whatever is asked, fails or is killed: the ledger holds the budget, and no answer that is kept is asked for twice."""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from jrh.errors import FaultKind, ModelFault, StopRun
from jrh.models.client import Client
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger, prompt_tokens_at_most
from jrh.plugins.protocols import ChatRequest, Completion, Rates
from jrh.store.run_store import Store
from jrh.suite.definition import Budget, Limits, ModelUse
from jrh.text.redact import Redactor
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Status, Usage
from jrh_testing import RecordingLog

RATES = Rates(input=0.001, output=0.01)
LONGEST = 20
"""Tokens of a reply at most."""
TINY = 1e-9
DEEP = bool(os.environ.get("JRH_DEEP"))
FREE = (FaultKind.SERVER_ERROR, FaultKind.RATE_LIMIT, FaultKind.REJECTED, FaultKind.CONTEXT_OVERFLOW)
"""Faults of attempts that the provider does not bill."""
BILLED = (FaultKind.TIMEOUT, FaultKind.MALFORMED, FaultKind.CONNECTION)
LASTING = frozenset({Status.OK, Status.REFUSED, Status.TRUNCATED})
KILL = "kill"


class Killed(BaseException):
    """The process ends here: nothing that follows happens."""


class Provider:
    """A provider that follows a script and keeps its own count of questions and bills."""

    rates = RATES
    fingerprint = "fake-1"

    def __init__(self) -> None:
        self.acts: list[Any] = []
        """What it does next: a share of the longest reply, a kind of fault, or `KILL`; empty: a short answer."""
        self.billed: list[float] = []
        self.answered: Counter[str] = Counter()
        """Question -> complete answers that reached the gateway."""
        self.ledger: Ledger | None = None
        self.in_flight = 0.0
        """US dollars that the calls under way may cost."""
        self.most = 0.0
        """The most that was paid, uncertain and under way at any time of this process."""
        self.beyond = False
        """A call was billed above its maximum."""
        self.after = 0
        """Attempts that were sent although one before had been billed above its maximum and answered."""

    async def complete(self, request: ChatRequest) -> Completion:
        self.after += self.beyond
        assert self.ledger is not None
        # Counted here, because two calls at once may take more than there is although what they cost is less.
        may_cost = prompt_tokens_at_most(request) * RATES.input + (request.sampling.max_tokens or 0) * RATES.output
        self.in_flight += may_cost
        self.most = max(self.most, self.ledger.paid + self.ledger.uncertain + self.in_flight)
        try:
            return await self.act(request)
        finally:
            self.in_flight -= may_cost

    async def act(self, request: ChatRequest) -> Completion:
        act = self.acts.pop(0) if self.acts else 0.1
        await asyncio.sleep(0)
        limit = request.sampling.max_tokens or LONGEST
        if act == KILL or act in BILLED:  # the answer is lost but still billed
            self.billed.append(prompt_tokens_at_most(request) * RATES.input + limit * RATES.output)
        if act == KILL:
            raise Killed
        if isinstance(act, FaultKind):
            raise ModelFault(act, "as told", retry_after=0.0)
        used = Usage(prompt_tokens=prompt_tokens_at_most(request), completion_tokens=math.ceil(limit * act))
        cost = (used.prompt_tokens or 0) * RATES.input + (used.completion_tokens or 0) * RATES.output
        self.billed.append(cost)
        self.answered[request.messages[0].content] += 1
        self.beyond = self.beyond or act > 1.0
        return Completion(text="YES", finish_reason="stop", usage=used)

    async def aclose(self) -> None:
        pass


class Unhurried(Gateway):
    """A gateway whose waits between attempts take no time."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


QUESTIONS = st.integers(0, 5)
ACTS = st.sampled_from([0.05, 0.3, 0.7, 1.0, 1.0, *FREE, *BILLED, KILL])
CAPS = st.sampled_from([None, 0.3, 0.5, 0.75, 1.0, 2.0])


class GatewayMachine(RuleBasedStateMachine):
    """A run directory over its processes: what was paid stays paid, and what is known is not asked for again."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="jrh-gateway-"))
        self.provider = Provider()
        self.kept: set[int] = set()
        """Questions that a reply was returned for."""

    @initialize(cap=CAPS)
    def start(self, cap: float | None) -> None:
        self.cap = cap
        self.open()

    def open(self) -> None:
        """Begin a process: as a run does, go on from what the directory says is paid."""
        self.store = Store.open(self.path, "suite")
        self.store.calls.settle_lost()
        totals = self.store.calls.totals()
        self.ledger = Ledger(budget=Budget(usd=self.cap), paid=totals.paid, uncertain=totals.uncertain)
        self.gateway = Unhurried(self.store, None, self.ledger, Redactor(frozenset()), RecordingLog())
        self.at_start = self.ledger.paid + self.ledger.uncertain
        self.provider.most, self.provider.ledger = 0.0, self.ledger
        use = ModelUse(
            name="mini", component="fake", sampling=Sampling(max_tokens=LONGEST), limits=Limits(max_attempts=3)
        )
        self.client: Client = self.gateway.client(use, self.provider)

    @rule(questions=st.lists(QUESTIONS, min_size=1, max_size=6), acts=st.lists(ACTS, min_size=1, max_size=6))
    def ask(self, questions: list[int], acts: list[Any]) -> None:
        """Ask several questions at once; some are the same."""
        self.provider.acts = list(acts)
        before, kept, was_stopped = Counter(self.provider.answered), frozenset(self.kept), self.gateway.stopped
        results = asyncio.run(self.together(questions))
        for question, result in results:
            if not isinstance(result, BaseException) and result.status in LASTING:
                self.kept.add(question)
        for asked, count in (self.provider.answered - before).items():
            assert count == 1, "asked twice at the same time"
            assert asked not in {text(each) for each in kept}, "asked again"
            assert was_stopped is None, "asked after the stop"
        if any(isinstance(result, Killed) for _, result in results):
            self.killed()

    async def together(self, questions: list[int]) -> list[tuple[int, Any]]:
        tasks = [asyncio.ensure_future(self.client.ask(request(question))) for question in questions]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.done() and isinstance(task.exception(), Killed) for task in tasks):
            for task in tasks:
                task.cancel()  # nothing of a killed process goes on
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return list(zip(questions, results, strict=True))

    def killed(self) -> None:
        """Go on with a copy of the files as they are: no connection is closed and no outcome is written any more."""
        left = self.path
        self.path = Path(tempfile.mkdtemp(prefix="jrh-gateway-"))
        shutil.copytree(left, self.path, dirs_exist_ok=True)
        self.store.close()
        shutil.rmtree(left)
        self.open()

    @rule()
    def restart(self) -> None:
        """End the process properly, and begin another one."""
        self.store.close()
        self.open()

    @rule(cap=CAPS)
    def change_the_budget(self, cap: float | None) -> None:
        self.cap = cap
        self.restart()

    @precondition(lambda self: not self.provider.beyond)
    @rule(question=QUESTIONS, share=st.floats(1.1, 30.0))
    def bill_beyond_the_maximum(self, question: int, share: float) -> None:
        self.provider.acts = [share]
        ((_, result),) = asyncio.run(self.together([question]))
        if self.provider.beyond and self.cap is not None:
            before = self.ledger.paid + self.ledger.uncertain
            results = asyncio.run(self.together([6, 7]))
            # Others are sent while the cap holds, with as much reserved for them as was billed.
            assert self.ledger.paid + self.ledger.uncertain <= max(self.cap, before) + TINY
            if before > self.cap:
                assert all(isinstance(result, StopRun) for _, result in results)
                assert self.provider.after == 0, "it was asked again"
            self.kept |= {
                each for each, result in results if not isinstance(result, BaseException) and result.status in LASTING
            }
        if not isinstance(result, BaseException) and result.status in LASTING:
            self.kept.add(question)
        self.provider.after = 0
        if self.provider.beyond:
            self.restart()

    @invariant()
    def the_cap_holds(self) -> None:
        """A cap that was set below what had been paid before allows no call."""
        if hasattr(self, "ledger") and self.cap is not None and not self.provider.beyond:
            taken = self.ledger.paid + self.ledger.uncertain + self.ledger.reserved
            assert taken <= max(self.cap, self.at_start) + TINY
            assert max(self.provider.most, self.at_start) <= max(self.cap, self.at_start) + TINY

    @invariant()
    def no_sum_is_negative(self) -> None:
        if hasattr(self, "ledger"):
            assert min(self.ledger.paid, self.ledger.uncertain, self.ledger.reserved) >= 0.0
            assert self.ledger.paid + self.ledger.reserved >= 0.0
            assert (self.ledger.reserved, self.ledger.in_flight) == (0.0, 0), "nothing is in flight"

    @invariant()
    def what_the_provider_billed_is_on_the_books(self) -> None:
        """What is paid and what is uncertain are never less than the provider's own sum."""
        if hasattr(self, "ledger"):
            totals = self.store.calls.totals()
            assert totals.paid == pytest.approx(self.ledger.paid)
            assert totals.uncertain == pytest.approx(self.ledger.uncertain)
            assert totals.paid <= sum(self.provider.billed) + TINY
            if not self.provider.beyond:
                assert totals.paid + totals.uncertain >= sum(self.provider.billed) - TINY

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
        shutil.rmtree(self.path, ignore_errors=True)


def text(question: int) -> str:
    return f"Question {question}?" + "x" * (10 * question)


def request(question: int) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text(question)),))


GatewayMachine.TestCase.settings = settings(
    max_examples=400 if DEEP else 50,
    stateful_step_count=40 if DEEP else 15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestGateway = pytest.mark.timeout(0 if DEEP else 300)(GatewayMachine.TestCase)
