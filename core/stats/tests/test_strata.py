"""The slope within strata, against statsmodels, scipy, the Mantel-Haenszel formula and a jackknife by brute force."""

import numpy as np
import pytest
from jrh_stats import slope_within_strata
from jrh_stats.score_intervals import t_beyond
from scipy import stats
from scipy.stats.contingency import crosstab


def world(seed, n=90):
    rng = np.random.default_rng(seed)
    strata, clusters = rng.integers(0, 4, n), rng.integers(0, 30, n)
    x = rng.normal(size=n) + strata
    return x, strata + 0.3 * x + rng.normal(size=n), strata, clusters


def least_squares(x, y, strata):
    """Return the slope of ordinary least squares with an intercept per stratum."""
    dummies = (strata[:, None] == np.unique(strata)).astype(float)
    return np.linalg.lstsq(np.column_stack([x, dummies]), y, rcond=None)[0][0]


@pytest.mark.parametrize("seed", range(5))
def test_the_slope_is_that_of_least_squares_and_its_error_that_of_leaving_out_clusters(seed) -> None:
    x, y, strata, clusters = world(seed)
    found = slope_within_strata(x, y, strata, clusters)
    assert found.estimate.value == pytest.approx(least_squares(x, y, strata), abs=1e-9)
    kept = [clusters != cluster for cluster in np.unique(clusters)]
    without = np.array([least_squares(x[rows], y[rows], strata[rows]) for rows in kept])
    number = len(without)
    error = np.sqrt((number - 1) / number * np.square(without - without.mean()).sum())
    centred = without - without.mean()
    kurtosis = np.mean(centred**4) / np.mean(centred**2) ** 2
    degrees = min(2 * number / (kurtosis - (number - 3) / (number - 1)), number - 1)
    assert found.estimate.high - found.estimate.value == pytest.approx(stats.t.ppf(0.975, degrees) * error, rel=1e-7)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.estimate.value) / error, degrees), rel=1e-6)
    assert found.estimate.clusters == number


def test_without_clusters_it_comes_close_to_the_robust_errors_of_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.api")
    x, y, strata, _ = world(7, n=400)
    fitted = models.OLS(y, np.column_stack([x, strata[:, None] == np.arange(4)]).astype(float)).fit(cov_type="HC3")
    found = slope_within_strata(x, y, strata).estimate
    assert found.value == pytest.approx(fitted.params[0], abs=1e-9)
    assert (found.high - found.low) / (2 * fitted.bse[0]) == pytest.approx(1.96, rel=0.03)


def test_of_two_binary_variables_it_is_the_mantel_haenszel_risk_difference() -> None:
    rng = np.random.default_rng(3)
    strata, x = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    y = (rng.random(200) < 0.2 + 0.2 * strata + 0.1 * x).astype(int)
    top = bottom = 0.0
    for stratum in range(3):
        counts = crosstab(x[strata == stratum], y[strata == stratum]).count
        n0, n1 = counts.sum(axis=1)
        top += n0 * n1 / (n0 + n1) * (counts[1, 1] / n1 - counts[0, 1] / n0)
        bottom += n0 * n1 / (n0 + n1)
    assert slope_within_strata(x, y, strata).estimate.value == pytest.approx(top / bottom, abs=1e-9)


@pytest.mark.parametrize("degrees", [1.0, 2.5, 9.0, 29.0, 400.0, 5000.0])
def test_the_p_value_is_that_of_student(degrees) -> None:
    for t in (0.0, 0.3, 2.0, 4.5):
        assert t_beyond(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-6)


def test_the_order_of_rows_the_names_of_clusters_and_the_origin_of_y_do_not_matter() -> None:
    x, y, strata, clusters = world(1)
    order = np.random.default_rng(0).permutation(len(x))
    found = slope_within_strata(x, y, strata, clusters)
    again = slope_within_strata(x[order], y[order] + 100, strata[order], 97 - clusters[order])
    assert again.estimate.value == pytest.approx(found.estimate.value, abs=1e-9)
    assert again.estimate.high == pytest.approx(found.estimate.high, abs=1e-7)


def test_what_cannot_be_estimated_is_none_with_a_flag_and_a_judge_that_is_always_right_has_an_interval() -> None:
    assert slope_within_strata([], [], []).estimate.flags == ("empty",)
    alone = slope_within_strata([1, 2, 3], [1, 0, 1], [0, 1, 2])
    assert (alone.estimate.value, alone.estimate.flags, alone.p) == (None, ("degenerate",), None)
    assert slope_within_strata([1, 2], [0, 1], [0, 0], [5, 5]).p is None
    strata = np.arange(40) % 2
    right = slope_within_strata(np.arange(40) / 12, strata, strata)
    assert right.estimate.value == 0.0
    assert right.p == 1.0
    assert -0.5 < right.estimate.low < -0.05
    assert right.estimate.flags == ("few-events",)


@pytest.mark.parametrize("clustered", [False, True])
def test_where_nothing_depends_on_x_within_strata_it_alarms_in_one_study_of_twenty(clustered) -> None:
    """400 studies each; gold goes with x, as long essays are better; binomial error of a rate of 0.05: 0.011."""
    alarms = covered = 0
    for seed in range(400):
        rng = np.random.default_rng([11, seed, clustered])
        clusters = np.repeat(np.arange(40), 4) if clustered else np.arange(160)
        quality, x, error = (
            0.7 * rng.normal(size=clusters.max() + 1)[clusters] + 0.7 * rng.normal(size=160) for _ in range(3)
        )
        gold = np.clip(np.rint(2.5 + quality), 0, 5).astype(int)
        y = np.clip(np.rint(gold + 0.8 * error), 0, 5)
        found = slope_within_strata(x + 0.6 * quality, y, gold, clusters, span=5)
        alarms += found.p < 0.05
        covered += found.estimate.low <= 0 <= found.estimate.high
    assert alarms <= 0.05 * 400 + 3 * np.sqrt(400 * 0.05 * 0.95)
    assert alarms >= 0.02 * 400
    assert covered == 400 - alarms


@pytest.mark.parametrize(("texts", "flagged"), [(8, True), (15, True), (60, False)])
def test_a_rare_author_is_flagged_by_the_design_and_not_by_the_luck_of_the_scores(texts, flagged) -> None:
    """Of 200 fair scores with 20% errors: a third of the studies had no flag before, and covered 82%."""
    generator = np.random.default_rng(14)
    x = np.repeat([1.0, 0.0], [texts, 200 - texts])
    found = [slope_within_strata(x, generator.random(200) < 0.2, np.arange(200) % 2).estimate for _ in range(50)]
    assert np.mean(["few-events" in each.flags for each in found]) == (1.0 if flagged else pytest.approx(0.0, abs=0.3))


def test_a_fair_judge_is_not_accused_because_the_few_texts_of_an_author_happen_to_be_right() -> None:
    generator = np.random.default_rng(114)
    studies, x = 400, np.repeat([1.0, 0.0], [10, 90])
    covered = rejected = 0
    for _ in range(studies):
        found = slope_within_strata(x, generator.random(100) < 0.2, generator.integers(0, 2, 100))
        covered += found.estimate.low <= 0 <= found.estimate.high
        rejected += found.p < 0.05
    assert covered / studies >= 0.95 - 3 * (0.05 * 0.95 / studies) ** 0.5
    assert rejected / studies <= 0.05 + 3 * (0.05 * 0.95 / studies) ** 0.5
