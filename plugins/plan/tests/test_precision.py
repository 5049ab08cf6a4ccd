"""What a plan can show, against closed forms and statsmodels."""

from __future__ import annotations

import pytest
from jrh_plan.power import Assumptions, precision

QUIET = Assumptions(noise=0.0)


def test_one_trial_an_item_has_wilsons_interval_and_the_paired_t_tests_power() -> None:
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint

    found = precision(120, 120, wished=0.05, assumptions=QUIET)
    low, high = proportion_confint(60, 120, method="beta")
    assert found.half_width == pytest.approx((high - low) / 2)
    assert found.detectable is not None
    sd = (0.2 - found.detectable**2) ** 0.5
    power = TTestPower().power(effect_size=found.detectable / sd, nobs=120, alpha=0.05)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_every_further_test_of_the_page_takes_a_larger_change() -> None:
    one, six = (precision(120, 120, wished=0.05, tests=tests).detectable for tests in (1, 6))
    assert one is not None
    assert six is not None
    assert six > 1.2 * one


def test_noise_discordance_and_missing_verdicts_are_what_the_caller_says() -> None:
    usual = precision(120, 120, wished=0.05).detectable
    for worse in (Assumptions(noise=0.3), Assumptions(discordance=0.5), Assumptions(missing=0.3)):
        found = precision(120, 120, wished=0.05, assumptions=worse).detectable
        assert usual is not None
        assert found is not None
        assert found > 1.1 * usual


def test_the_items_that_are_needed_are_the_fewest_that_reach_the_precision() -> None:
    needed = precision(50, 100, wished=0.08).items_needed
    assert precision(needed, 2 * needed, wished=0.08).half_width <= 0.08
    assert precision(needed - 1, 2 * needed - 2, wished=0.08).half_width > 0.08


def test_repeats_help_less_than_items_and_never_more_than_their_correlation_lets_them() -> None:
    noisy = Assumptions(noise=0.25)
    single, double, many = (
        precision(100, trials, wished=0.05, assumptions=noisy).half_width for trials in (100, 200, 100_000)
    )
    items = precision(200, 200, wished=0.05, assumptions=noisy).half_width
    assert items < double < single
    # Any number of repeats is worth at most 1 / 0.5 = 2 independent trials.
    assert many == pytest.approx(items, rel=1e-3)


def test_one_item_detects_nothing() -> None:
    assert precision(1, 5, wished=0.05).detectable is None


def test_too_little_power_comes_with_what_would_give_it() -> None:
    found = precision(60, 60, wished=0.05, tests=6)
    assert found.power is not None
    assert found.power < 0.3
    assert found.enough_items is not None
    again = precision(found.enough_items, found.enough_items, wished=0.05, tests=6)
    assert again.power is not None
    assert again.power >= 0.8
    assert found.enough_askings is not None
    more = precision(
        60, 60 * found.enough_askings, wished=0.05, tests=6, reference=found.enough_askings, assumptions=Assumptions()
    )
    assert more.power is not None
    assert more.power >= 0.8


def test_a_reference_that_is_asked_once_tells_no_change_from_noise() -> None:
    assert precision(60, 60, wished=0.05, reference=1).power is None
