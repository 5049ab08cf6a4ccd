"""One-sided limits against scipy, exact enumeration and simulated clusters."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import (
    binomial_limits,
    clustered_proportion,
    fewest_right,
    items_for_threshold,
    share_difference_limits,
    threshold_items,
    threshold_power,
    wilson,
)
from scipy.stats import binom, binomtest, multinomial

ALPHA = 0.025


@pytest.mark.parametrize(("right", "n"), [(0, 20), (1, 20), (10, 20), (57, 60), (200, 200)])
def test_binomial_limits_are_those_of_scipys_exact_interval(right: int, n: int) -> None:
    known = binomtest(right, n).proportion_ci(0.95, method="exact")
    assert binomial_limits(right, n) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("n", [30, 60, 200])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.9, 0.95])
def test_either_limit_of_single_askings_errs_at_most_at_its_rate_by_enumeration(n: int, rate: float) -> None:
    chance = binom.pmf(np.arange(n + 1), n, rate)
    held = failed = 0.0
    for right in range(n + 1):
        found = clustered_proportion((np.arange(n) < right).astype(float), np.ones(n))
        assert found.low is not None
        assert found.high is not None
        held += chance[right] * (found.low >= rate)
        failed += chance[right] * (found.high < rate)
    assert held <= ALPHA
    assert failed <= ALPHA


def test_wilsons_interval_errs_three_times_as_often_on_one_side() -> None:
    """Why the limits exist: 28 of 30 at 95%."""
    n, rate = 30, 0.95
    chance = binom.pmf(np.arange(n + 1), n, rate)
    failed = chance @ (wilson(np.arange(n + 1), n)[1] < rate)
    assert failed > 2 * ALPHA


@pytest.mark.parametrize("items", [30, 60, 200])
@pytest.mark.parametrize(("size", "repeats"), [(1, 3), (5, 1), (5, 3)])
@pytest.mark.parametrize("rate", [0.8, 0.95])
def test_either_limit_of_clusters_errs_at_most_at_its_rate(items: int, size: int, repeats: int, rate: float) -> None:
    """Beta-binomial clusters with an intraclass correlation of one half; 600 studies."""
    generator = np.random.default_rng(items * size + repeats)
    studies, clusters = 600, items // size
    share = generator.beta(rate, 1 - rate, (studies, clusters))
    right = generator.binomial(repeats if size == 1 else size, share) * (1 if size == 1 else repeats)
    sizes = np.full(clusters, float(size * repeats))
    found = [clustered_proportion(row.astype(float), sizes) for row in right]
    # Three standard errors above 2.5% of 600.
    most = 15 + 3 * (600 * ALPHA * (1 - ALPHA)) ** 0.5
    assert sum(each.low is not None and each.low > rate for each in found) <= most
    assert sum(each.high is not None and each.high < rate for each in found) <= most


def test_one_large_cluster_that_deviates_leaves_nearly_anything_possible_and_is_flagged() -> None:
    """40 of 41 clusters are single and right; the last one, of ten trials, is wrong."""
    found = clustered_proportion([*np.ones(40), 0.0], [*np.ones(40), 10.0])
    assert found.method == "korn-graubard"
    assert found.low < 0.02
    assert found.high > 0.99
    assert found.flags == ("few-events",)
    even = clustered_proportion([*np.ones(40), 0.0], np.ones(41) * 1.0)
    assert (even.method, even.flags) == ("clopper-pearson", ())


@pytest.mark.parametrize("clusters", [6, 20, 60])
@pytest.mark.parametrize("wrong", [1, 2, 4])
def test_one_deviating_cluster_never_says_more_than_none(clusters: int, wrong: int) -> None:
    """Once, 0 wrong rows of 60 in 6 groups gave [.61, 1], and 1 wrong row [.91, >.99]."""
    sizes = np.full(clusters, 10.0)
    none = clustered_proportion(sizes, sizes)
    some = sizes.copy()
    some[:wrong] -= 1
    right, left = clustered_proportion(some, sizes), clustered_proportion(sizes - some, sizes)
    assert none.low == pytest.approx(ALPHA ** (1 / clusters))
    assert right.low <= none.low
    assert left.high == pytest.approx(1 - right.low)
    assert clustered_proportion(sizes - 0.2 * (np.arange(clusters) < 5), sizes).low > none.low


def test_no_cluster_has_no_limits() -> None:
    assert clustered_proportion([], []).flags == ("empty",)
    with pytest.raises(ValueError, match="have no limits"):
        binomial_limits(3, 2)


@pytest.mark.parametrize(("threshold", "items"), [(0.98, 183), (0.9, 36), (0.95, 72), (0.5, 6)])
def test_the_items_that_can_show_a_threshold_are_the_fewest(threshold: float, items: int) -> None:
    assert threshold_items(threshold) == items
    assert fewest_right(threshold, items) == items
    assert fewest_right(threshold, items - 1) is None
    assert binomial_limits(items, items)[0] >= threshold > binomial_limits(items - 1, items - 1)[0]


@pytest.mark.parametrize(("rate", "threshold"), [(0.95, 0.9), (0.85, 0.8), (0.75, 0.8), (0.985, 0.97), (0.5, 0.6)])
def test_the_items_for_a_threshold_have_the_power(rate: float, threshold: float) -> None:
    needed = items_for_threshold(rate, threshold)
    # On the other side of a threshold the wrong ones are counted. Power moves up and down with the whole numbers.
    shares = (rate, threshold) if rate > threshold else (1 - rate, 1 - threshold)
    around = [threshold_power(*shares, n) for n in range(needed - needed // 20, needed + needed // 20)]
    assert 0.75 <= np.mean(around) <= 0.9
    with pytest.raises(ValueError, match="differ"):
        items_for_threshold(rate, rate)


@pytest.mark.parametrize(("rate", "threshold", "n"), [(0.95, 0.9, 60), (0.99, 0.95, 200), (0.7, 0.5, 40)])
def test_the_power_to_reach_a_threshold_is_that_of_the_enumeration(rate: float, threshold: float, n: int) -> None:
    count = np.arange(n + 1)
    reaches = np.array([binomial_limits(right, n)[0] >= threshold for right in count])
    assert threshold_power(rate, threshold, n) == pytest.approx(binom.pmf(count, n, rate) @ reaches)
    assert threshold_power(rate, threshold, 5) == (0.0 if threshold_items(threshold) > 5 else pytest.approx(0.0))


@pytest.mark.parametrize(("n", "share"), [(20, 0.0), (40, 0.05), (60, 0.3), (60, 1.0)])
def test_each_limit_of_a_difference_of_shares_errs_as_seldom_as_it_says(n: int, share: float) -> None:
    """All samples of n trials that count for, against or neither, with their multinomial probabilities."""
    against = (1 - share) / 3
    chances = (share, against, 1 - share - against)
    low = high = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            chance = multinomial.pmf((first, second, n - first - second), n, chances)
            if chance > 1e-12:
                ones = [np.arange(n) < first, (np.arange(n) >= first) & (np.arange(n) < first + second)]
                found = share_difference_limits(*ones, np.ones(n), level=0.96)
                assert found.value == pytest.approx((first - second) / n)
                low += chance * (found.low > share - against + 1e-12)
                high += chance * (found.high < share - against - 1e-12)
    assert low <= 0.02
    assert high <= 0.02
