"""Rules are decided by intervals: the properties that any decision has."""

import math
from collections import Counter

import jrh_stats
import numpy as np
import pytest
from gate_findings import FLAGS, alone, measured, of
from hypothesis import given
from hypothesis import strategies as st
from jrh import Interval, JrhError
from jrh_measuring import parse_rule
from jrh_measuring.gating.deciding import Outcome, decide

SHARES = st.floats(0, 1)
OPERATORS = st.sampled_from([">=", "<=", ">", "<"])
OPPOSITE = {">=": "<", "<=": ">", ">": "<=", "<": ">="}
TRUE = {
    ">=": lambda value, threshold: value >= threshold,
    "<=": lambda value, threshold: value <= threshold,
    ">": lambda value, threshold: value > threshold,
    "<": lambda value, threshold: value < threshold,
}


def outcome(measure, operator, threshold):
    return of(parse_rule(f"as-expected {operator} {threshold!r}"), measure).outcome


@given(ends=st.tuples(SHARES, SHARES).map(sorted), operator=OPERATORS, threshold=SHARES)
def test_a_rule_holds_exactly_if_it_is_true_of_every_value_of_the_interval(ends, operator, threshold):
    low, high = ends
    true = [TRUE[operator](end, threshold) for end in (low, high)]
    expected = {2: Outcome.HOLDS, 1: Outcome.UNDECIDED, 0: Outcome.FAILS}[sum(true)]
    assert outcome(measured(low, high), operator, threshold) is expected


@given(ends=st.tuples(SHARES, SHARES).map(sorted), operator=OPERATORS, threshold=SHARES)
def test_a_rule_holds_exactly_if_its_opposite_fails(ends, operator, threshold):
    measure = measured(*ends)
    one, other = outcome(measure, operator, threshold), outcome(measure, OPPOSITE[operator], threshold)
    assert {one, other} in ({Outcome.HOLDS, Outcome.FAILS}, {Outcome.UNDECIDED})


@given(
    ends=st.tuples(SHARES, SHARES).map(sorted), wider=st.tuples(SHARES, SHARES), threshold=SHARES, operator=OPERATORS
)
def test_a_wider_interval_never_decides_what_a_narrower_one_does_not(ends, wider, threshold, operator):
    low, high = ends
    narrow = outcome(measured(low, high), operator, threshold)
    wide = outcome(measured(min(low, *wider), max(high, *wider)), operator, threshold)
    assert wide in (narrow, Outcome.UNDECIDED)


@given(ends=st.tuples(SHARES, SHARES).map(sorted), thresholds=st.tuples(SHARES, SHARES).map(sorted))
def test_a_lower_threshold_is_never_harder_to_reach(ends, thresholds):
    easy, hard = (outcome(measured(*ends), ">=", threshold) for threshold in thresholds)
    rank = [Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS]
    assert rank.index(easy) >= rank.index(hard)


@given(operator=OPERATORS, threshold=SHARES, estimate=st.none() | SHARES | st.just(math.nan))
def test_without_an_interval_nothing_is_decided(operator, threshold, estimate):
    decided = of(parse_rule(f"as-expected {operator} {threshold!r}"), measured(0, 1, interval=None, estimate=estimate))
    assert decided.outcome is Outcome.UNDECIDED
    assert decided.reason


@pytest.mark.parametrize("estimate", [None, math.nan])
def test_what_cannot_be_estimated_is_undecided_whatever_interval_is_told(estimate):
    decided = of(parse_rule("as-expected >= 0"), measured(0.9, 1, estimate=estimate, flags=("degenerate", "simulated")))
    assert decided.outcome is Outcome.UNDECIDED
    assert decided.reason == "not estimable: degenerate"


def test_at_the_threshold_itself_a_rule_is_rarely_held_or_failed_by_mistake():
    generator = np.random.default_rng(3)
    found = Counter()
    for _ in range(1000):
        right = int((generator.random(80) < 0.9).sum())
        estimate = jrh_stats.clustered_proportion([float(place < right) for place in range(80)], np.ones(80))
        found[outcome(measured(estimate.low, estimate.high), ">=", 0.9)] += 1
    # Each mistake has a chance of about 2.5 %; more than 45 of 1000 are less likely than 1 in 5000.
    assert found[Outcome.HOLDS] <= 45
    assert found[Outcome.FAILS] <= 45
    assert found[Outcome.HOLDS] + found[Outcome.FAILS] > 0


def test_limits_of_another_estimate_than_that_of_the_run_decide_nothing():
    """The code of a metric changed after the run: its limits are computed with the new code, its estimate is stored."""
    stored, now = measured(0.7, 0.9), measured(0.0, 0.4)
    decided = decide(parse_rule("as-expected >= 0.5"), stored, alone(now), FLAGS)
    assert decided.outcome is Outcome.UNDECIDED
    assert decided.reason.endswith("its code has changed; run the suite again")


def test_an_interval_without_ends_decides_nothing():
    broken = Interval(low=math.nan, high=1.0)
    assert of(parse_rule("as-expected >= 0"), measured(0.9, 1, interval=broken)).outcome is Outcome.UNDECIDED


def test_a_threshold_that_no_share_can_reach_is_a_mistake():
    with pytest.raises(JrhError, match=r"write the threshold as 0\.9 or 90%, not 90"):
        of(parse_rule("as-expected >= 90"), measured(0.9, 1))
    assert of(parse_rule("bias <= 3"), measured(1, 2, unit="levels")).outcome is Outcome.HOLDS
