import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats import clustered_proportion, resample_totals
from scipy.stats import binomtest


def _ends(estimate: object) -> tuple[float, float]:
    return estimate.low, estimate.high  # type: ignore[attr-defined]


def test_one_trial_per_cluster_has_the_exact_interval() -> None:
    expected = binomtest(9, 12).proportion_ci(method="exact")

    estimate = clustered_proportion([1] * 9 + [0] * 3, [1] * 12)

    assert estimate.method == "clopper-pearson"
    assert _ends(estimate) == pytest.approx((expected.low, expected.high))
    assert (estimate.n, estimate.clusters) == (12, 12)


def test_where_all_clusters_agree_the_number_of_clusters_counts_and_not_that_of_trials() -> None:
    expected = binomtest(20, 20).proportion_ci(method="exact")

    estimate = clustered_proportion([5] * 20, [5] * 20)

    assert (estimate.value, estimate.method, estimate.n) == (1.0, "clopper-pearson-clusters", 100)
    assert _ends(estimate) == pytest.approx((expected.low, expected.high))


def test_identical_trials_within_clusters_give_the_interval_of_the_clusters_alone() -> None:
    hits = np.array([1] * 160 + [0] * 40)
    alone = binomtest(160, 200).proportion_ci(method="exact")

    estimate = clustered_proportion(hits * 5, np.full(200, 5))

    assert estimate.method == "clopper-pearson-clusters"
    assert _ends(estimate) == pytest.approx((alone.low, alone.high))


def test_independent_trials_in_clusters_are_worth_nearly_as_much_as_separate_ones() -> None:
    hits = np.random.default_rng(2).binomial(4, 0.6, 500)
    pooled = binomtest(int(hits.sum()), 2000).proportion_ci(method="exact")

    estimate = clustered_proportion(hits, np.full(500, 4))

    assert _ends(estimate) == pytest.approx((pooled.low, pooled.high), abs=0.003)


def test_clustering_widens_the_interval_against_the_naive_one() -> None:
    generator = np.random.default_rng(7)
    hits = generator.binomial(10, generator.beta(0.4, 0.1, 50))
    naive = binomtest(int(hits.sum()), 500).proportion_ci(method="exact")

    estimate = clustered_proportion(hits, np.full(50, 10))

    assert estimate.high - estimate.low > 2 * (naive.high - naive.low)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.floats(0, 1)), min_size=1, max_size=25),
    st.randoms(use_true_random=False),
)
def test_the_interval_contains_the_estimate_stays_in_range_and_ignores_order(rows, random) -> None:
    clusters = [(round(share * size), size) for size, share in rows]
    estimate = clustered_proportion(*zip(*clusters, strict=True))
    random.shuffle(clusters)

    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert clustered_proportion(*zip(*clusters, strict=True)) == estimate


def test_higher_levels_give_wider_intervals() -> None:
    narrow, wide = (clustered_proportion([3, 1, 2, 3], [3, 3, 3, 3], level=level) for level in (0.8, 0.99))

    assert wide.low < narrow.low < narrow.high < wide.high


def test_one_cluster_says_almost_nothing() -> None:
    estimate = clustered_proportion([7], [10])

    assert (estimate.value, estimate.method) == (0.7, "clopper-pearson-clusters")
    assert estimate.high - estimate.low > 0.8


def test_nothing_observed_is_no_estimate_rather_than_zero() -> None:
    estimate = clustered_proportion([], [])

    assert (estimate.value, estimate.low, estimate.high, estimate.flags) == (None, None, None, ("empty",))


@pytest.mark.parametrize("hits", [[3], [-1]])
def test_scores_outside_zero_and_one_are_rejected(hits: list[int]) -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        clustered_proportion(hits, [2])


@pytest.mark.parametrize(("clusters", "share", "correlation"), [(10, 0.8, 0.5), (20, 0.95, 0.5), (40, 0.9, 0.2)])
def test_the_interval_covers_with_few_items_and_near_one(clusters: int, share: float, correlation: float) -> None:
    """Beta-binomial clusters of 1 to 5 trials; the true proportion is known. 300 intervals: standard error 0.013."""
    generator = np.random.default_rng([clusters, int(100 * share)])
    size = (1 - correlation) / correlation
    covered = percentile = 0
    for seed in range(300):
        trials = generator.integers(1, 6, clusters)
        hits = generator.binomial(trials, generator.beta(share * size, (1 - share) * size, clusters))
        estimate = clustered_proportion(hits, trials)
        covered += estimate.low <= share <= estimate.high
        hit, tried = resample_totals(np.stack([hits, trials], axis=1), resamples=300, seed=seed).T
        low, high = np.quantile(hit / tried, [0.025, 0.975])
        percentile += low <= share <= high

    assert covered / 300 >= 0.92
    assert percentile < covered
