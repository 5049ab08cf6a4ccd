"""Families of tests: against statsmodels, a graph of weights, closed testing by enumeration, and exact tests."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from jrh_stats import chained_holm, interval_p, wilson
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

RNG = np.random.default_rng(20261122)


def small_ps(size: int) -> np.ndarray:
    return np.minimum(1.0, RNG.random(size) ** 4 + 1e-6)


def test_chains_of_one_are_holms_procedure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gc.collect", lambda: 0)  # statsmodels collects garbage in every call, 30 ms each
    for size in RNG.integers(1, 20, 200):
        p = small_ps(size)
        theirs = multipletests(p, alpha=0.05, method="holm")[0]
        assert [bool(each) for each in chained_holm([[each] for each in p])] == theirs.tolist()


def graph(chains: list[np.ndarray], alpha: float) -> tuple[int, ...]:
    """Reject as Bretz et al. do: weights move along the chain, and from its end to all others in equal parts."""
    weight = [np.zeros(len(chain)) for chain in chains]
    for each in weight:
        each[0] = 1 / len(chains)
    done = [0] * len(chains)
    while True:
        hits = [
            number
            for number, chain in enumerate(chains)
            if done[number] < len(chain) and chain[done[number]] <= alpha * weight[number][done[number]] * (1 + 1e-12)
        ]
        if not hits:
            return tuple(done)
        number = hits[0]
        freed, done[number] = weight[number][done[number]], done[number] + 1
        if done[number] < len(chains[number]):
            weight[number][done[number]] = freed
            continue
        still = [other for other, chain in enumerate(chains) if done[other] < len(chain)]
        for other in still:
            weight[other][done[other]] += freed / len(still)


def test_chains_hand_their_level_on_as_a_graph_of_weights_does() -> None:
    for _ in range(300):
        chains = [small_ps(RNG.integers(1, 4)) for _ in range(RNG.integers(1, 7))]
        assert chained_holm(chains) == graph(chains, 0.05)


def closed(p: np.ndarray, least: np.ndarray, weight: np.ndarray, alpha: float) -> list[int]:
    """Reject what every intersection with it rejects by Tarone's weighted single step, the total searched on a grid."""

    def rejects(subset: tuple[int, ...]) -> bool:
        chosen = list(subset)
        grid = np.unique(np.concatenate([np.cumsum(np.sort(weight[chosen])), np.linspace(1e-3, weight.sum(), 4000)]))
        level = alpha * weight[chosen] / grid[:, None] * (1 + 1e-12)
        total = np.argmax((weight[chosen] * (least[chosen] <= level)).sum(axis=1) <= grid * (1 + 1e-12))
        return bool(((p[chosen] <= level[total]) & (least[chosen] <= level[total])).any())

    everyone = range(len(p))
    subsets = [subset for size in range(1, len(p) + 1) for subset in combinations(everyone, size)]
    rejected = {subset: rejects(subset) for subset in subsets}
    return [int(all(rejected[subset] for subset in subsets if one in subset)) for one in everyone]


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.25, 0.05]])
def test_tests_that_cannot_reach_the_level_are_not_counted(weights: list[float]) -> None:
    for _ in range(20):
        least = RNG.choice([0.2, 0.06, 0.03, 0.01, 1e-3, 1e-5], RNG.integers(1, 7))
        p, weight = np.maximum(least, small_ps(len(least))), RNG.choice(weights, len(least))
        found = chained_holm(*([[each] for each in column] for column in (p, least, weight)))
        assert list(found) == closed(p, least, weight, 0.05)
    # Nine tests in which at most three verdicts differ, one in which six do: only that one is tested.
    p, least = [0.03] + [0.25] * 9, [2.0**-5] + [0.25] * 9
    assert chained_holm([[each] for each in p], [[each] for each in least])[0] == 1
    assert chained_holm([[each] for each in p])[0] == 0


def test_weights_are_those_of_weighted_holm() -> None:
    """Holm (1979), weighted: the smallest p / w first, at alpha w over the weights that are left."""
    for _ in range(200):
        p, weight = small_ps(8), RNG.choice([1.0, 0.5, 0.1], 8)
        expected, left = [0] * 8, weight.sum()
        for one in np.argsort(p / weight):
            if p[one] > 0.05 * weight[one] / left:
                break
            expected[one], left = 1, left - weight[one]
        assert list(chained_holm([[each] for each in p], None, [[each] for each in weight])) == expected


def test_a_chain_that_is_left_at_a_small_weight_frees_the_rest_of_its_level() -> None:
    chains = [[0.001, 0.9], [0.04]]
    assert chained_holm(chains) == (1, 0), "0.04 is above 0.05 / 2"
    assert chained_holm(chains, None, [[1.0, 0.05], [1.0]]) == (1, 1), "0.04 is below 0.05 / 1.05"
    with pytest.raises(ValueError, match="not grow"):
        chained_holm(chains, None, [[0.5, 1.0], [1.0]])


def test_false_rejections_stay_within_the_level_under_dependence() -> None:
    """Twelve chains of three; half of their first hypotheses are false; statistics share a reference."""
    studies, false = 1000, 0
    for _ in range(studies):
        shared = RNG.standard_normal()
        z = np.sqrt(0.5) * shared + np.sqrt(0.5) * RNG.standard_normal((12, 3))
        z[:6, 0] += 4
        p = 2 * stats.norm.sf(np.abs(z))
        rejected = chained_holm(p.tolist(), None, [[1.0, 1.0, 0.05]] * 12)
        false += any(count > 1 for count in rejected[:6]) or any(rejected[6:])
    assert false / studies <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / studies)


def test_the_p_value_of_wilsons_interval_is_the_score_test() -> None:
    for hits, n, null in ((20, 20, 0.5), (3, 60, 0.2), (47, 60, 0.6), (0, 40, 0.03)):
        low, high = (float(end) for end in wilson(hits, n))
        theirs = proportions_ztest(hits, n, value=null, prop_var=null)[1]
        assert interval_p(hits / n, low, high, null, proportion=True) == pytest.approx(theirs, rel=1e-6)


def test_the_p_value_of_students_interval_is_the_t_test() -> None:
    x = RNG.standard_normal(9) + 0.8
    found = stats.ttest_1samp(x, 0.0)
    ends = found.confidence_interval(0.95)
    assert interval_p(x.mean(), ends.low, ends.high, 0.0, degrees=8) == pytest.approx(found.pvalue, rel=1e-6)


def test_interval_and_p_value_are_one_decision() -> None:
    for value, low, high, null in ((0.5, 0.1, 0.9, 0.1), (0.5, 0.1, 0.9, 0.0999), (0.2, 0.1, 0.4, 0.41)):
        for proportion in (False, True):
            outside = not low < null < high
            assert (interval_p(value, low, high, null, proportion=proportion) <= 0.05 + 1e-12) == outside
