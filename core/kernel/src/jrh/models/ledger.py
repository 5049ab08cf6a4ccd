"""Account for the cost of a run: for whom a call is made, what it may cost, what it did cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from attrs import asdict, define, evolve, fields, frozen

from jrh.errors import StopReason, StopRun
from jrh.hashing import canonical_json
from jrh.plugins.protocols import ChatRequest, Rates
from jrh.store.calls_table import OF_STAGES, Spent
from jrh.store.run_store import Store
from jrh.suite.definition import Budget
from jrh.values.verdicts import Reply, Usage

JUDGE: Final = "judge"
WRITER: Final = "writer"
GRADER: Final = "grader"
VALIDATOR: Final = "validator"
PREFLIGHT: Final = "preflight"
ROLES: Final = (JUDGE, WRITER, GRADER, VALIDATOR, PREFLIGHT)
"""In the order of reports."""
_CHECK: Final = "validate"
"""Purpose of a call that checks a text."""


@frozen(kw_only=True)
class Payer:
    """What a call is made for."""

    owner: str
    """The trial, or the digest of the stage that drafts."""
    role: str
    name: str = ""
    """The suite's name of the component."""
    task: str = ""
    test: str = ""

    @classmethod
    def of_stage(cls, stage: str, *, name: str, task: str, test: str) -> Payer:
        """Return what the calls of a declared stage are made for, until `store.spending.forget_stage`."""
        return cls(owner=f"{OF_STAGES}{stage}", role=GRADER, name=name, task=task, test=test)

    def role_of(self, purpose: str) -> str:
        """Return the role; a perturber that has its text checked asks a grader."""
        return GRADER if self.role == WRITER and purpose == _CHECK else self.role


# A context variable, because the calls are made by components that know nothing of stages: every task that a component
# starts inherits it.
_current: ContextVar[Payer | None] = ContextVar("payer", default=None)


def current_payer() -> Payer | None:
    """Return what the current call is made for; None outside of the stages."""
    return _current.get()


@contextmanager
def book_to(payer: Payer) -> Iterator[None]:
    """Book the calls made inside to this payer."""
    token = _current.set(payer)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def book_as(role: str, name: str) -> Iterator[None]:
    """Book the calls made inside to another role of the current payer."""
    payer = _current.get()
    if payer is None:
        yield
        return
    with book_to(evolve(payer, role=role, name=name)):
        yield


TOOL_PROMPT: Final = 600
"""Tokens that providers add to a prompt with a tool, at most: about 350 where they say so."""
_CENT_OF_A_CENT: Final = 1e-12
"""US dollars by which sums may differ in floating point."""


def cost_of(usage: Usage, rates: Rates | None) -> float | None:
    """Return the cost of a reply in US dollars, or None if the price or a token count is unknown."""
    if rates is None:
        return None
    # Whatever was used: a server whose tokens are free need not report any usage.
    if rates.input == 0.0 and rates.output == 0.0:
        return rates.call
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    tokens = usage.prompt_tokens * rates.input + usage.completion_tokens * rates.output
    return rates.call + tokens - saving_of(usage, rates)


def saving_of(usage: Usage, rates: Rates | None) -> float:
    """Return by how many US dollars a reply was cheaper for the tokens that its provider had cached."""
    if rates is None or rates.cached_input is None:
        return 0.0
    # A provider's count is not trusted to be a part of the prompt.
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens or 0)
    return cached * max(0.0, rates.input - rates.cached_input)


def prompt_tokens_at_most(request: ChatRequest) -> int:
    """Return an upper bound of the prompt's tokens: every token covers at least one byte."""
    most = TOOL_PROMPT if request.output == "tool-call" else 0
    for message in request.messages:
        # 16 for the role and the marks around a message.
        most += _size(message.content) + 16
    return most if request.json_schema is None else most + _size(_schema(request))


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """Estimate the number of tokens: one per four characters, plus four per message."""
    return sum(len(message.content) // 4 + 4 for message in request.messages) + len(_schema(request)) // 4


def _size(text: str) -> int:
    """Return the number of bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _schema(request: ChatRequest) -> str:
    """Return the schema as text, because providers add it to the prompt."""
    return canonical_json(request.json_schema) if request.json_schema is not None else ""


def worst_case(request: ChatRequest, rates: Rates | None) -> float | None:
    """Return an upper bound of a request's cost in US dollars, or None if there is none."""
    if rates is None:
        return None
    longest = longest_reply(request, rates)
    if longest is None and rates.output > 0.0:
        return None
    return rates.call + prompt_tokens_at_most(request) * rates.input + (longest or 0) * rates.output


def longest_reply(request: ChatRequest, rates: Rates) -> int | None:
    """Return the most tokens of a reply: the request's limit or the provider's; None if there is neither."""
    return request.sampling.max_tokens or rates.max_output_tokens


@define(kw_only=True)
class Ledger:
    """Add up the costs and stop the run before it exceeds the budget."""

    budget: Budget = Budget()
    paid: float = 0.0
    uncertain: float = 0.0
    reserved: float = 0.0
    in_flight: int = 0
    """Number of calls that something is reserved for."""
    calls: int = 0
    unpriced: int = 0
    earlier: float = 0.0
    """US dollars paid by earlier processes, in the run directory; part of `paid`."""
    unbounded: int = 0
    contradicted: int = 0

    @classmethod
    def of_store(cls, budget: Budget, store: Store) -> Ledger:
        """Return a ledger that knows what earlier processes spent in the run directory."""
        totals = store.calls.totals()
        # Judges that ask no model of the suite state their cost themselves, and have no calls in the store.
        paid = totals.paid + store.spending.judge_costs()
        return cls(budget=budget, **asdict(evolve(totals, paid=paid, earlier=paid)))

    @property
    def room(self) -> float:
        """Return the US dollars that neither paid nor reserved calls take of the budget; infinite without one."""
        if self.budget.usd is None:
            return math.inf
        return self.budget.usd - self.paid - self.uncertain - self.reserved

    def may_wait(self, worst: float | None) -> bool:
        """Tell whether a call does not fit the budget now, but may when the calls in flight are settled."""
        return worst is not None and worst > self.room + _CENT_OF_A_CENT and self.in_flight > 0

    def reserve(self, worst: float | None) -> None:
        """Reserve the worst-case cost of a call before it is sent.

        Raises:
            StopRun: the call could exceed the budget, or its cost has no bound and there is a budget.
        """
        # Attempts count, not answers: a retry is a call, too.
        if self.budget.calls is not None and self.calls >= self.budget.calls:
            raise StopRun(StopReason.BUDGET, f"the budget of {self.budget.calls} calls is used up")
        if self.budget.usd is not None:
            if worst is None:
                raise StopRun(
                    StopReason.BUDGET,
                    "the cost of a call has no upper bound, and the suite has a budget in dollars: give its model a "
                    "`price` and `max_tokens`",
                )
            if worst > self.room + _CENT_OF_A_CENT:
                raise StopRun(
                    StopReason.BUDGET,
                    f"the next call could exceed the budget of ${amount(self.budget.usd)}: ${self.paid:.4f} is paid, "
                    f"${self.reserved + self.uncertain:.4f} is set aside for calls in flight or of unknown outcome, "
                    f"and the call may cost up to ${worst:.4f}",
                )
        self.calls += 1
        self.reserved += worst or 0.0
        self.in_flight += bool(worst)

    def resume(self, worst: float | None) -> None:
        """Take a call that an earlier process sent from the uncertain ones back to those in flight."""
        if worst is None:
            self.unbounded -= 1
        else:
            self.uncertain = max(0.0, self.uncertain - worst)
        self.reserved += worst or 0.0
        self.in_flight += bool(worst)

    def settle(self, worst: float | None, cost: float | None, *, most: float | None = None) -> None:
        """Replace the reserved amount by the reply's cost; an unknown cost counts as the worst case.

        Args:
            worst: what was reserved.
            cost: what the reply cost; None if unknown.
            most: the call's worst case by its price and longest reply, where that is not what was reserved.
        """
        self._release(worst)
        if cost is None:
            self.unpriced += 1
            self._doubt(worst)
        else:
            self.paid += cost
        limit = worst if most is None else most
        self.contradicted += cost is not None and limit is not None and cost > limit + _CENT_OF_A_CENT

    def _doubt(self, worst: float | None) -> None:
        """Count an unknown cost at its worst case."""
        self.uncertain += worst or 0.0
        self.unbounded += worst is None

    def _release(self, worst: float | None) -> None:
        self.in_flight -= bool(worst)
        # Without calls in flight nothing is reserved; sums of floating-point numbers would leave a rest.
        self.reserved = self.reserved - (worst or 0.0) if self.in_flight else 0.0

    def lose(self, worst: float | None, *, billed: bool) -> None:
        """Release a failed attempt; if it may have been billed, its worst case still counts."""
        self._release(worst)
        if billed:
            self._doubt(worst)

    def note_stated(self, cost: float) -> None:
        """Add what a judge that asks no model of the suite says its verdict cost."""
        self.paid += cost

    def totals(self) -> Spent:
        """Return the sums."""
        return Spent(**{field.name: getattr(self, field.name) for field in fields(Spent)})


def amount(usd: float) -> str:
    """Format dollars with cents, and amounts below a cent in full."""
    return f"{usd:.2f}" if usd == round(usd, 2) else f"{usd:.6g}"


ENOUGH: Final = 5
"""Replies after which their use says something about the next one."""
PROMPT_MARGIN: Final = 1.1
"""Tokens per byte of the next prompt, relative to the most seen."""
REPLY_MARGIN: Final = 1.25
"""Length that a reply must be given, relative to the longest seen."""


@define
class SeenUsage:
    """The most that replies of one model have used."""

    replies: int = 0
    longest: int = 0
    """Tokens of the longest reply."""
    per_byte: float = 0.0
    """Most tokens of a prompt per byte of its upper bound."""
    dearer: float = 1.0
    """Highest cost of a reply relative to what its tokens cost by the prices, where the provider states costs."""
    billed: int = 0
    """Answers of this process to questions of the run with a cost and a worst case."""
    ratio: float = 1.0
    """Highest of their costs relative to the worst case by price; above 1 for gateways with prompts of their own."""
    earlier_ratio: float = 1.0
    earlier_excess: float = 0.0
    """The same, and the most dollars above the worst case, of earlier processes or of the preflight."""

    @property
    def factor(self) -> float:
        """Return how many times its worst case by price a call may cost, as billed so far."""
        # Of another price or gateway, perhaps: what this process was billed counts alone as soon as it says something.
        return self.ratio if self.billed >= ENOUGH else max(self.ratio, self.earlier_ratio)

    def note_bill(self, cost: float | None, limit: float | None, *, earlier: bool) -> None:
        """Take into account what an answer cost, relative to its worst case by price."""
        if cost is None or not limit:
            return
        if earlier:
            self.earlier_ratio = max(self.earlier_ratio, cost / limit)
            self.earlier_excess = max(self.earlier_excess, cost - limit)
        else:
            self.billed += 1
            self.ratio = max(self.ratio, cost / limit)

    def trial(self, limit: float, room: float) -> float:
        """Return what to reserve for a call that is alone in flight, so that one call may correct the factor."""
        # A hidden prompt adds the same to a tiny question and to a long one: as a factor it would be far too much.
        alone = max(limit * self.ratio, limit + self.earlier_excess)
        return alone if self.billed < ENOUGH and alone <= room else limit * self.factor

    def note(self, request: ChatRequest, reply: Reply, rates: Rates | None) -> None:
        """Take a reply into account that says what it used."""
        prompt, completion = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if prompt is not None and completion is not None:
            self.replies += 1
            self.longest = max(self.longest, completion)
            # A ratio, because the next prompt has another length.
            self.per_byte = max(self.per_byte, prompt / prompt_tokens_at_most(request))
            priced = cost_of(reply.usage, rates)
            if priced and reply.cost is not None:
                self.dearer = max(self.dearer, reply.cost / priced)

    def narrow(self, request: ChatRequest, rates: Rates, room: float) -> tuple[ChatRequest, float] | None:
        """Return the request with a limit on its reply that keeps it within `room`, and its cost at most.

        None if too little has been seen, or if a reply as long as the longest one would not fit.
        """
        longest = longest_reply(request, rates)
        # A few short replies say little about the longest one.
        if self.replies < ENOUGH or longest is None or self.longest > longest:
            return None
        # What the provider states has been so many times what its prices say.
        room /= self.dearer
        bound = prompt_tokens_at_most(request)
        seen = math.ceil(bound * self.per_byte * PROMPT_MARGIN)
        prompt = (seen if self.factor > 1.0 else min(bound, seen)) * rates.input + rates.call
        tokens = longest if rates.output <= 0.0 else min(longest, math.floor((room - prompt) / rates.output))
        if prompt > room or tokens < min(longest, math.ceil(self.longest * REPLY_MARGIN)):
            return None
        narrow = evolve(request, sampling=evolve(request.sampling, max_tokens=tokens))
        return narrow if tokens < longest else request, (prompt + tokens * rates.output) * self.dearer
