"""What a plan can show, against closed forms and statsmodels."""

from __future__ import annotations

import pytest
from jrh.running.power import CORRELATION, DISCORDANT, precision
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint


def test_one_trial_an_item_has_wilsons_interval_and_the_paired_t_tests_power() -> None:
    found = precision(120, 120, wished=0.05)
    low, high = proportion_confint(60, 120, method="wilson")
    effect = TTestPower().solve_power(nobs=120, alpha=0.05, power=0.8)

    assert found.half_width == pytest.approx((high - low) / 2)
    assert found.detectable == pytest.approx(effect * DISCORDANT**0.5, rel=1e-6)


def test_the_items_that_are_needed_are_the_fewest_that_reach_the_precision() -> None:
    needed = precision(50, 100, wished=0.08).items_needed

    assert precision(needed, 2 * needed, wished=0.08).half_width <= 0.08
    assert precision(needed - 1, 2 * needed - 2, wished=0.08).half_width > 0.08


def test_repeats_help_less_than_items_and_never_more_than_their_correlation_lets_them() -> None:
    single, double, many, items = (
        precision(100, trials, wished=0.05).half_width if trials else precision(200, 200, wished=0.05).half_width
        for trials in (100, 200, 100_000, 0)
    )

    assert items < double < single
    # Any number of repeats is worth at most 1 / 0.5 = 2 independent trials.
    assert many == pytest.approx(precision(200, 200, wished=0.05).half_width, rel=1e-3)
    assert CORRELATION == 0.5


def test_one_item_detects_nothing_and_no_change_is_larger_than_one() -> None:
    assert precision(1, 5, wished=0.05).detectable is None
    assert precision(2, 2, wished=0.05).detectable == 1.0
