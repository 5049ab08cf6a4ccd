import numpy as np
import pytest
from jrh import Scale
from jrh_metrics.panel import accuracy_of_weighted_votes, score_errors


def _panel(accuracies: list[float], items: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 2, items)
    right = generator.random((items, len(accuracies))) < accuracies
    return np.where(right, truth[:, None], 1 - truth[:, None]), truth


def test_one_good_judge_outweighs_two_that_toss_coins(measures, ref) -> None:
    votes, truth = _panel([0.95, 0.5, 0.5], 400)
    weighted = accuracy_of_weighted_votes(votes, truth, np.arange(len(truth)), n_labels=2, level=0.95)
    plain = ((votes.sum(axis=1) >= 2) == truth).mean()

    assert plain < 0.85
    assert weighted.value > 0.9
    assert weighted.low < 0.95 < weighted.high


def test_equal_judges_vote_as_by_majority() -> None:
    votes, truth = _panel([0.8, 0.8, 0.8], 4000, seed=1)
    weighted = accuracy_of_weighted_votes(votes, truth, np.arange(len(truth)), n_labels=2, level=0.95)

    # Independent judges: p^3 + 3 p^2 (1 - p), Condorcet.
    assert weighted.low < 0.8**3 + 3 * 0.8**2 * 0.2 < weighted.high


def test_no_item_takes_part_in_the_choice_of_its_own_weights() -> None:
    # With one item per half a judge who is right on one half only would look perfect on the half it was fitted on.
    votes, truth = np.array([[0, 1], [1, 0]]), np.array([0, 0])
    assert accuracy_of_weighted_votes(votes, truth, np.arange(len(truth)), n_labels=2, level=0.95).value == 0.0


def test_mean_and_median_are_numpys_and_the_metric_tells_them_apart(measures, ref) -> None:
    generator = np.random.default_rng(2)
    votes, truth = generator.integers(0, 5, (50, 3)), generator.integers(0, 5, 50)
    errors = dict(score_errors(votes, truth, np.arange(len(truth)), n_labels=5, level=0.95))
    rows = [
        r
        for i in range(50)
        for j in range(3)
        for r in ref(f"{i:02d}", str(votes[i, j] + 1), gold=str(truth[i] + 1), judge=f"j{j}")
    ]
    found = {m.cell["rule"]: m for m in measures("panel", rows, Scale.of_levels(1, 5)) if "absolute" in m.name}

    assert errors["mean"].value == pytest.approx(np.abs(votes.mean(axis=1) - truth).mean())
    assert errors["median"].value == pytest.approx(np.abs(np.median(votes, axis=1) - truth).mean())
    assert {rule: m.estimate for rule, m in found.items()} == {rule: e.value for rule, e in errors.items()}
    assert all(m.interval.method == "cluster-robust-wilson" and m.n_items == 50 for m in found.values())
