import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import Interval, Measure
from jrh.text import count_noun, format_dollars
from jrh_measuring import (
    format_basis,
    format_counts,
    format_ends,
    format_estimate,
    format_interval,
    format_measure,
    format_number,
    format_tokens,
)
from jrh_testing import loop_over


def measure(**changes) -> Measure:
    return Measure(**{"name": "as-expected", "judge": "j", "task": "t", "n_trials": 60, "n_items": 30, **changes})


def test_a_rate_stands_with_its_interval_its_size_and_what_is_missing() -> None:
    rate = measure(estimate=0.934, interval=Interval(low=0.881, high=0.962), n_trials=60, missing={"timeout": 2})

    assert format_measure(rate, 2) == "0.93 [0.88, 0.96] n=30, 2 verdicts missing"


@loop_over(
    ("missing", "text"),
    [
        ({}, "30 items in 6 clusters"),
        ({"refused": 1}, "30 items in 6 clusters, 1 verdict missing"),
        ({"refused": 1, "no_reference": 2}, "30 items in 6 clusters, 3 verdicts missing"),
        # No verdict is missing where only the rationale cannot be read.
        ({"unreadable_rationale": 5}, "30 items in 6 clusters, 5 missing (unreadable rationale)"),
    ],
)
def test_what_is_missing_is_named_next_to_the_items(missing: dict[str, int], text: str) -> None:
    assert format_basis(measure(estimate=0.9, n_clusters=6, missing=missing)) == text


def test_what_cannot_be_estimated_says_so_and_why() -> None:
    assert format_measure(measure(estimate=None, flags=("degenerate",)), 2) == "not estimable (degenerate) n=30"
    assert format_estimate(measure(estimate=None), 2) == "not estimable"
    assert format_estimate(measure(estimate=float("nan")), 2) == "not estimable"


@loop_over(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.9996, ">0.99"),
        (0.0004, "<0.01"),
        (0.005, "0.01"),
        (0.994, "0.99"),
        (0.5, "0.50"),
    ],
)
def test_a_proportion_is_never_rounded_to_certainty(value: float, text: str) -> None:
    assert format_number(value, 2) == text


@given(st.floats(0, 1))
def test_only_zero_and_one_are_written_as_such(value: float) -> None:
    for digits in (2, 3):
        assert (float(format_number(value, digits).strip("<>")) in (0, 1)) == (value in (0, 1))


@loop_over(
    ("low", "high", "text"),
    [
        (-0.31, -0.002, "[-0.31, -0.002]"),
        (0.002, 0.31, "[0.002, 0.31]"),
        (-0.31, 0.0, "[-0.31, 0.00]"),
        (-0.002, 0.31, "[0.00, 0.31]"),
        (0.31, 0.998, "[0.31, 1.00]"),
        (-0.31, -0.0051, "[-0.31, -0.01]"),
        (0.0049, 0.31, "[0.005, 0.31]"),
        (-0.31, -0.0000001, "[-0.31, >-0.00001]"),
    ],
)
@loop_over("unit", ["coefficient", "difference"])
def test_rounding_hides_no_interval_without_0(low: float, high: float, text: str, unit: str) -> None:
    found = measure(estimate=(low + high) / 2, interval=Interval(low=low, high=high), unit=unit)
    assert format_interval(found, 2) == text
    assert format_ends(Interval(low=low, high=high), 2) == text


def test_coefficients_may_be_negative_but_never_minus_zero() -> None:
    assert format_number(-0.123, 2, proportion=False) == "-0.12"
    assert format_number(-0.001, 2, proportion=False) == "0.00"


@pytest.mark.parametrize(
    ("value", "text"), [(4.3125e50, "4.31e+50"), (-2e9, "-2.00e+09"), (999_999_999, "999999999.00")]
)
def test_a_vast_number_takes_no_more_room_than_others(value: float, text: str) -> None:
    assert format_number(value, 2, proportion=False) == text


def test_counts_come_most_frequent_first_and_ties_by_name() -> None:
    assert format_counts({"b": 1, "timeout": 3, "a": 1}) == "timeout 3, a 1, b 1"


@loop_over(
    ("cost", "unknown", "replies", "text"),
    [
        (0.0312, 0, 10, "$0.0312"),
        (0.0, 0, 10, "$0"),
        (0.0, 10, 10, "unknown"),
        (0.5, 3, 10, "$0.5000 + 3 calls of unknown price"),
        (0.0, 3, 10, "$0 + 3 calls of unknown price"),
        (0.00001, 0, 10, "<$0.0001"),
        (1234.5, 0, 10, "$1,234.5000"),
    ],
)
def test_an_unknown_price_is_never_free(cost: float, unknown: int, replies: int, text: str) -> None:
    assert format_dollars(cost, unknown, replies) == text


def test_unknown_token_counts_are_said() -> None:
    assert format_tokens(1200, 0, 3) == "1,200"
    assert format_tokens(1200, 1, 3) == "at least 1,200"
    assert format_tokens(0, 3, 3) == "unknown"


@loop_over(
    ("value", "how", "text"),
    [
        (0.25, {"signed": True}, "+0.250"),
        (-0.25, {"signed": True}, "-0.250"),
        (-0.0, {"signed": True}, "0.000"),
        (-0.0001, {"signed": True}, ">-0.001"),
        (0.5, {"trimmed": True}, "0.5"),
        (1.0, {"trimmed": True}, "1"),
        (0.99999, {"trimmed": True}, ">0.999"),
    ],
)
def test_differences_have_a_sign_and_thresholds_no_zeros_at_the_end(value, how, text) -> None:
    assert format_number(value, 3, **how) == text


@loop_over(
    ("unit", "estimate", "text"),
    [
        ("difference", 0.25, "+0.25 [0.12, 0.50]"),
        ("difference", -0.25, "-0.25 [0.12, 0.50]"),
        ("difference", 0.0, "0.00 [0.12, 0.50]"),
        ("difference in levels", 0.25, "+0.25 [0.12, 0.50]"),
        ("levels", 0.25, "0.25 [0.12, 0.50]"),
        ("proportion", 0.25, "0.25 [0.12, 0.50]"),
        ("coefficient", 0.25, "0.25 [0.12, 0.50]"),
    ],
)
def test_the_sign_of_a_difference_is_part_of_it_in_every_output(unit: str, estimate: float, text: str) -> None:
    measure = Measure(name="m", judge="j", estimate=estimate, unit=unit, interval=Interval(low=0.125, high=0.5))
    assert format_measure(measure, 2) == f"{text} n=0"


def test_a_small_number_that_is_no_share_gets_more_decimals() -> None:
    assert format_number(-0.0001, 3, proportion=False, nonzero=True) == "-0.0001"
    assert format_number(0.00004, 3, proportion=False, nonzero=True, signed=True) == "+0.00004"
    assert format_number(0.0, 3, proportion=False, nonzero=True) == "0.000"


def test_a_number_agrees_with_its_noun() -> None:
    assert [count_noun(1, "item"), count_noun(1680, "trial"), count_noun(2, "entry", "entries")] == [
        "1 item",
        "1,680 trials",
        "2 entries",
    ]


@loop_over(("p", "shown"), [(0.0312, "p = 0.031"), (0.00004, "p < 0.001"), (1.0, "p = 1.000"), (None, "not estimable")])
def test_a_p_value_is_stated_as_one(p: float | None, shown: str) -> None:
    assert format_estimate(Measure(name="x-p", judge="a", estimate=p, unit="p-value"), 2) == shown
