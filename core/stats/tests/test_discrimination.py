"""Area under the curve and tau-b of real-valued scores, against scikit-learn, scipy and the pairs one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jrh_stats import auc, score_tau_b
from scipy import stats
from sklearn.metrics import roc_auc_score

STUDIES = 300
CLUSTERS = 50


def _data(seed, n=60, ties=True):
    draw = np.random.default_rng(seed)
    right = draw.random(n) < 0.4
    scores = draw.normal(size=n) + right
    return (scores.round(0 if ties else 9), right, draw.integers(0, n // 3, n))


@pytest.mark.parametrize("ties", [True, False])
def test_the_area_is_that_of_others(ties):
    scores, right, clusters = _data(3, ties=ties)
    pairs = [(one > other) + (one == other) / 2 for one, other in product(scores[right], scores[~right])]
    found = auc(scores, right, clusters)

    assert found.value == pytest.approx(roc_auc_score(right, scores), abs=1e-12)
    assert found.value == pytest.approx(np.mean(pairs), abs=1e-12)


def test_tau_b_is_that_of_scipy_for_any_number_of_scores():
    draw = np.random.default_rng(5)
    levels = draw.integers(1, 7, 400)
    scores = (draw.normal(size=400) + levels / 3).round(2)
    found = score_tau_b(scores, levels, draw.integers(0, 90, 400))

    assert found.value == pytest.approx(stats.kendalltau(scores, levels).statistic, abs=1e-12)
    coarse = scores.round(0)
    theirs = stats.kendalltau(coarse, levels).statistic
    assert score_tau_b(coarse, levels, range(400)).value == pytest.approx(theirs, abs=1e-12)


def test_the_interval_rests_on_the_values_without_each_cluster():
    scores, right, clusters = _data(11)
    scores = scores * np.where(right, 4.0, 1.0)
    areas = [roc_auc_score(right[clusters != c], scores[clusters != c]) for c in np.unique(clusters)]
    found = auc(scores, right, clusters)

    def variance(area):
        """Write out the variance of Hanley and McNeil with the mean of both classes, 30."""
        spread = 1 + 29 * ((1 - area) / (2 - area) + area / (1 + area))
        return area * (1 - area) * spread / (right.sum() * (~right).sum())

    factor = max(np.var(areas) * (len(areas) - 1) / variance(found.value), 1.0)
    few = min(len(set(clusters[right])), len(set(clusters[~right])))
    assert factor > 1
    for end in (found.low, found.high):
        reach = stats.t.ppf(0.975, few - 1) * np.sqrt(factor * variance(end))
        assert abs(end - found.value) == pytest.approx(reach, abs=1e-7)

    tau = score_tau_b(scores, right, clusters)
    without = [stats.kendalltau(scores[clusters != c], right[clusters != c]).statistic for c in np.unique(clusters)]
    error = np.sqrt(np.var(np.arctanh(without)) * (len(areas) - 1))
    assert 1.95 < (np.arctanh(tau.high) - np.arctanh(tau.value)) / error < 2.4


def test_a_few_misordered_pairs_do_not_make_the_interval_as_wide_as_all_areas():
    """The widest interval of 200 studies with an area of 0.967 was [0, 1]; an area of 0.97 had [0.36, 1]."""
    studies, held, widest, truth = 200, 0, 0.0, stats.norm.cdf(2.6 / np.sqrt(2))
    right = np.arange(60) % 2 == 1
    for seed in range(studies):
        found = auc(np.random.default_rng([7, seed]).normal(size=60) + 2.6 * right, right, np.arange(60))
        held += found.low <= truth <= found.high
        widest = max(widest, found.high - found.low)
    assert widest < 0.25
    assert held / studies >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / studies)


def test_intervals_cover_the_truth_where_clusters_agree():
    """Three responses a cluster with a common part; normal scores: the area is Phi(shift / sqrt(2 (1 + common^2)))."""
    shift, common, held = 1.2, 0.8, 0
    truth = stats.norm.cdf(shift / np.sqrt(2 * (1 + common**2)))
    clusters = np.repeat(np.arange(CLUSTERS), 3)
    for seed in range(STUDIES):
        draw = np.random.default_rng((20, seed))
        right = draw.random(3 * CLUSTERS) < 0.4
        scores = draw.normal(size=3 * CLUSTERS) + shift * right + common * draw.normal(size=CLUSTERS)[clusters]
        found = auc(scores, right, clusters)
        held += found.low <= truth <= found.high
    # Pairs within a cluster share its part, so that the finite study's truth is a little higher: hence the lower end.
    assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / STUDIES) <= held / STUDIES <= 0.985


def test_scores_that_part_the_classes_have_an_interval():
    found = auc([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1], range(6))

    assert (found.value, found.high, found.method) == (1.0, 1.0, "newcombe-clusters")
    # (1 - t)^2 = q^2 V(t) with three scores of either class.
    low, q = found.low, stats.norm.ppf(0.975)
    assert (1 - low) ** 2 == pytest.approx(
        q**2 * low * (1 - low) * (1 + 2 * ((1 - low) / (2 - low) + low / (1 + low))) / 9
    )


def test_what_cannot_be_estimated_has_a_flag():
    assert auc([], [], []).flags == ("empty",)
    assert auc([1.0, 2.0], [1, 1], [0, 1]).flags == ("degenerate",)
    assert auc([1.0, 2.0], [0, 1], [0, 0]).flags == ("no-interval",)
    assert score_tau_b([], [], []).flags == ("empty",)
    assert score_tau_b([1.0, 1.0], [1, 2], [0, 1]).flags == ("degenerate",)
    for bad in ([np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="finite"):
            auc(bad, [0, 1], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        score_tau_b([1.0], [1, 2], [0, 1])
