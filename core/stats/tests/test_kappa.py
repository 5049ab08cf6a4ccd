import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats import clustered_kappa, cohen_kappa, kappa_test
from scipy.stats import binomtest, fisher_exact, kurtosis, t
from sklearn.metrics import cohen_kappa_score


def _rows(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array(table)
    first, second = np.indices(counts.shape)
    return np.repeat(first.ravel(), counts.ravel()), np.repeat(second.ravel(), counts.ravel())


def test_the_variance_is_that_of_leaving_out_one_cluster_at_a_time() -> None:
    generator = np.random.default_rng(8)
    first, second, clusters = generator.integers(0, 2, 30), generator.integers(0, 2, 30), np.repeat(range(10), 3)
    value = cohen_kappa_score(first, second)
    left = [cohen_kappa_score(first[clusters != k], second[clusters != k]) for k in range(10)]
    variance = 9 / 10 * np.square(left - np.mean(left)).sum()
    u = (1 - value) / 2
    trials = u * (1 - u) / (variance / 4)
    moved = 9 / 2 * (left - np.mean(left))
    errors = moved**2 / np.mean(moved**2) - 1 - moved * (1 - 2 * u) / (u * (1 - u))
    degrees = max(2 * 9 / np.mean(errors**2), min(2 * 10 / (kurtosis(left, fisher=False) - 7 / 9), 9))
    quantile = t.ppf(0.975, degrees)

    estimate = clustered_kappa(first, second, clusters)

    assert estimate.method == "jackknife-wilson"
    for end in (estimate.low, estimate.high):  # the score equation that both ends solve
        q = (1 - end) / 2
        assert (u - q) ** 2 == pytest.approx(quantile**2 * q * (1 - q) / trials)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676),  # Fleiss, Levin and Paik (2003), table 18.1
        ([[20, 5], [10, 15]], 0.4),
        ([[45, 15], [25, 15]], 0.130),
        ([[25, 35], [5, 35]], 0.259),
        ([[0, 10], [10, 0]], -1.0),
    ],
)
def test_kappa_gives_the_published_values(table: list[list[int]], kappa: float) -> None:
    assert cohen_kappa(*_rows(table)).value == pytest.approx(kappa, abs=0.0005)


@settings(max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60),
    st.sampled_from(["none", "quadratic"]),
)
def test_kappa_equals_scikit_learn(pairs: list[tuple[int, int]], weighting: str) -> None:
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) == 1:
        return
    theirs = cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3, 4], weights=None if weighting == "none" else weighting
    )

    assert cohen_kappa(first, second, weighting=weighting).value == pytest.approx(theirs, abs=1e-9)


def test_always_the_same_label_on_both_sides_is_degenerate_and_not_one() -> None:
    for estimate in (cohen_kappa([1] * 9, [1] * 9), clustered_kappa([1] * 9, [1] * 9, range(9))):
        assert (estimate.value, estimate.low, estimate.flags) == (None, None, ("degenerate",))


def test_one_constant_side_gives_zero() -> None:
    assert cohen_kappa([0, 0, 0, 0], [0, 1, 0, 1]).value == pytest.approx(0.0)


def test_case_weights_count_as_repeated_rows() -> None:
    first, second = [0, 1, 1, 0, 1], [0, 1, 0, 1, 1]
    weights = [3, 2, 1, 1, 2]

    weighted = cohen_kappa(first, second, case_weights=weights).value

    assert weighted == pytest.approx(cohen_kappa_score(first, second, sample_weight=weights))


def test_perfect_agreement_leaves_room_for_disagreements_that_were_not_seen() -> None:
    upper = binomtest(0, 20).proportion_ci(method="wilson").high

    estimate = clustered_kappa([0, 1] * 20, [0, 1] * 20, np.repeat(np.arange(20), 2))

    assert (estimate.value, estimate.high, estimate.method) == (1.0, 1.0, "wilson-clusters")
    assert estimate.low == pytest.approx(1 - upper / 0.5)


def test_copies_of_trials_within_clusters_do_not_narrow_the_interval() -> None:
    generator = np.random.default_rng(4)
    first = generator.integers(0, 2, 60)
    second = np.where(generator.random(60) < 0.2, 1 - first, first)
    once = clustered_kappa(first, second, range(60))
    copied = clustered_kappa(np.tile(first, 5), np.tile(second, 5), np.tile(range(60), 5))

    assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=1e-3)


def test_the_interval_does_not_depend_on_the_order_of_rows_or_on_the_names_of_clusters() -> None:
    generator = np.random.default_rng(4)
    first, second = generator.integers(0, 3, 90), generator.integers(0, 3, 90)
    clusters = np.repeat(np.arange(30), 3)
    order = generator.permutation(90)
    renamed = generator.permutation(30)

    plain = clustered_kappa(first, second, clusters, weighting="quadratic", case_weights=np.full(90, 1 / 3))
    other = clustered_kappa(
        first[order], second[order], renamed[clusters[order]], weighting="quadratic", case_weights=np.full(90, 1 / 3)
    )

    assert plain == other
    assert plain.low < plain.value < plain.high


def test_one_cluster_has_a_value_but_no_interval() -> None:
    estimate = clustered_kappa([0, 1, 1], [0, 1, 0], [5, 5, 5])

    assert estimate.value == pytest.approx(0.4)
    assert (estimate.low, estimate.high, estimate.method) == (None, None, "")


def test_no_pairs_are_no_estimate() -> None:
    assert clustered_kappa([], [], []).flags == ("empty",)


def test_labels_that_are_missing_must_be_left_out() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        cohen_kappa([0, -1], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        cohen_kappa([0, 1], [0])


def test_the_interval_covers_the_kappa_of_the_population() -> None:
    """40 items, three trials each, labels flipped with probability 0.1 that varies between items: kappa is 0.8."""
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        reference = generator.integers(0, 2, 40)
        flips = generator.random((40, 3)) < generator.beta(0.4, 3.6, 40)[:, None]
        first = np.where(flips, 1 - reference[:, None], reference[:, None]).ravel()
        estimate = clustered_kappa(first, np.repeat(reference, 3), np.repeat(np.arange(40), 3))
        covered += estimate.low <= 0.8 <= estimate.high

    assert covered / 300 >= 0.92


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40))
def test_quadratic_kappa_is_the_concordance_correlation(pairs: list[tuple[int, int]]) -> None:
    """Lin (1989): 2 s_xy / (s_x^2 + s_y^2 + (mean x - mean y)^2), moments with divisor n."""
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    below = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    found = cohen_kappa(first.astype(int), second.astype(int), weighting="quadratic").value
    assert found == (None if below == 0 else pytest.approx(2 * np.cov(first, second, ddof=0)[0, 1] / below))


@pytest.mark.parametrize(
    ("items", "error", "rare", "labels"), [(60, 0.1, 0.2, 2), (60, 0.02, 0.5, 2), (200, 0.1, 0.2, 3)]
)
def test_intervals_of_kappa_with_gold_cover(items: int, error: float, rare: float, labels: int) -> None:
    draws = np.random.default_rng(items)
    shares = [rare, *[(1 - rare) / (labels - 1)] * (labels - 1)]

    def study(n: int) -> tuple[np.ndarray, np.ndarray]:
        gold = draws.choice(labels, n, p=shares)
        return np.where(draws.random(n) < error, (gold + draws.integers(1, labels, n)) % labels, gold), gold

    truth = clustered_kappa(*study(400_000), np.arange(400_000)).value
    covered = 0
    for _ in range(1000):
        found = clustered_kappa(*study(items), np.arange(items))
        covered += found.low - 1e-9 <= truth <= found.high + 1e-9
    assert 930 <= covered <= 990


@pytest.mark.parametrize("table", [[[14, 6], [9, 11]], [[20, 3], [4, 13]], [[33, 2], [1, 4]], [[5, 5], [5, 5]]])
def test_the_test_of_random_pairing_is_fishers_exact_one_for_two_labels(table: list[list[int]]) -> None:
    first, second = _rows(table)
    exact = fisher_exact(table).pvalue
    found = kappa_test(first, second, np.arange(len(first)))
    # Fisher's counts tables that are no more probable, this one those at least as far from the mean.
    assert found.p == pytest.approx(exact, abs=max(0.5 * exact, 1e-3))
    assert (found.clusters, found.method) == (len(first), "permutation")


def test_copies_in_clusters_are_no_further_evidence() -> None:
    draws = np.random.default_rng(6)
    first, second = draws.integers(0, 3, 40), draws.integers(0, 3, 40)
    alone = kappa_test(first, second, np.arange(40), weighting="quadratic").p
    copied = kappa_test(*(np.repeat(part, 5) for part in (first, second, np.arange(40))), weighting="quadratic").p
    assert alone == copied


def test_what_differs_inside_clusters_is_left_to_the_interval_and_no_pair_is_empty() -> None:
    both = np.tile([0, 1], 20)
    assert kappa_test(both, both, np.arange(40) // 2).p is None
    assert kappa_test(both, both, np.arange(40)).p == pytest.approx(1 / 20_000)
    assert kappa_test([], [], []).flags == ("empty",)


def test_random_pairs_are_rejected_at_the_level_and_a_good_judge_with_wild_errors_always() -> None:
    """As `tests/studies/headline.py`. Of 200 studies at 5%, more than 20 rejections have a probability of 0.001."""
    draws, rejected = np.random.default_rng(9), [0, 0]
    for _ in range(200):
        gold, other = draws.choice(5, (2, 30), p=[0.05, 0.2, 0.5, 0.2, 0.05])
        good = np.where(draws.random(30) < 0.9, gold, draws.integers(0, 5, 30))
        for place, verdicts in enumerate((other, good)):
            test = kappa_test(verdicts, gold, np.arange(30), weighting="quadratic", draws=99)
            rejected[place] += test.p <= 0.05
    assert rejected[0] <= 20
    assert rejected[1] >= 190
