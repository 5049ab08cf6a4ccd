"""How hard a model is used: never harder than the suite allows. Times are simulated seconds."""

from __future__ import annotations

from typing import Any

import pytest
from jrh.models.client import RateLimits
from jrh.suite.definition import Limits
from jrh_testing.simulated_time import in_simulated_time


def limits(**given: Any) -> RateLimits:
    return RateLimits(Limits(**given))


def seconds(gate: RateLimits, *tokens: int) -> float:
    """Return how long requests with these numbers of tokens wait, one after the other."""

    async def work() -> None:
        for number in tokens:
            await gate.acquire(number)

    return in_simulated_time(work)[1]


def test_without_rates_there_is_nothing_to_wait_for() -> None:
    assert not limits().any
    assert limits(requests_per_minute=1).any
    assert limits(tokens_per_minute=1).any
    assert seconds(limits(), 10**9) == 0.0


def test_requests_are_evened_out() -> None:
    ten_a_second = {"requests_per_minute": 600}
    assert seconds(limits(**ten_a_second), *[0] * 10) == 0.0  # ten at once
    assert seconds(limits(**ten_a_second), *[0] * 13) == pytest.approx(0.3)  # then one each 0.1 s


def test_tokens_are_evened_out() -> None:
    assert seconds(limits(tokens_per_minute=6000), 980) == 0.0  # a thousand in a window of ten seconds
    assert seconds(limits(tokens_per_minute=6000), 980, 40) == pytest.approx(0.2)  # 20 too many, at 100 a second


def test_a_request_larger_than_the_window_is_let_through_when_the_window_is_empty() -> None:
    assert seconds(limits(tokens_per_minute=60), 10**6) == 0.0


def test_a_rate_below_one_a_window_still_lets_the_first_through() -> None:
    assert seconds(limits(requests_per_minute=0.5), 0) == 0.0
    assert seconds(limits(requests_per_minute=0.5), 0, 0) == pytest.approx(120.0)
