"""Accuracy against the best constant judge: claims of "worse" and "better" hold where the best label is not known."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import clustered_difference, gain_over_constant

STUDIES = 1000


def test_with_two_labels_it_is_the_paired_difference_from_the_more_common_one() -> None:
    gold = np.array([0] * 38 + [1] * 2)
    right = np.array([1] * 33 + [0] * 5 + [1] * 2)
    found = gain_over_constant(right, gold, np.arange(40))
    # b = 2 right where the constant judge is wrong, c = 5 wrong where it is right.
    assert found.value == pytest.approx(-3 / 40)
    assert found.low < found.value < 0 < found.high
    differences = right - (gold == 0)
    alone = clustered_difference(differences, np.ones(40), level=0.95)
    assert found.low == pytest.approx(alone.low)
    wider = clustered_difference(differences, np.ones(40), level=0.975)
    assert found.high == pytest.approx(wider.high)


@pytest.mark.parametrize(
    ("items", "common", "accuracy", "copies"),
    [(20, 0.5, 0.5, 1), (60, 0.5, 0.5, 1), (60, 0.7, 0.7, 1), (100, 0.9, 0.9, 1), (30, 0.7, 0.7, 5)],
)
def test_a_judge_as_good_as_the_best_constant_one_is_rarely_called_worse_or_better(items, common, accuracy, copies):
    draws = np.random.default_rng(7)
    worse = better = 0
    for _ in range(STUDIES):
        gold = np.repeat((draws.random(items) >= common).astype(int), copies)
        right = np.repeat(draws.random(items) < accuracy, copies)
        found = gain_over_constant(right, gold, np.repeat(np.arange(items), copies))
        worse += found.high < 0
        better += found.low > 0
    # 2.5% is due; 3.6% is what 1,000 studies cannot tell from it.
    assert worse <= 36
    assert better <= 36


def test_a_judge_that_is_worse_is_found() -> None:
    draws = np.random.default_rng(8)
    gold = (draws.random(200) >= 0.8).astype(int)
    found = gain_over_constant(draws.random(200) < 0.6, gold, np.arange(200))
    assert found.high < 0


def test_without_trials_there_is_no_gain() -> None:
    assert gain_over_constant([], [], []).flags == ("empty",)
    with pytest.raises(ValueError, match="shape"):
        gain_over_constant([1.0], [0, 1], [0])
