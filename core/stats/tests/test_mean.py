import numpy as np
import pytest
from jrh_stats import clustered_mean, paired_difference, wilson
from scipy.stats import t as student
from scipy.stats import ttest_1samp, ttest_rel


def test_with_clusters_of_one_the_interval_is_students() -> None:
    scores = np.array([0.3, 1.5, 2.2, -1.0, 0.4, 0.9])
    expected = ttest_1samp(scores, 0).confidence_interval()

    found = clustered_mean(scores, np.ones(6))

    assert (found.value, found.low, found.high) == pytest.approx((scores.mean(), expected.low, expected.high))


def test_unequal_clusters_have_the_variance_of_statsmodels_clustered_regression() -> None:
    api = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(2)
    clusters = np.repeat(np.arange(12), generator.integers(1, 6, 12))
    scores = generator.normal(size=len(clusters)) + generator.normal(size=12)[clusters]
    robust = api.OLS(scores, np.ones(len(scores))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    error = robust.bse[0] * np.sqrt(12 / 11)
    sums = [scores[clusters == k].sum() for k in range(12)]

    found = clustered_mean(sums, np.bincount(clusters))

    assert found.high - found.value == pytest.approx(student.ppf(0.975, 11) * error)


def test_bounds_hold_the_interval_and_lean_it_inwards() -> None:
    found = clustered_mean([0] * 18 + [1, 2], [5] * 20, bounds=(0, 1))

    assert found.method == "cluster-robust-wilson"
    assert 0 < found.low < found.value < found.high
    assert found.high - found.value > found.value - found.low


def test_equal_clusters_have_the_interval_of_their_number() -> None:
    expected = wilson(20, 20)

    found = clustered_mean([4] * 20, [4] * 20, bounds=(0, 1))

    assert (found.low, found.high, found.method) == (pytest.approx(expected[0]), 1.0, "wilson-clusters")
    assert clustered_mean([4] * 20, [4] * 20).flags == ("no-interval",)


def test_a_score_outside_the_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="bounds"):
        clustered_mean([3], [2], bounds=(0, 1))


def test_a_paired_difference_of_many_items_has_nearly_students_interval() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.binomial(1, 0.7, 2000), generator.binomial(1, 0.6, 2000)
    expected = ttest_rel(first, second).confidence_interval()

    found = paired_difference(first, second, np.arange(2000))

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=5e-4)
    assert found.value == pytest.approx(first.mean() - second.mean())


def test_sides_that_never_differ_could_still_differ_a_little() -> None:
    found = paired_difference([1, 0] * 10, [1, 0] * 10, np.arange(20))

    assert found.value == 0.0
    assert found.high == -found.low == pytest.approx(float(wilson(0, 20)[1]))


def test_exchanging_the_sides_mirrors_the_interval() -> None:
    first, second = np.array([1, 1, 1, 0, 1, 1]), np.array([0, 1, 0, 0, 0, 1])
    one, other = paired_difference(first, second, range(6)), paired_difference(second, first, range(6))

    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low))


def test_nothing_is_empty_and_shapes_have_to_fit() -> None:
    assert paired_difference([], [], []).flags == ("empty",)
    with pytest.raises(ValueError, match="equal length"):
        paired_difference([1], [1, 0], [0, 1])
