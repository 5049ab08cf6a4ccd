"""Planted studies for the estimators and tests that need more than records: arrays in, one estimate out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jrh.stats import (
    Estimate,
    Significance,
    VarianceComponents,
    brier_score,
    clustered_proportion,
    corrected_failure_rate,
    effective_judges,
    equivalence,
    expected_calibration_error,
    icc,
    mcnemar_exact,
    prediction_powered_mean,
    rogan_gladen,
    sign_flip_test,
    variance_components,
)

from jrh_selftest.checks import ArrayAlarm, ArrayCheck

_ITEM, _JUDGE, _BOTH, _REST = 1.0, 0.3, 0.4, 0.5
"""Planted variances."""
_ALPHA = 0.05
_PREVALENCE, _RIGHT = 0.4, 0.85
_VALID, _FAILS, _FAILS_INVALID = 0.85, 0.2, 0.7


def array_checks() -> Sequence[ArrayCheck]:
    """Return the estimators, each with its planted value."""
    whole = _ITEM + _JUDGE + _BOTH
    return (
        ArrayCheck(name="variance of items", planted=_ITEM, draw=lambda rng: _component(_scores(rng), "item")),
        ArrayCheck(name="variance of judges", planted=_JUDGE, draw=lambda rng: _component(_scores(rng), "judge")),
        ArrayCheck(name="variance item:judge", planted=_BOTH, draw=lambda rng: _component(_scores(rng), "item:judge")),
        ArrayCheck(name="variance of repeats", planted=_REST, draw=lambda rng: _component(_scores(rng), "residual")),
        ArrayCheck(name="ICC(2,1)", planted=_ITEM / whole, draw=_icc),
        ArrayCheck(name="effective judges", planted=4 / (1 + 3 * 0.4), draw=_effective),
        ArrayCheck(name="Rogan-Gladen", planted=0.3, draw=_rogan_gladen),
        ArrayCheck(name="prediction-powered mean", planted=_PREVALENCE, draw=_prediction_powered),
        ArrayCheck(name="corrected failure rate", planted=_FAILS, draw=_corrected),
        # Beta(4, 2): E[p (1 - p)] = 4 * 2 / (6 * 7).
        ArrayCheck(name="Brier score", planted=4 * 2 / (6 * 7), draw=_brier),
        ArrayCheck(name="calibration error", planted=0.0, draw=_calibration, biased=True),
    )


def array_alarms() -> Sequence[ArrayAlarm]:
    """Return the tests, without an effect and with one."""
    return (
        ArrayAlarm(name="McNemar", draw=lambda rng: _mcnemar(rng, 0.1, 0.1)),
        ArrayAlarm(name="McNemar, 20 % against 5 %", draw=lambda rng: _mcnemar(rng, 0.2, 0.05), least_power=0.75),
        ArrayAlarm(name="sign-flip permutation", draw=lambda rng: _signs(rng, 0.0)),
        ArrayAlarm(name="sign-flip, half a deviation", draw=lambda rng: _signs(rng, 0.5), least_power=0.8),
        ArrayAlarm(name="TOST at its margin", draw=lambda rng: _equivalent(rng, 0.1)),
        ArrayAlarm(name="TOST, no difference", draw=lambda rng: _equivalent(rng, 0.0), least_power=0.8),
    )


def _scores(rng: np.random.Generator) -> VarianceComponents:
    items, judges, repeats = 30, 5, 2
    item = np.sqrt(_ITEM) * rng.standard_normal((items, 1, 1))
    judge = np.sqrt(_JUDGE) * rng.standard_normal((1, judges, 1))
    both = np.sqrt(_BOTH) * rng.standard_normal((items, judges, 1))
    scores = item + judge + both + np.sqrt(_REST) * rng.standard_normal((items, judges, repeats))
    place = np.indices(scores.shape).reshape(3, -1)
    return variance_components(scores.ravel(), {"item": place[0], "judge": place[1]})


def _component(found: VarianceComponents, name: str) -> Estimate:
    part = next(each for each in found.components if each.name == name)
    # The raw estimate is the unbiased one; the interval is the same.
    return Estimate(value=part.raw, low=part.low, high=part.high, method=found.method)


def _icc(rng: np.random.Generator) -> Estimate:
    ratings = np.sqrt(_ITEM) * rng.standard_normal((40, 1)) + np.sqrt(_JUDGE) * rng.standard_normal((1, 6))
    return icc(ratings + np.sqrt(_BOTH) * rng.standard_normal((40, 6)), "2,1")


def _effective(rng: np.random.Generator) -> Estimate:
    return effective_judges(np.sqrt(0.4) * rng.standard_normal((60, 1)) + np.sqrt(0.6) * rng.standard_normal((60, 4)))


def _rogan_gladen(rng: np.random.Generator) -> Estimate:
    prevalence, specificity, sensitivity = 0.3, 0.8, 0.9
    apparent = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    return rogan_gladen(
        int(rng.binomial(500, apparent)),
        500,
        true_negatives=int(rng.binomial(100, specificity)),
        negatives=100,
        true_positives=int(rng.binomial(100, sensitivity)),
        labelled_positives=100,
    )


def _prediction_powered(rng: np.random.Generator) -> Estimate:
    labels = (rng.random(600) < _PREVALENCE).astype(np.float64)
    predictions = np.where(rng.random(600) < _RIGHT, labels, 1 - labels)
    return prediction_powered_mean(labels[:100], predictions[:100], predictions[100:])


def _corrected(rng: np.random.Generator) -> Estimate:
    valid = rng.random(300) < _VALID
    fails = rng.random(300) < np.where(valid, _FAILS, _FAILS_INVALID)
    failed, passed = np.flatnonzero(fails)[:40], np.flatnonzero(~fails)[:40]
    return corrected_failure_rate(
        clustered_proportion(fails.astype(np.float64), np.ones(300)),
        valid_failures=int(valid[failed].sum()),
        reviewed_failures=len(failed),
        valid_passes=int(valid[passed].sum()),
        reviewed_passes=len(passed),
    )


def _brier(rng: np.random.Generator) -> Estimate:
    stated = rng.beta(4, 2, 120)
    return brier_score(stated, (rng.random(120) < stated).astype(np.float64), np.arange(120) // 2)


def _calibration(rng: np.random.Generator) -> Estimate:
    stated = rng.beta(4, 2, 200)
    outcomes = (rng.random(200) < stated).astype(np.float64)
    return expected_calibration_error(stated, outcomes, np.arange(200), resamples=200, seed=int(rng.integers(2**31)))


def _mcnemar(rng: np.random.Generator, first: float, second: float) -> bool:
    only_first, only_second, _ = rng.multinomial(100, [first, second, 1 - first - second])
    return _alarm(mcnemar_exact(int(only_first), int(only_second)))


def _signs(rng: np.random.Generator, mean: float) -> bool:
    found = sign_flip_test(rng.standard_normal(40) + mean, resamples=400, seed=int(rng.integers(2**31)))
    return _alarm(found)


def _alarm(found: Significance) -> bool:
    return found.p is not None and found.p <= _ALPHA


def _equivalent(rng: np.random.Generator, difference: float) -> bool:
    found = equivalence(difference + 0.2 * rng.standard_normal(60), np.ones(60), margin=0.1)
    return found.answer.value == "equivalent"
