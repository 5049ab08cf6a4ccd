"""Asking again makes intervals narrower: they cover as often as they say, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import clustered_proportion, rerun_disagreement
from numpy.typing import NDArray
from scipy import stats

STUDIES = 300
LEAST = 0.95 - 3 * (0.95 * 0.05 / STUDIES) ** 0.5
MOST = 0.95 + 3 * (0.95 * 0.05 / STUDIES) ** 0.5
WIDEST = 1.15
Z = 1.959964

Scores = NDArray[np.float64]


def chances(generator: np.random.Generator, shape: tuple[int, ...], rate: float, correlation: float) -> Scores:
    """Draw the chance of every item: the same for all at 0, of a beta distribution up to 1."""
    if correlation == 0:
        return np.full(shape, rate)
    size = (1 - correlation) / correlation
    return np.asarray(generator.beta(rate * size, (1 - rate) * size, shape))


def agreement(generator: np.random.Generator, chance: Scores, repeats: int) -> Scores:
    """Score an item by the share of pairs of a reference answer and a test answer that are the same."""
    one, other = (generator.binomial(repeats, chance) / repeats for _ in range(2))
    return np.asarray(one * other + (1 - one) * (1 - other))


def first_position(generator: np.random.Generator, chance: Scores, repeats: int) -> Scores:
    one, other = (generator.binomial(repeats, chance) / repeats for _ in range(2))
    return np.asarray((one + other) / 2)


@pytest.mark.parametrize("trials", [1, 5], ids=["once per item", "once per answer"])
@pytest.mark.parametrize(
    ("score", "repeats", "rate", "correlation", "items"),
    [
        (agreement, 2, 0.3, 0.0, 60),
        (agreement, 3, 0.1, 0.1, 200),
        (agreement, 5, 0.3, 0.3, 60),
        (agreement, 5, 0.5, 0.0, 200),
        (first_position, 3, 0.5, 0.0, 60),
        (first_position, 5, 0.3, 0.1, 60),
    ],
)
def test_repeats_are_worth_what_they_cost(score, repeats, rate, correlation, items, trials) -> None:
    """At most 1.15 times as wide as the true standard error of the estimate asks for, and 95% coverage."""
    generator = np.random.default_rng([repeats, items, trials])
    many = score(generator, chances(generator, (400_000,), rate, correlation), repeats)
    truth, error = many.mean(), many.std() / items**0.5
    studies = score(generator, chances(generator, (STUDIES, items), rate, correlation), repeats)
    found = [clustered_proportion(row * trials, np.full(items, trials)) for seed, row in enumerate(studies)]
    assert all(one.flags == () for one in found)
    assert LEAST <= np.mean([one.low <= truth <= one.high for one in found]) <= MOST
    assert np.mean([one.high - one.low for one in found]) <= WIDEST * 2 * Z * error


def test_with_many_items_the_interval_is_that_of_t_on_the_means_of_items() -> None:
    generator = np.random.default_rng(0)
    scores = agreement(generator, chances(generator, (3_000,), 0.3, 0.1), 5)
    expected = stats.ttest_1samp(scores, 0.5).confidence_interval(0.95)
    for trials in (1, 5):
        found = clustered_proportion(scores * trials, np.full(len(scores), trials))
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.03 * (expected.high - expected.low))


@pytest.mark.parametrize(("repeats", "rate", "correlation"), [(2, 0.3, 0.0), (3, 0.5, 0.0), (5, 0.3, 0.3)])
def test_the_rerun_disagreement_of_a_noisy_judge(repeats, rate, correlation) -> None:
    generator = np.random.default_rng(repeats)
    items = 60
    hits = generator.binomial(repeats, chances(generator, (400_000,), rate, correlation))
    shares = hits * (repeats - hits) / (repeats * (repeats - 1) / 2)
    truth, error = shares.mean(), shares.std() / items**0.5
    found = []
    for _seed in range(STUDIES):
        said = generator.binomial(repeats, chances(generator, (items,), rate, correlation))
        counts = np.stack([said, repeats - said], axis=1)
        found.append(rerun_disagreement(counts, np.arange(items)))
    assert LEAST <= np.mean([one.low <= truth <= one.high for one in found]) <= MOST
    assert np.mean([one.high - one.low for one in found]) <= WIDEST * 2 * Z * error


def test_a_judge_that_repeats_itself_has_the_interval_of_one_asking() -> None:
    alone = clustered_proportion([1] * 30 + [0] * 10, [1] * 40)
    again = clustered_proportion([5] * 30 + [0] * 10, [5] * 40)
    assert (again.low, again.high, again.method) == (alone.low, alone.high, "clopper-pearson-clusters")
