"""The psychometric curve: against a binomial GLM, and in worlds with a known threshold."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import psychometric_curve
from scipy.special import expit
from scipy.stats import binom

pytestmark = pytest.mark.inside
DOSES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
STUDIES = 200


def world(seed, threshold=4.0, slope=2.0, lapse=0.0, clusters=60):
    draws = np.random.default_rng([seed, 9])
    rate = (1 - lapse) * expit(slope * (np.log2(DOSES) - np.log2(threshold)))
    return (draws.random((clusters, len(DOSES))) < rate).astype(float)


def fit(noticed, **how):
    return psychometric_curve(noticed, np.ones(noticed.shape), DOSES, **{"resamples": 99, **how})


def test_without_lapses_it_is_the_logistic_regression_of_another_library():
    api = pytest.importorskip("statsmodels.api")
    noticed = world(1)
    sums = noticed.sum(axis=0)
    design = api.add_constant(np.log2(DOSES))
    other = api.GLM(np.column_stack([sums, 60 - sums]), design, family=api.families.Binomial()).fit()
    found = fit(noticed, lapse=0.0)
    assert found.slope.value == pytest.approx(other.params[1], rel=0.01)
    assert np.log2(found.threshold.value) == pytest.approx(-other.params[0] / other.params[1], abs=0.01)


def test_the_interval_of_the_threshold_covers():
    found = [fit(world(seed, lapse=0.05)) for seed in range(STUDIES)]
    half = 4.0 * 2 ** (np.log(0.5 / 0.45) / 2.0)  # (1 - 0.05) F = 1/2
    covered = sum(each.threshold.low <= half <= each.threshold.high for each in found)
    assert covered >= binom.ppf(0.001, STUDIES, 0.95)


def test_a_step_has_a_threshold_within_it_and_lapses_are_told_apart():
    noticed = np.tile((DOSES >= 3).astype(float), (40, 1))
    assert 2 < fit(noticed).threshold.value < 4
    assert fit(world(3, lapse=0.25, slope=4.0, clusters=400)).lapse.value == pytest.approx(0.25, abs=0.06)


def test_a_threshold_outside_of_the_doses_is_a_flag_and_not_a_number():
    assert fit(np.zeros((20, 5))).threshold.flags == ("above",)
    assert fit(np.ones((20, 5))).threshold.flags == ("below",)


def test_input_that_makes_no_sense_is_refused():
    assert psychometric_curve([[1.0]], [[1.0]], [2.0]) is None
    with pytest.raises(ValueError, match="rising"):
        psychometric_curve([[1.0, 0.0]], [[1.0, 1.0]], [2.0, 1.0])
    with pytest.raises(ValueError, match="shape"):
        psychometric_curve([[1.0, 0.0]], [[1.0]], [2.0, 1.0])
