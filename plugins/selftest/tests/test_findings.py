"""Which simulations pass and which fail."""

import numpy as np
import pytest
from jrh_selftest.findings import Study, Verdict, judge_alarms, judge_interval


def studies(width, *, n=400, shift=0.0, flags=()):
    """Return studies of a standard normal estimate with an interval of so many standard errors."""
    values = np.random.default_rng(0).standard_normal(n) + shift
    return [Study(value=value, low=value - width, high=value + width, flags=flags) for value in values]


@pytest.mark.parametrize(
    ("width", "verdict"), [(1.96, Verdict.OK), (1.0, Verdict.FAIL), (1.6, Verdict.FAIL), (4.0, Verdict.WIDE)]
)
def test_intervals_that_cover_too_rarely_fail(width, verdict):
    assert judge_interval("w", "m", 0.0, studies(width, n=2000)).verdict is verdict


def test_the_rate_is_the_coverage_with_its_own_interval():
    found = judge_interval("w", "m", 0.0, studies(1.0, n=2000))
    assert found.rate == pytest.approx(0.683, abs=0.03)
    assert found.rate_low < 0.683 < found.rate_high


def test_an_interval_that_is_too_short_and_says_so_is_flagged_instead():
    assert judge_interval("w", "m", 0.0, studies(1.0, flags=("few-items",))).verdict is Verdict.FLAGGED
    assert judge_interval("w", "m", 0.0, studies(1.0, flags=("simulated",))).verdict is Verdict.FAIL


def test_a_biased_estimate_fails_however_wide_its_interval_unless_it_is_known_to_be():
    biased = studies(4.0, shift=0.7)
    found = judge_interval("w", "m", 0.0, biased)
    assert found.verdict is Verdict.FAIL
    assert "off by" in found.reason
    assert judge_interval("w", "m", 0.0, biased, biased=True).verdict is not Verdict.FAIL


def test_a_measure_without_estimates_fails():
    nothing = [Study(value=None)] * 30
    assert judge_interval("w", "m", 0.0, nothing).verdict is Verdict.FAIL


def test_false_alarms_and_power_are_judged_by_their_own_rules():
    assert judge_alarms("w", "t", [True] * 5 + [False] * 95, None).verdict is Verdict.OK
    assert judge_alarms("w", "t", [True] * 25 + [False] * 75, None).verdict is Verdict.FAIL
    assert judge_alarms("w", "t", [True] * 85 + [False] * 15, 0.8).verdict is Verdict.OK
    assert judge_alarms("w", "t", [True] * 40 + [False] * 60, 0.8).verdict is Verdict.FAIL
