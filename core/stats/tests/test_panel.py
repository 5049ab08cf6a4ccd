"""Panels: votes by hand, correlations by numpy, and what correlated errors are worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import (
    best_panel,
    effective_judges,
    leave_one_out,
    majority_vote,
    mean_score,
    median_score,
    panel_accuracy,
)
from jrh_stats.panel_quality import _Split

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


def test_means_and_medians_leave_missing_scores_out():
    scores = np.array([[1, 2, 6], [1, np.nan, 4], [np.nan, np.nan, np.nan]])
    assert mean_score(scores)[:2] == pytest.approx([3, 2.5])
    assert median_score(scores)[:2].tolist() == [2, 2.5]
    assert np.isnan(mean_score(scores)[2])
    assert np.isnan(median_score(scores)[2])


@given(st.integers(0, 2**32 - 1))
def test_the_median_is_numpys(seed):
    scores = np.random.default_rng(seed).integers(0, 6, (7, 4)).astype(float)
    scores[0, 1] = np.nan
    assert median_score(scores) == pytest.approx(np.nanmedian(scores, axis=1))


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


def test_leaving_a_bad_judge_out_helps():
    votes, truth = panel([0.9, 0.9, 0.9, 0.3])
    found = leave_one_out(votes, truth, n_labels=2)
    assert [score.judges for score in found][3] == (0, 1, 2)
    assert max(found, key=lambda score: score.accuracy.value).judges == (0, 1, 2)


def test_the_best_trio_is_found_among_all():
    votes, truth = panel([0.6, 0.9, 0.6, 0.9, 0.9, 0.6])
    found = best_panel(votes, truth, n_labels=2)
    assert found.best.judges == (1, 3, 4)
    assert found.tried == 20


def test_choosing_among_equals_promises_too_much_and_the_held_out_accuracy_does_not():
    chosen, held_out = [], []
    for seed in range(40):
        votes, truth = panel([0.6] * 7, items=60, seed=seed)
        found = best_panel(votes, truth, n_labels=2, seed=seed)
        chosen.append(found.best.accuracy.value)
        held_out.append(found.held_out.value)
    real = 0.6**3 + 3 * 0.6**2 * 0.4
    assert np.mean(chosen) > real + 0.08
    assert abs(np.mean(held_out) - real) < 0.03


def test_unlabelled_items_do_not_count_and_too_few_judges_have_no_trio():
    votes, truth = panel([0.8, 0.8, 0.8], items=50)
    truth[:20] = -1
    assert panel_accuracy(votes, truth, n_labels=2).clusters == 30
    assert best_panel(votes[:, :2], truth, n_labels=2) is None
    with pytest.raises(ValueError, match="two judges"):
        leave_one_out(votes[:, :1], truth, n_labels=2)
    assert panel_accuracy(votes, np.full(50, -1), n_labels=2).flags == ("empty",)


@given(st.permutations(range(40)))
def test_the_order_of_items_does_not_matter(order):
    votes, truth = panel([0.6, 0.7, 0.8, 0.7], items=40)
    rows = np.array(order)
    assert best_panel(votes, truth, n_labels=2) == best_panel(votes[rows], truth[rows], n_labels=2)
    errors = (votes != truth[:, None]).astype(float)
    assert effective_judges(errors) == effective_judges(errors[rows])


def nested_by_hand(hits, sizes, fold, folds):
    """Follow the definition with loops: leave out every fold, then every two, and choose again."""
    terms = []
    for left in range(folds):
        rest = [unit for unit in range(len(hits)) if fold[unit] != left]
        out = [unit for unit in range(len(hits)) if fold[unit] == left]
        chosen = max(range(hits.shape[1]), key=lambda panel: sum(hits[unit, panel] for unit in rest))
        outside = hits[out, chosen].sum() / sizes[out].sum()
        inside = 0.0
        for other in set(range(folds)) - {left}:
            training = [unit for unit in rest if fold[unit] != other]
            best = max(range(hits.shape[1]), key=lambda panel: sum(hits[unit, panel] for unit in training))
            inside += sum(hits[unit, best] for unit in rest if fold[unit] == other)
        residuals = hits[out, chosen] - outside * sizes[out]
        noise = len(out) / (len(out) - 1) * (residuals**2).sum() / sizes[out].sum() ** 2
        terms.append((inside / sizes[rest].sum() - outside) ** 2 - noise)
    return np.mean(terms)


def test_nested_cross_validation_follows_its_definition():
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 4, 30).astype(float)
    hits = generator.binomial(sizes.astype(int)[:, None], 0.6, (30, 10)).astype(float)
    fold = generator.permutation(30) % 5
    assert _Split.of(hits, sizes, fold, 5).excess == pytest.approx(nested_by_hand(hits, sizes, fold, 5))


@pytest.mark.parametrize("copies", [1, 3])
def test_the_held_out_accuracy_of_equal_panels_covers_that_of_the_chosen_one(copies):
    """150 studies of 20 equally good trios and 100 items; a proportion's interval covers 83 to 89%."""
    real, covered = 0.7**3 + 3 * 0.7**2 * 0.3, []
    for seed in range(150):
        votes, truth = panel([0.7] * 6, items=100, seed=seed)
        clusters = np.repeat(np.arange(100), copies)
        found = best_panel(np.repeat(votes, copies, 0), np.repeat(truth, copies), clusters, n_labels=2, seed=seed)
        covered.append(found.held_out.low <= real <= found.held_out.high)
        assert (found.held_out.method, found.held_out.clusters) == ("nested-cross-validation", 100)
    assert np.mean(covered) >= 0.95 - 2.5 * (0.95 * 0.05 / 150) ** 0.5


def test_a_trio_that_is_best_everywhere_is_chosen_in_every_fold():
    votes, truth = panel([0.95, 0.95, 0.95, 0.5, 0.5], items=200, seed=0)
    found = best_panel(votes, truth, n_labels=2)
    assert (found.best.judges, found.same) == ((0, 1, 2), 1.0)
    equal = [best_panel(*panel([0.7] * 6, items=60, seed=seed), n_labels=2).same for seed in range(20)]
    assert np.mean(equal) < 0.9


@pytest.mark.parametrize(
    ("judges", "items", "flagged"), [(5, 60, True), (5, 100, False), (6, 100, True), (3, 40, False)]
)
def test_a_choice_among_many_panels_on_few_items_is_flagged_whatever_the_sample_says(judges, items, flagged):
    for seed in range(5):
        found = best_panel(*panel([0.95, 0.9, 0.9, 0.6, 0.6, 0.5][:judges], items=items, seed=seed), n_labels=2)
        assert ("unstable-choice" in found.held_out.flags) == flagged
