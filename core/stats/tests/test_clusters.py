import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import cluster_sums, ratio_variance
from jrh_stats.clusters import cluster_margins
from scipy.stats import sem


def test_sums_are_per_cluster_in_the_order_of_the_codes() -> None:
    sums = cluster_sums([7, 2, 7, 2, 2], [1, 0, 1, 1, 0], np.ones(5))

    assert sums.tolist() == [[1, 3], [2, 2]]


@given(st.permutations(range(9)))
def test_sums_of_thirds_do_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    clusters, values = np.repeat([0, 1, 2], 3), np.array([1, 2, 3, 0, 1, 3, 2, 2, 1]) / 3
    rows = np.array(order)

    assert np.array_equal(cluster_sums(clusters[rows], values[rows]), cluster_sums(clusters, values))


def test_sums_need_values_of_the_clusters_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        cluster_sums([0, 1], [1.0])


@pytest.mark.parametrize("label", [-1, 2])
def test_margins_refuse_a_label_that_would_count_for_another_cluster(label: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        cluster_margins([0, 1, 1], [0, label, 1], np.ones(3), n_labels=2)


def test_with_clusters_of_one_the_variance_is_the_squared_standard_error_of_the_mean() -> None:
    scores = np.array([0, 1, 1, 0, 1, 0.5, 1])

    assert ratio_variance(scores, np.ones(7)) == pytest.approx(sem(scores) ** 2)


def test_with_equal_clusters_the_variance_is_that_of_the_cluster_means() -> None:
    scores = np.random.default_rng(1).binomial(1, 0.7, (12, 4))

    assert ratio_variance(scores.sum(axis=1), np.full(12, 4)) == pytest.approx(sem(scores.mean(axis=1)) ** 2)


def test_duplicating_every_trial_within_its_cluster_adds_no_information() -> None:
    y, m = np.array([1, 2, 0, 3]), np.array([2, 2, 1, 3])

    assert ratio_variance(2 * y, 2 * m) == pytest.approx(ratio_variance(y, m))


def test_one_cluster_has_no_variance() -> None:
    with pytest.raises(ValueError, match="two clusters"):
        ratio_variance([1], [2])
