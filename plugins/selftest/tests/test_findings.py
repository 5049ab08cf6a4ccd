"""Which simulations pass and which fail."""

import numpy as np
import pytest
from jrh_selftest.findings import Study, Verdict, judge_alarms, judge_interval


def studies(width, *, n=400, shift=0.0, flags=()):
    """Return studies of a standard normal estimate with an interval of so many standard errors."""
    values = np.random.default_rng(0).standard_normal(n) + shift
    return [Study(value=value, low=value - width, high=value + width, flags=flags) for value in values]


@pytest.mark.parametrize(
    ("width", "verdict"), [(1.96, Verdict.OK), (1.0, Verdict.FAIL), (1.7, Verdict.FAIL), (2.4, Verdict.FAIL)]
)
def test_intervals_that_cover_too_rarely_or_too_often_fail(width, verdict):
    assert judge_interval("w", "m", 0.0, studies(width, n=2000)).verdict is verdict


@pytest.mark.parametrize("covered", [0.9295, 0.9705])
def test_many_studies_are_judged_by_the_coverage_as_counted(covered):
    """2000 studies do not tell 92.95 % from 93.05 %; a flag is due all the same."""
    hits = round(2000 * covered)
    found = [Study(value=0.0, low=-1.0, high=1.0)] * hits + [Study(value=0.0, low=1.0, high=2.0)] * (2000 - hits)
    assert judge_interval("w", "m", 0.0, found).verdict is Verdict.FAIL
    flagged = [Study(value=each.value, low=each.low, high=each.high, flags=("few-events",)) for each in found]
    assert judge_interval("w", "m", 0.0, flagged).verdict is Verdict.FLAGGED


def test_the_rate_is_the_coverage_with_its_own_interval():
    found = judge_interval("w", "m", 0.0, studies(1.0, n=2000))
    assert found.rate == pytest.approx(0.683, abs=0.03)
    assert found.rate_low < 0.683 < found.rate_high


def test_few_studies_fail_only_what_is_far_off():
    assert judge_interval("w", "m", 0.0, studies(1.75, n=100)).verdict is Verdict.OK
    assert judge_interval("w", "m", 0.0, studies(4.0, n=100)).verdict is Verdict.OK
    assert judge_interval("w", "m", 0.0, studies(1.0, n=100)).verdict is Verdict.FAIL


@pytest.mark.parametrize("width", [1.0, 4.0])
def test_an_interval_that_is_too_short_or_too_wide_and_says_so_is_flagged_instead(width):
    found = judge_interval("w", "m", 0.0, studies(width, n=2000, flags=("few-events",)))
    assert found.verdict is Verdict.FLAGGED
    assert found.flagged == 1.0
    assert "few-events in 100%" in found.reason
    assert judge_interval("w", "m", 0.0, studies(width, n=2000, flags=("simulated",))).verdict is Verdict.FAIL


def test_a_flag_in_few_studies_excuses_nothing_and_a_flag_without_need_is_no_fault():
    some = [*studies(1.0, n=900, flags=("few-events",)), *studies(1.0, n=1100)]
    assert judge_interval("w", "m", 0.0, some).verdict is Verdict.FAIL
    assert judge_interval("w", "m", 0.0, studies(1.96, n=2000, flags=("few-events",))).verdict is Verdict.OK


def test_a_bias_has_no_excuse():
    assert judge_interval("w", "m", 0.0, studies(4.0, shift=0.7, flags=("few-events",))).verdict is Verdict.FAIL


def test_a_biased_estimate_fails_however_wide_its_interval_unless_it_is_known_to_be():
    biased = studies(2.5, shift=0.7)
    found = judge_interval("w", "m", 0.0, biased)
    assert found.verdict is Verdict.FAIL
    assert "off by" in found.reason
    known = judge_interval("w", "m", 0.0, biased, biased=True)
    assert known.verdict is not Verdict.FAIL
    assert "off by" in known.reason
    assert "as documented" in known.reason


def test_the_coverage_of_the_studies_without_a_flag_stands_apart():
    some = [*studies(1.0, n=600, flags=("few-events",)), *studies(1.96, n=400)]
    found = judge_interval("w", "m", 0.0, some)
    assert found.flagged == 0.6
    assert found.rate_without_flag == pytest.approx(0.95, abs=0.03)
    assert judge_interval("w", "m", 0.0, some[:600]).rate_without_flag is None


def test_a_measure_without_estimates_fails():
    nothing = [Study(value=None)] * 30
    assert judge_interval("w", "m", 0.0, nothing).verdict is Verdict.FAIL
    without = [Study(value=1.0, flags=("no-interval",))] * 30
    assert judge_interval("w", "m", 1.0, without).verdict is Verdict.FLAGGED


def test_false_alarms_and_power_are_judged_by_their_own_rules():
    assert judge_alarms("w", "t", [True] * 5 + [False] * 95, None).verdict is Verdict.OK
    assert judge_alarms("w", "t", [True] * 25 + [False] * 75, None).verdict is Verdict.FAIL
    assert judge_alarms("w", "t", [True] * 85 + [False] * 15, 0.8).verdict is Verdict.OK
    assert judge_alarms("w", "t", [True] * 40 + [False] * 60, 0.8).verdict is Verdict.FAIL
