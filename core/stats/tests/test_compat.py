import numpy as np
import pytest
from jrh_stats import jrh_bootstrap_accuracy, judgesense_jss, judgesense_kappa
from scipy.stats import sem, t


def _harness(hits: np.ndarray, repetitions: int, seed: int) -> tuple[float, float]:
    """Do what the harness does, row by row: mean and half width."""
    generator = np.random.default_rng(seed)
    scores = [generator.choice(hits, len(hits)).mean() for _ in range(repetitions)]
    return float(np.mean(scores)), float(sem(scores) * t.ppf(0.975, repetitions - 1))


def test_the_harness_interval_is_that_of_a_mean_of_bootstrap_means() -> None:
    hits = np.array([1] * 70 + [0] * 30)
    theirs = np.mean([_harness(hits, 10, seed) for seed in range(300)], axis=0)
    ours = [jrh_bootstrap_accuracy(hits, seed=seed) for seed in range(300)]

    assert np.mean([found.value for found in ours]) == pytest.approx(theirs[0], abs=0.004)
    assert np.mean([found.high - found.value for found in ours]) == pytest.approx(theirs[1], rel=0.06)


def test_the_harness_interval_shrinks_with_repetitions_alone() -> None:
    found = jrh_bootstrap_accuracy([1] * 7 + [0] * 3, repetitions=100_000)

    assert found.high - found.low < 0.002
    assert found.method == "spread-of-bootstrap-means"
    assert jrh_bootstrap_accuracy([1, 0], repetitions=1).low is None
    assert jrh_bootstrap_accuracy([1], size=0.5).flags == ("empty",)


def test_judgesense_scenario_one_has_eight_of_ten_equal() -> None:
    # The first scenario of their self-test.
    first, second = [1, 1, 0, 1, 0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    found = judgesense_jss(first, second, resamples=20_000)

    assert found.value == 0.8
    assert (found.low, found.high) == (0.5, 1.0)  # the 2.5 % and 97.5 % quantiles of Binomial(10, 0.8) / 10
    assert judgesense_kappa(first, second).value == pytest.approx(0.583, abs=0.0005)


def test_judgesense_calls_one_label_everywhere_perfect() -> None:
    found = judgesense_kappa([1] * 10, [1] * 10)

    assert (found.value, found.flags) == (1.0, ("degenerate",))
    assert (judgesense_jss([1] * 10, [1] * 10).low, judgesense_jss([], []).value) == (1.0, None)
