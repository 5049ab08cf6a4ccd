"""Prediction-powered means against published numbers."""

import numpy as np
import pytest
from jrh_stats import prediction_powered_mean
from scipy import stats

LABELS = [1] * 40 + [0] * 20
PREDICTIONS = [1] * 36 + [0] * 4 + [1] * 6 + [0] * 14
UNLABELLED = [1] * 300 + [0] * 140


def test_the_untuned_prediction_powered_mean_is_the_published_one():
    found = prediction_powered_mean(LABELS, PREDICTIONS, UNLABELLED, tuned=False)
    assert found.value == pytest.approx(0.6485, abs=5e-5)
    assert found.low == pytest.approx(0.5367, abs=5e-5)
    assert found.high == pytest.approx(0.7603, abs=5e-5)


def test_tuning_chooses_the_weight_with_the_smallest_variance():
    found = prediction_powered_mean(LABELS, PREDICTIONS, UNLABELLED)
    y, f, u = (np.array(part, dtype=float) for part in (LABELS, PREDICTIONS, UNLABELLED))
    widths = [w**2 * u.var() / len(u) + (y - w * f).var() / len(y) for w in np.linspace(0, 1, 201)]
    reached = ((found.high - found.low) / 2 / 1.959964) ** 2
    fitted = (stats.t.ppf(0.975, 58) / 1.959964) ** 2 * 60 / 58
    assert reached == pytest.approx(min(widths) * fitted, rel=0.01)


def test_predictions_that_say_nothing_are_not_used_and_perfect_ones_are():
    plain = prediction_powered_mean(LABELS, [1] * 60, UNLABELLED)
    assert plain.value == pytest.approx(40 / 60)
    perfect = prediction_powered_mean(LABELS, LABELS, UNLABELLED)
    assert perfect.high - perfect.low < plain.high - plain.low


def test_tuned_intervals_cover():
    generator = np.random.default_rng(1)
    covered = []
    for _ in range(600):
        y = (generator.random(600) < 0.4).astype(float)
        f = np.where(generator.random(600) < 0.85, y, 1 - y)
        found = prediction_powered_mean(y[:100], f[:100], f[100:])
        covered.append(found.low <= 0.4 <= found.high)
    assert 0.925 <= np.mean(covered) <= 0.975


def test_too_few_labels_are_no_estimate_or_are_flagged():
    assert prediction_powered_mean([1], [1], [1, 0]).flags == ("empty",)
    assert "few-labels" in prediction_powered_mean([1, 0, 1], [1, 0, 0], [1, 0, 1, 1]).flags
    with pytest.raises(ValueError, match="equal length"):
        prediction_powered_mean([1, 0], [1], [1, 0])
