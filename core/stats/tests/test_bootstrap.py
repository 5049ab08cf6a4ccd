import numpy as np
import pytest
from jrh_stats import clustered_proportion, ratio_variance, resample_totals
from scipy.stats import bootstrap


def _clusters(seed: int = 3, size: int = 40) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    trials = generator.integers(1, 6, size)
    return generator.binomial(trials, generator.beta(4, 1, size)).astype(float), trials.astype(float)


def test_resampled_totals_have_the_moments_of_drawing_clusters_with_replacement() -> None:
    y, m = _clusters()

    totals = resample_totals(np.stack([y, m], axis=1), resamples=40_000, seed=1)

    assert totals.mean(axis=0) == pytest.approx([y.sum(), m.sum()], rel=0.005)
    assert totals[:, 0].var() == pytest.approx(len(y) * y.var(), rel=0.03)
    covariance = len(y) * np.cov(y, m, ddof=0)[0, 1]
    assert np.cov(totals.T)[0, 1] == pytest.approx(covariance, rel=0.1)


def test_the_bootstrap_variance_of_a_ratio_approaches_the_closed_form() -> None:
    y, m = _clusters(size=200)
    totals = resample_totals(np.stack([y, m], axis=1), resamples=20_000, seed=1)

    variance = (totals[:, 0] / totals[:, 1]).var() * 200 / 199

    assert variance == pytest.approx(ratio_variance(y, m), rel=0.05)


def test_percentiles_equal_those_of_scipy_up_to_monte_carlo_error() -> None:
    y, m = _clusters()
    theirs = bootstrap(
        (y, m),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(5),
    ).confidence_interval

    totals = resample_totals(np.stack([y, m], axis=1), resamples=20_000, seed=2)
    ours = np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975])

    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.005)


def test_another_order_of_clusters_gives_the_same_bytes() -> None:
    y, m = _clusters()
    order = np.random.default_rng(9).permutation(len(y))

    assert clustered_proportion(y, m) == clustered_proportion(y[order], m[order])


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    y, m = _clusters()
    whole = resample_totals(np.stack([y, m], axis=1), resamples=500, seed=1)

    monkeypatch.setattr("jrh_stats.proportion._CHUNK", 64)

    assert np.array_equal(resample_totals(np.stack([y, m], axis=1), resamples=500, seed=1), whole)


def test_without_clusters_there_is_no_estimate() -> None:
    with pytest.raises(ValueError, match="at least one cluster"):
        resample_totals(np.empty((0, 2)), resamples=10, seed=0)


def test_a_cluster_without_trials_is_an_error() -> None:
    with pytest.raises(ValueError, match="positive denominator"):
        clustered_proportion([1, 0], [1, 0])
