"""The mean of rates of the same clusters, and the error rates of the best panel, against other ways to get them."""

from itertools import combinations

import numpy as np
import pytest
from jrh_stats import best_panel, clustered_proportion, majority_vote, mean_of_rates

RNG = np.random.default_rng


def study(rng: np.random.Generator, clusters: int = 60, rates: tuple[float, ...] = (0.9, 0.7, 0.5)) -> np.ndarray:
    """Return hits of clusters in rates: half of what decides is the cluster's own, so that rates go together."""
    own = rng.random((clusters, 1))
    each = rng.random((clusters, len(rates)))
    return (np.where(rng.random((clusters, len(rates))) < 0.5, own, each) < rates).astype(float)


def test_the_mean_is_that_of_the_rates_and_its_width_that_of_a_jackknife_over_clusters() -> None:
    rng = RNG(1)
    counts = rng.integers(0, 4, (200, 3)).astype(float)
    tops = rng.binomial(counts.astype(int), 0.7).astype(float)
    found = mean_of_rates(tops, counts)

    def mean(rows: np.ndarray) -> float:
        return float((tops[rows].sum(axis=0) / counts[rows].sum(axis=0)).mean())

    everything = np.arange(200)
    left_out = np.array([mean(np.delete(everything, row)) for row in everything])
    error = np.sqrt(199 / 200 * np.square(left_out - left_out.mean()).sum())
    assert found.value == pytest.approx(mean(everything))
    assert (found.high - found.low) / 2 / 1.97 == pytest.approx(error, rel=0.05)
    assert found.n == counts.sum()


def test_one_rate_and_rates_without_a_trial() -> None:
    hits = np.array([1.0, 0.0, 1.0, 1.0])
    one = mean_of_rates(hits[:, None], np.ones((4, 1)))
    empty = np.column_stack([hits, np.zeros(4)]), np.column_stack([np.ones(4), np.zeros(4)])
    assert one == mean_of_rates(*empty) == clustered_proportion(hits, np.ones(4))
    assert mean_of_rates(np.zeros((3, 2)), np.zeros((3, 2))).flags == ("empty",)


@pytest.mark.parametrize("rates", [(0.9, 0.7, 0.5), (0.97, 0.95, 0.9)])
def test_the_interval_covers_the_mean_as_often_as_it_says(rates: tuple[float, ...]) -> None:
    rng, studies = RNG(2), 400
    covered = 0
    for _ in range(studies):
        hits = study(rng, rates=rates)
        found = mean_of_rates(hits, np.ones(hits.shape))
        covered += found.low <= np.mean(rates) <= found.high
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / studies) <= covered / studies


def ballots(rng: np.random.Generator, items: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return votes of five equal judges: 20% of the negatives and 30% of the positives are misjudged."""
    truth = rng.integers(0, 2, items)
    wrong = rng.random((items, 5)) < np.where(truth == 1, 0.3, 0.2)[:, None]
    return np.where(wrong, 1 - truth[:, None], truth[:, None]), truth


def test_the_rates_in_sample_are_those_of_the_panel_that_is_most_often_right() -> None:
    votes, truth = ballots(RNG(3))
    found = best_panel(votes, truth, n_labels=2, positive=1)
    tried = {panel: majority_vote(votes[:, panel], n_labels=2) for panel in combinations(range(5), 3)}
    best = max(tried, key=lambda panel: (tried[panel] == truth).sum())
    decided = tried[best]
    assert found.judges == best
    assert found.false_positive[0].value == pytest.approx(np.mean(decided[truth == 0] == 1))
    assert found.false_negative[0].value == pytest.approx(np.mean(decided[truth == 1] == 0))
    assert best_panel(votes, truth, n_labels=2).false_positive is None


def test_held_out_rates_are_unbiased_and_covered_where_rates_in_sample_are_too_low() -> None:
    rng, studies = RNG(4), 100
    # Three equal judges by majority err where two or three do.
    true = {name: 3 * p**2 * (1 - p) + p**3 for name, p in (("false_positive", 0.2), ("false_negative", 0.3))}
    inside, outside, covered = [], [], dict.fromkeys(true, 0)
    for study_ in range(studies):
        votes, truth = ballots(rng)
        found = best_panel(votes, truth, n_labels=2, positive=1, seed=study_)
        for name, rate in true.items():
            own, held_out = getattr(found, name)
            inside.append(own.value - rate)
            outside.append(held_out.value - rate)
            covered[name] += held_out.low <= rate <= held_out.high
    assert np.mean(inside) < -0.02
    assert abs(np.mean(outside)) < 0.015
    slack = 3 * np.sqrt(0.95 * 0.05 / studies)
    assert min(covered.values()) / studies >= 0.95 - slack
