"""Calibration against scikit-learn, and the interval of the calibration error against simulated judges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import brier_score, expected_calibration_error, plain_calibration_error, reliability_curve
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss


def answers(n, seed, honest=0.0):
    """Draw stated probabilities and outcomes; `honest` is how far the truth lies below what is stated."""
    generator = np.random.default_rng(seed)
    p = generator.beta(4, 2, n)
    return p, (generator.random(n) < np.clip(p - honest, 0, 1)).astype(float)


def test_the_brier_score_is_scikit_learns():
    p, y = answers(200, 0)
    found = brier_score(p, y, np.arange(200))
    assert found.value == pytest.approx(brier_score_loss(y, p))
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("binning", "strategy"), [("width", "uniform"), ("mass", "quantile")])
def test_the_reliability_curve_is_scikit_learns(binning, strategy):
    p, y = answers(1000, 1)
    accuracy, confidence = calibration_curve(y, p, n_bins=5, strategy=strategy)
    found = reliability_curve(p, y, np.arange(1000), bins=5, binning=binning)
    assert [part.accuracy.value for part in found] == pytest.approx(accuracy, abs=0.01)
    assert [part.confidence for part in found] == pytest.approx(confidence, abs=0.005)


def test_the_calibration_error_by_hand():
    p = [0.95, 0.95, 0.95, 0.95, 0.55, 0.55]
    y = [1, 1, 1, 0, 1, 0]
    plain = plain_calibration_error(p, y)
    assert plain == pytest.approx(4 / 6 * abs(0.75 - 0.95) + 2 / 6 * abs(0.5 - 0.55))
    found = expected_calibration_error(p, y, range(6))
    assert found.low == 0
    assert found.value < plain < found.high


def test_an_edge_belongs_to_the_bin_below_it():
    found = reliability_curve([0.0, 0.1, 0.100001], [0, 1, 1], range(3))
    assert [(part.low, part.accuracy.n) for part in found] == [(0.0, 2), (pytest.approx(0.1), 1)]


@pytest.mark.parametrize("honest", [0.0, 0.15])
def test_the_interval_of_the_calibration_error_covers_also_a_calibrated_judge(honest):
    edges = np.linspace(0, 1, 11)
    p, _ = answers(400_000, 5)
    truth = np.clip(p - honest, 0, 1)
    place = np.searchsorted(edges[1:-1], p)
    real = np.abs(np.bincount(place, weights=truth - p) / len(p)).sum()
    covered, plain, debiased = [], [], []
    for seed in range(150):
        p, y = answers(300, seed, honest)
        found = expected_calibration_error(p, y, np.arange(300))
        covered.append(found.low <= real <= found.high)
        plain.append(plain_calibration_error(p, y))
        debiased.append(found.value)
    assert np.mean(covered) >= 0.93 - 3 * (0.05 * 0.95 / 150) ** 0.5
    assert abs(np.mean(debiased) - real) < (0.025 if not honest else 0.01)
    if not honest:
        assert np.mean(plain) > 0.05  # what the plain estimate says of a judge without any error


def test_the_interval_of_the_brier_score_covers_as_often_as_it_says():
    p, _ = answers(400_000, 9)
    real = (p * (1 - p)).mean()
    covered = []
    for seed in range(600):
        p, y = answers(80, seed)
        found = brier_score(p, y, np.arange(80) // 2)
        covered.append(found.low <= real <= found.high)
    assert 0.925 <= np.mean(covered) <= 0.975


def test_repeated_answers_of_one_item_widen_the_interval():
    p, y = answers(60, 3)
    one = brier_score(p, y, np.arange(60))
    fivefold = brier_score(np.repeat(p, 5), np.repeat(y, 5), np.repeat(np.arange(60), 5))
    ignored = brier_score(np.repeat(p, 5), np.repeat(y, 5), np.arange(300))
    assert fivefold.value == pytest.approx(one.value)
    assert fivefold.high - fivefold.low > 1.8 * (ignored.high - ignored.low)


def test_nothing_is_nothing_and_bad_input_an_error():
    assert expected_calibration_error([], [], []).flags == ("empty",)
    assert brier_score([], [], []).flags == ("empty",)
    assert reliability_curve([], [], []) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier_score([1.2], [1], [0])
    with pytest.raises(ValueError, match="0 or 1"):
        brier_score([0.2], [0.5], [0])
    with pytest.raises(ValueError, match="equal length"):
        brier_score([0.2], [0, 1], [0])


@given(st.permutations(range(50)), st.integers(0, 5))
def test_the_order_of_answers_does_not_matter(order, seed):
    p, y = answers(50, seed)
    items = np.arange(50) // 2
    rows = np.array(order)
    for score in (brier_score, expected_calibration_error):
        assert score(p, y, items) == score(p[rows], y[rows], items[rows])
