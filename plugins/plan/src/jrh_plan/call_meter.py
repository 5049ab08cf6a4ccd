"""Count the calls that components would make: how many, and between which costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Final

from attrs import asdict, define, evolve, field, frozen
from jrh import ChatRequest, ModelClient, Reply, Status, SuiteError
from jrh.hashing import canonical_json
from jrh.models import StandIn, prompt_tokens_at_most, rates_of, request_key, worst_case
from jrh.plugins import ChatModel
from jrh.running import CostEstimate
from jrh.suite import ModelUse, ResolvedSuite

MOST_OUTPUT: Final = 1000
"""Most tokens assumed for a reply where neither the model nor the provider has a limit."""
LEAST_OUTPUT: Final = 1
FEWEST_CHARACTERS: Final = 3
"""Bytes of a token, at least: texts have two to six, by language and model."""
MOST_CHARACTERS: Final = 8
"""Characters of a token, at most."""
CACHED_FROM: Final = 1_024
"""Tokens of the shortest prompt that most providers cache (OpenAI, Anthropic, Gemini; DeepSeek caches from 64)."""
UNREADABLE: Final = "[planned]"


@frozen(kw_only=True)
class Amount(CostEstimate):
    """So many calls, and what they cost, at least and at most."""

    low: int = 0
    prompt_high: int = 0
    output_high: int = 0
    """Tokens, at most."""
    cached: float = 0.0
    """US dollars that providers may take off for what their prompt caches hold, at most."""

    def __add__(self, other: Amount) -> Amount:
        """Add two amounts."""
        return Amount(**{name: value + getattr(other, name) for name, value in asdict(self).items()})

    def at_most(self) -> Amount:
        """Return the amount if none of the calls is certain."""
        # The most stays: what may be called may be called by all.
        return evolve(self, low=0, cost_low=0.0)

    def times(self, factor: float) -> Amount:
        """Return so many times the amount; counts are rounded."""
        scaled = {name: value * factor for name, value in asdict(self).items()}
        return Amount(**{name: round(value) if name not in _DOLLARS else value for name, value in scaled.items()})


_DOLLARS: Final = frozenset({"cost_low", "cost_high", "worst", "cached"})


class Reading(Enum):
    """How the meter answers a request that has no stored reply."""

    FIRST = "first"
    """The provider fails, so no component asks on; first attempts alone are counted: the fewest calls."""
    QUESTIONS = "questions"
    """The provider fails; every request is counted, also where `repeat` is not an attempt."""
    UNREADABLE = "unreadable"
    """The reply cannot be read: a component uses up its attempts, so the calls counted are the most."""


@define
class Meter:
    """Counts requests, and answers those that were answered before from what is stored."""

    known: Callable[[str], Reply | None]
    """Request key -> stored reply."""
    reading: Reading = Reading.QUESTIONS
    amounts: dict[str, Amount] = field(factory=dict)
    """The suite's name of the model -> what its calls amount to."""
    longest: int = 0
    """Tokens of the longest prompt, at most."""
    opened: dict[str, tuple[ModelUse, ChatModel]] = field(factory=dict)
    asked: Counter[str] = field(factory=Counter)
    """Model -> requests that no stored reply answers."""
    unbounded: set[str] = field(factory=set)
    """Models asked for a reply of any length, whose cost has no upper bound."""
    _counted: set[str] = field(factory=set)

    def open(self, use: ModelUse, model: ChatModel) -> ModelClient:
        """Return a model that sends nothing and counts."""
        self.opened[use.name] = use, model
        return StandIn(use, model, self.answer)

    def begin(self, reading: Reading) -> None:
        """Start counting from zero."""
        self.reading = reading
        self.amounts, self.longest = {}, 0

    def check_bounds(self, resolved: ResolvedSuite) -> None:
        """Check that a budget in dollars can be held by the requests counted.

        Raises:
            SuiteError: a model's replies have no limit.
        """
        if resolved.suite.budget.usd is not None and self.unbounded:
            raise SuiteError(
                f"model '{name}': the suite has a budget in dollars, but a reply of this model has no limit, so its "
                "cost has no upper bound; give the model `max_tokens`, or remove the budget"
                for name in resolved.models
                if name in self.unbounded
            )

    def total(self) -> Amount:
        """Return the sum over all models."""
        return sum(self.amounts.values(), Amount())

    def answer(self, use: ModelUse, model: ChatModel, request: ChatRequest, repeat: int) -> Reply:
        """Count a request, or answer it from what is stored."""
        key = request_key(use, model, request, repeat)
        stored = self.known(key)
        if stored is not None:
            return stored
        mark = f"{self.reading.value}:{key}"
        # Per reading: the fewest and the most calls are counted from the same requests.
        if mark not in self._counted:  # equal requests are sent once
            self._counted.add(mark)
            self.asked[use.name] += 1
            self._count(use, model, request, certain=repeat == 0 or self.reading is not Reading.FIRST)
        # A reply that cannot be read makes a component try again, one that failed does not.
        if self.reading is Reading.UNREADABLE:
            return Reply(status=Status.OK, text=UNREADABLE)
        return Reply(status=Status.PROVIDER_ERROR, detail="planned only")

    def _count(self, use: ModelUse, model: ChatModel, request: ChatRequest, *, certain: bool) -> None:
        rates = rates_of(use, model)
        if rates is not None and worst_case(request, rates) is None:
            self.unbounded.add(use.name)
        most = tokens_at_most(request)
        self.longest = max(self.longest, most)
        least = sum(len(message.content) for message in request.messages) // MOST_CHARACTERS
        counted = amount(use, model, least, most, request.sampling.max_tokens)
        before = self.amounts.get(use.name, Amount())
        self.amounts[use.name] = before + (counted if certain else Amount())


def amount(use: ModelUse, model: ChatModel, least: int, most: int, max_tokens: int | None) -> Amount:
    """Return what one call amounts to, from the tokens of its prompt and the limit of its reply."""
    rates = rates_of(use, model)
    limit = rates.max_output_tokens if rates is not None else None
    # What a reply costs is planned with a usual length; only its worst case takes the limit.
    output = max_tokens or min(MOST_OUTPUT, limit or MOST_OUTPUT)
    counted = Amount(low=1, high=1, prompt_high=most, output_high=output)
    if rates is None:
        return evolve(counted, unpriced=1)
    # How much of a prompt repeats an earlier one, only the provider sees: all of it or nothing.
    cached = rates.input if most < CACHED_FROM or rates.cached_input is None else min(rates.input, rates.cached_input)
    return evolve(
        counted,
        cached=most * (rates.input - cached),
        cost_low=rates.call + least * cached + LEAST_OUTPUT * rates.output,
        cost_high=rates.call + most * rates.input + output * rates.output,
        # `most` counts three bytes to a token; a prompt may have a token for each of them.
        worst=rates.call + FEWEST_CHARACTERS * most * rates.input + (max_tokens or limit or output) * rates.output,
    )


def tokens_at_most(request: ChatRequest) -> int:
    """Estimate the most tokens of a prompt, its schema included."""
    # Bytes, not characters: tokens of other scripts hold fewer characters.
    written = sum(len(message.content.encode("utf-8", "surrogatepass")) for message in request.messages)
    schema = len(canonical_json(request.json_schema)) if request.json_schema is not None else 0
    estimate = (written + schema) // FEWEST_CHARACTERS + 16 * len(request.messages)
    return min(estimate, prompt_tokens_at_most(request))
