"""Bounds of correlations by missing verdicts, against every completion."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jrh_stats import (
    Estimate,
    association_bounds,
    concordance,
    kappa_bounds,
    kendall_tau_b,
    matthews_correlation,
    pearson,
    scale_compression,
    spearman,
)

ESTIMATORS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall-tau-b": kendall_tau_b,
    "concordance": concordance,
    "scale-compression": scale_compression,
    "mcc": matthews_correlation,
}


def estimated(name: str, verdicts: np.ndarray, truths: np.ndarray) -> Estimate:
    kind = np.int64 if name == "mcc" else np.float64
    return ESTIMATORS[name](verdicts.astype(kind), truths.astype(kind), np.arange(len(truths)))


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_bounds_are_the_extremes_over_every_completion(name: str) -> None:
    rng, defined = np.random.default_rng(41), 0
    for _ in range(25):
        labels, pairs, lost = int(rng.integers(2, 5)), int(rng.integers(5, 12)), int(rng.integers(1, 4))
        truths = rng.integers(0, labels, pairs)
        verdicts = np.where(rng.random(pairs) < 0.6, truths, rng.integers(0, labels, pairs)).astype(float)
        gone = rng.choice(pairs, lost, replace=False)
        values = []
        for filled in product(range(labels), repeat=lost):
            verdicts[gone] = filled
            values.append(estimated(name, verdicts, truths).value)
        verdicts[gone] = np.nan
        bounds = association_bounds(name, verdicts, truths, np.arange(pairs), np.arange(labels))
        known = [value for value in values if value is not None]
        assert (bounds is None) == (not known)
        if bounds is not None:
            defined += 1
            assert (bounds.low, bounds.high) == pytest.approx((min(known), max(known)), abs=1e-9)
    assert defined > 15


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_too_many_completions_to_try_are_climbed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """16 missing of six labels have 20,349 counts: a grid of 3,003 and steps of single verdicts find the same ends."""
    rng = np.random.default_rng(42)
    truths = rng.integers(0, 6, 60)
    verdicts = np.where(rng.random(60) < 0.7, truths, rng.integers(0, 6, 60)).astype(float)
    verdicts[rng.choice(60, 16, replace=False)] = np.nan
    given = (name, verdicts, truths, np.arange(60), np.arange(6))
    climbed = association_bounds(*given)
    monkeypatch.setattr("jrh_stats.completions._MOST_TABLES", 20_349)
    tried = association_bounds(*given)
    assert climbed is not None
    assert tried is not None
    assert (climbed.low, climbed.high) == pytest.approx((tried.low, tried.high), abs=1e-9)


def test_the_bounds_of_concordance_are_those_of_quadratic_kappa() -> None:
    rng = np.random.default_rng(43)
    truths = rng.integers(0, 5, 40)
    verdicts = np.where(rng.random(40) < 0.7, truths, rng.integers(0, 5, 40))
    lost = rng.random(40) < 0.1
    kappa = kappa_bounds(np.where(lost, -1, verdicts), truths, np.arange(40), np.arange(5), weighting="quadratic")
    ccc = association_bounds("concordance", np.where(lost, np.nan, verdicts), truths, np.arange(40), np.arange(5))
    assert kappa is not None
    assert ccc is not None
    assert kappa.interval is not None
    assert ccc.interval is not None
    assert (ccc.low, ccc.high) == pytest.approx((kappa.low, kappa.high), abs=1e-9)
    assert ccc.interval[0] <= ccc.low
    assert ccc.interval[1] >= ccc.high


def test_without_missing_verdicts_both_bounds_are_the_estimate() -> None:
    verdicts, truths = np.array([1.0, 2, 3, 4, 2]), np.array([1.0, 2, 3, 3, 1])
    bounds = association_bounds("spearman", verdicts, truths, np.arange(5), [1, 2, 3, 4])
    value = spearman(verdicts, truths, np.arange(5)).value
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((value, value))


def test_scales_with_more_than_twelve_labels_have_no_bounds() -> None:
    verdicts = np.array([1.0, np.nan, 3.0])
    assert association_bounds("pearson", verdicts, [1, 2, 3], np.arange(3), np.arange(13)) is None


def test_shapes_have_to_fit() -> None:
    with pytest.raises(ValueError, match="a verdict, a truth and a cluster per pair"):
        association_bounds("pearson", [1.0], [1, 2], [0, 1], [1, 2])
