"""What is spent is reserved first, and never more than the budget."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import StopReason, StopRun
from jrh.models.ledger import Ledger, cost_of, estimate_prompt_tokens, prompt_tokens_at_most, worst_case
from jrh.plugins.protocols import ChatRequest, Rates
from jrh.suite.definition import Budget
from jrh.values.cases import Message, Sampling
from jrh.values.verdicts import Usage
from jrh_testing import loop_over

RATES = Rates(input=0.001, output=0.01)
FREE = Rates(input=0.0, output=0.0)


def request(text: str = "hello", max_tokens: int | None = None) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), sampling=Sampling(max_tokens=max_tokens))


@loop_over(
    ("usage", "rates", "cost"),
    [
        (Usage(prompt_tokens=1000, completion_tokens=100), RATES, 2.0),
        (Usage(prompt_tokens=0, completion_tokens=0), RATES, 0.0),
        (Usage(prompt_tokens=1000), RATES, None),
        (Usage(completion_tokens=1000), RATES, None),
        (Usage(), RATES, None),
        (Usage(prompt_tokens=1000, completion_tokens=100), None, None),
        (Usage(), FREE, 0.0),
        (Usage(), Rates(input=0.0, output=0.0, call=0.25), 0.25),
        (Usage(prompt_tokens=1000, completion_tokens=100), evolve(RATES, call=0.25), 2.25),
        (Usage(), evolve(RATES, call=0.25), None),
        (Usage(), None, None),
    ],
)
def test_a_cost_is_known_only_where_price_and_tokens_are(usage: Usage, rates: Rates | None, cost: float | None) -> None:
    assert cost_of(usage, rates) == cost


@loop_over(
    ("max_tokens", "rates", "bounded"),
    [
        (None, RATES, False),
        (50, RATES, True),
        (None, Rates(input=0.001, output=0.01, max_output_tokens=50), True),
        (None, Rates(input=0.001, output=0.0), True),
        (None, FREE, True),
        (50, None, False),
    ],
)
def test_a_worst_case_needs_a_price_and_a_longest_reply(
    max_tokens: int | None, rates: Rates | None, bounded: bool
) -> None:
    assert (worst_case(request(max_tokens=max_tokens), rates) is not None) is bounded


def test_the_longest_reply_the_request_allows_counts_before_the_models() -> None:
    rates = Rates(input=0.0, output=1.0, max_output_tokens=1000)
    assert worst_case(request(max_tokens=7), rates) == 7.0
    assert worst_case(request(), rates) == 1000.0
    assert worst_case(request(), evolve(rates, call=0.25)) == 1000.25, "a price per call is due whatever the length"


@given(st.text(max_size=200))
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert prompt_tokens_at_most(request(text)) >= len(text.encode("utf-8"))
    assert estimate_prompt_tokens(request(text)) <= prompt_tokens_at_most(request(text))


def test_a_lone_surrogate_has_a_bound_too() -> None:
    assert prompt_tokens_at_most(request("\ud800")) >= 3


def test_a_schema_that_is_sent_along_counts_as_prompt() -> None:
    schema = {"type": "object", "properties": {"label": {"enum": ["YES"] * 100}}}
    bare, asked = request(), ChatRequest(messages=request().messages, json_schema=schema)
    assert prompt_tokens_at_most(asked) - prompt_tokens_at_most(bare) >= 600
    assert estimate_prompt_tokens(asked) - estimate_prompt_tokens(bare) >= 150


def test_the_budget_is_reserved_before_and_settled_after() -> None:
    ledger = Ledger(budget=Budget(usd=1.0))
    ledger.reserve(0.6)
    with pytest.raises(StopRun) as stopped:
        ledger.reserve(0.6)
    assert stopped.value.reason is StopReason.BUDGET
    assert "budget of $1.00: $0.0000 is paid, $0.6000 is set aside" in stopped.value.message
    ledger.settle(0.6, 0.1)
    ledger.reserve(0.6)
    assert (ledger.paid, ledger.reserved, ledger.calls) == (0.1, 0.6, 2)


def test_a_refused_reservation_changes_nothing() -> None:
    ledger = Ledger(budget=Budget(usd=1.0))
    with pytest.raises(StopRun):
        ledger.reserve(1.5)
    assert (ledger.reserved, ledger.calls) == (0.0, 0)
    ledger.reserve(1.0)


def test_a_call_without_a_bound_fails_closed_only_where_there_is_a_budget_in_dollars() -> None:
    Ledger().reserve(None)
    Ledger(budget=Budget(calls=5)).reserve(None)
    with pytest.raises(StopRun, match=r"no upper bound.*`price` and `max_tokens`"):
        Ledger(budget=Budget(usd=1000.0)).reserve(None)


def test_free_calls_need_no_budget() -> None:
    ledger = Ledger(budget=Budget(usd=0.0))
    ledger.reserve(0.0)
    ledger.settle(0.0, 0.0)
    assert ledger.totals().paid == 0.0


def test_calls_are_counted_and_stopped_at_the_budget() -> None:
    ledger = Ledger(budget=Budget(calls=2), calls=1)
    ledger.reserve(None)
    with pytest.raises(StopRun, match="budget of 2 calls is used up"):
        ledger.reserve(None)


def test_a_reply_of_unknown_cost_counts_at_its_worst_and_as_unpriced() -> None:
    ledger = Ledger()
    ledger.reserve(0.3)
    ledger.settle(0.3, None)
    spent = ledger.totals()
    assert (spent.paid, spent.uncertain, spent.unpriced) == (0.0, 0.3, 1)


def test_a_lost_call_counts_at_its_worst_only_where_it_may_have_been_billed() -> None:
    ledger = Ledger()
    for billed in (True, False):
        ledger.reserve(0.3)
        ledger.lose(0.3, billed=billed)
    assert (ledger.uncertain, ledger.reserved) == (0.3, 0.0)


ENDS = st.sampled_from(["cheap", "worst", "unknown", "lost", "refused"])


@given(st.floats(0.0, 5.0), st.lists(st.tuples(st.floats(0.0, 1.0), ENDS, st.integers(0, 5))))
def test_the_budget_is_never_exceeded_in_any_order_of_ends(budget: float, calls: list[tuple[float, str, int]]) -> None:
    ledger = Ledger(budget=Budget(usd=budget))
    in_flight: list[tuple[float, str]] = []

    def end(which: int) -> None:
        worst, how = in_flight.pop(which % len(in_flight))
        if how in ("lost", "refused"):
            ledger.lose(worst, billed=how == "lost")
        else:
            ledger.settle(worst, {"cheap": worst / 3, "worst": worst, "unknown": None}[how])

    for worst, how, under_way in calls:
        while len(in_flight) > under_way:
            end(0)
        try:
            ledger.reserve(worst)
        except StopRun:
            continue
        in_flight.append((worst, how))
        assert ledger.paid + ledger.uncertain + ledger.reserved <= budget + 1e-9
    while in_flight:
        end(-1)
    assert ledger.paid + ledger.uncertain <= budget + 1e-9
    assert ledger.reserved == pytest.approx(0.0, abs=1e-9)


def test_a_small_budget_is_not_rounded_to_nothing() -> None:
    with pytest.raises(StopRun, match=r"the budget of \$0\.0005: "):
        Ledger(budget=Budget(usd=0.0005)).reserve(0.001)
