"""Do levels agree less than chance makes them?"""

from itertools import permutations

import numpy as np
import pytest
from jrh_stats import opposition_test

PAIRS = [(0, 1), (0, 2), (1, 2)]


def _shares(labels: np.ndarray, kinds: int = 2) -> np.ndarray:
    return np.eye(kinds)[labels]


def test_the_p_value_is_the_share_of_all_deals_that_agree_no_more() -> None:
    labels = np.array([[0, 1], [0, 1], [1, 0], [1, 1], [0, 1], [1, 0]])
    agree = [int((labels[:, 0] == labels[list(order), 1]).sum()) for order in permutations(range(6))]
    exact = np.mean(np.array(agree) <= int((labels[:, 0] == labels[:, 1]).sum()))
    found = opposition_test(_shares(labels), [(0, 1)], resamples=20_000)

    assert found.p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)


@pytest.mark.parametrize(("rare", "levels"), [(0.5, 3), (0.2, 3), (0.1, 2)])
def test_answers_at_random_are_called_opposed_no_more_often_than_stated(rare: float, levels: int) -> None:
    generator = np.random.default_rng([14, levels, int(10 * rare)])
    studies, items = 1000, 30
    pairs = [(one, other) for one in range(levels) for other in range(one)]
    found = [
        opposition_test(_shares((generator.random((items, levels)) < rare) * 1), pairs, resamples=199, seed=study).p
        for study in range(studies)
    ]
    for alpha in (0.01, 0.05):
        assert np.mean(np.array(found) <= alpha) <= alpha + 3 * (alpha * (1 - alpha) / studies) ** 0.5


def test_two_levels_that_say_the_opposite_are_found() -> None:
    generator = np.random.default_rng(3)
    first = (generator.random(40) < 0.5) * 1
    assert opposition_test(_shares(np.stack([first, first, 1 - first], axis=1)), PAIRS).p <= 0.01


def test_copies_of_an_item_are_dealt_together() -> None:
    """Ten copies of ten items are no hundred items: what says little once says little ten times."""
    labels = np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [0, 0], [1, 0]])
    once = opposition_test(_shares(labels), [(0, 1)], resamples=999).p
    copied = np.repeat(labels, 10, axis=0)
    ten = opposition_test(_shares(copied), [(0, 1)], np.repeat(np.arange(10), 10), resamples=999).p
    alone = opposition_test(_shares(copied), [(0, 1)], resamples=999).p

    assert ten == pytest.approx(once, abs=0.08)
    assert alone < once / 10


def test_missing_verdicts_stay_where_they_are() -> None:
    labels = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    shares = _shares(labels)
    shares[0, 1] = 0.0
    usable = np.ones((4, 1))
    usable[0] = 0
    found = opposition_test(shares, [(0, 1)], usable=usable, resamples=5000)
    # Of the three items left one of the three places of label 1 in the second level fits.
    assert found.p == pytest.approx(1 / 3, abs=0.03)
    assert opposition_test(shares, [(0, 1)], usable=np.zeros((4, 1))).flags == ("empty",)
