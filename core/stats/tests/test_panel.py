"""Panels: votes by hand, correlations by numpy, and what correlated errors are worth."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import (
    best_panel,
    effective_judges,
    majority_vote,
    panel_accuracy,
)

VOTES = [[0, 0, 1], [2, 1, 0], [-1, 1, 0], [-1, -1, -1], [1, -1, -1]]


def test_a_tie_decides_nothing():
    assert majority_vote(VOTES, n_labels=3).tolist() == [0, -1, -1, -1, 1]


def test_a_heavy_judge_outvotes_two_light_ones_and_equal_weights_tie():
    votes = [[0, 1, 1]]
    assert majority_vote(votes, n_labels=2, weights=[3, 1, 1]).tolist() == [0]
    # 0.1 + 0.2 is not 0.3 in floating point, but a tie all the same.
    assert majority_vote(votes, n_labels=2, weights=[0.3, 0.1, 0.2]).tolist() == [-1]


def test_votes_that_do_not_exist_are_errors():
    with pytest.raises(ValueError, match="between 0 and 1"):
        majority_vote([[0, 2]], n_labels=2)
    with pytest.raises(ValueError, match="none negative"):
        majority_vote([[0, 1]], n_labels=2, weights=[1, -1])
    with pytest.raises(ValueError, match="items, judges"):
        majority_vote([0, 1], n_labels=2)


def test_judges_that_err_alike_are_worth_one_and_kish_gives_the_rest():
    same = np.repeat(np.random.default_rng(2).integers(0, 2, (50, 1)), 5, axis=1).astype(float)
    assert effective_judges(same).value == pytest.approx(1)
    generator = np.random.default_rng(3)
    shared = generator.standard_normal((4000, 1))
    errors = np.sqrt(0.3) * shared + np.sqrt(0.7) * generator.standard_normal((4000, 6))
    found = effective_judges(errors)
    assert found.low < 6 / (1 + 5 * 0.3) < found.high
    assert found.high - found.low < 0.4


def test_the_interval_of_the_effective_number_covers_as_often_as_it_says():
    generator = np.random.default_rng(4)
    truth = 4 / (1 + 3 * 0.4)
    covered = []
    for _ in range(400):
        errors = np.sqrt(0.4) * generator.standard_normal((60, 1)) + np.sqrt(0.6) * generator.standard_normal((60, 4))
        found = effective_judges(errors)
        covered.append(found.low <= truth <= found.high)
    assert 0.91 <= np.mean(covered) <= 0.98


def test_errors_that_do_not_vary_or_always_cancel_have_no_effective_number():
    assert effective_judges(np.zeros((10, 3))).flags == ("degenerate",)
    assert effective_judges(np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]])).flags == ("degenerate",)
    assert effective_judges(np.zeros((10, 1))).flags == ("empty",)


def panel(accuracies, items=4000, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 2, items)
    right = generator.random((items, len(accuracies))) < np.array(accuracies)
    return np.where(right, truth[:, None], 1 - truth[:, None]), truth


def test_three_independent_judges_are_as_good_as_condorcet_says():
    votes, truth = panel([0.8, 0.8, 0.8])
    found = panel_accuracy(votes, truth, n_labels=2)
    assert found.low < 0.8**3 + 3 * 0.8**2 * 0.2 < found.high


def test_the_best_trio_is_found_among_all():
    votes, truth = panel([0.6, 0.9, 0.6, 0.9, 0.9, 0.6])
    found = best_panel(votes, truth, n_labels=2)
    assert found.judges == (1, 3, 4)
    assert found.tried == 20


def test_choosing_among_equals_promises_too_much_and_the_held_out_accuracy_does_not():
    chosen, held_out = [], []
    for seed in range(40):
        votes, truth = panel([0.6] * 7, items=60, seed=seed)
        found = best_panel(votes, truth, n_labels=2, seed=seed)
        chosen.append(found.accuracy.value)
        held_out.append(found.held_out.value)
    real = 0.6**3 + 3 * 0.6**2 * 0.4
    assert np.mean(chosen) > real + 0.08
    assert abs(np.mean(held_out) - real) < 0.03


def test_unlabelled_items_do_not_count_and_too_few_judges_have_no_trio():
    votes, truth = panel([0.8, 0.8, 0.8], items=50)
    truth[:20] = -1
    assert panel_accuracy(votes, truth, n_labels=2).clusters == 30
    assert best_panel(votes[:, :2], truth, n_labels=2) is None
    assert panel_accuracy(votes, np.full(50, -1), n_labels=2).flags == ("empty",)


@given(st.permutations(range(40)))
def test_the_order_of_items_does_not_matter(order):
    votes, truth = panel([0.6, 0.7, 0.8, 0.7], items=40)
    rows = np.array(order)
    assert best_panel(votes, truth, n_labels=2) == best_panel(votes[rows], truth[rows], n_labels=2)
    errors = (votes != truth[:, None]).astype(float)
    assert effective_judges(errors) == effective_judges(errors[rows])


def test_the_halves_choose_and_are_scored_as_by_hand():
    """Every item three times: no half parts the copies, and `n` counts them all."""
    votes, truth = panel([0.9, 0.8, 0.7, 0.6, 0.6], items=60, seed=4)
    clusters = np.repeat(np.arange(60), 3)
    found = best_panel(np.repeat(votes, 3, 0), np.repeat(truth, 3), clusters, n_labels=2, seed=9, positive=1)
    order = np.lexsort((*votes.T, truth))  # halves are dealt in an order that does not depend on that of the items
    votes, truth = votes[order], truth[order]
    half = np.random.default_rng(9).permutation(60) % 2
    hits = np.stack([majority_vote(votes[:, trio], n_labels=2) for trio in combinations(range(5), 3)]) == truth
    right = sum(hits[hits[:, half != own].sum(axis=1).argmax(), half == own].sum() for own in (0, 1))
    assert found.held_out.value == pytest.approx(right / 60)
    assert (found.held_out.clusters, found.held_out.n) == (60, 180)
    assert found.false_positive[1].n == 3 * np.sum(truth == 0)
    assert found.false_negative[1].n == 3 * np.sum(truth == 1)


@pytest.mark.parametrize("copies", [1, 3])
def test_the_held_out_accuracy_of_equal_panels_covers_that_of_the_chosen_one(copies):
    """150 studies of 20 equally good trios and 100 items: 92%, because both halves depend on each other's luck."""
    real, covered = 0.7**3 + 3 * 0.7**2 * 0.3, []
    for seed in range(150):
        votes, truth = panel([0.7] * 6, items=100, seed=seed)
        clusters = np.repeat(np.arange(100), copies)
        found = best_panel(np.repeat(votes, copies, 0), np.repeat(truth, copies), clusters, n_labels=2, seed=seed)
        covered.append(found.held_out.low <= real <= found.held_out.high)
    assert np.mean(covered) >= 0.92 - 2.5 * (0.92 * 0.08 / 150) ** 0.5


def test_a_trio_that_is_best_everywhere_is_chosen_by_both_halves():
    votes, truth = panel([0.95, 0.95, 0.95, 0.5, 0.5], items=600, seed=0)
    found = best_panel(votes, truth, n_labels=2)
    assert (found.judges, found.same) == ((0, 1, 2), 1.0)
    equal = [best_panel(*panel([0.7] * 6, items=60, seed=seed), n_labels=2).same for seed in range(20)]
    assert np.mean(equal) < 0.9


@pytest.mark.parametrize(("judges", "flagged"), [(5, True), (4, True), (3, False)])
def test_a_choice_is_flagged_whatever_the_sample_says(judges, flagged):
    for seed in range(5):
        found = best_panel(*panel([0.95, 0.9, 0.9, 0.6, 0.6][:judges], items=100, seed=seed), n_labels=2)
        assert ("unstable-choice" in found.held_out.flags) == flagged
        assert "unstable-choice" not in found.accuracy.flags
