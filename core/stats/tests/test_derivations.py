"""Our own derivations (docs/derivations.md) against the naive alternative, in simulations with known truth."""

import numpy as np
from jrh_stats import clustered_kappa, ratio_variance, wilson
from jrh_stats.degrees import design_degrees
from jrh_stats.proportion import effective_score_interval

STUDIES = 1000
SLACK = 3 * (0.05 * 0.95 / STUDIES) ** 0.5


def design_interval(right, asked, degrees=None):
    """Wilson's interval with the effective number of trials, with the degrees of the design or with others."""
    value = right.sum() / asked.sum()
    variance = ratio_variance(right, asked)
    deviations = (right - value * asked) * len(right) / asked.sum()
    own = design_degrees(deviations, value) if degrees is None else degrees
    return effective_score_interval(value, variance, own, 0.95)


def test_the_degrees_of_a_design_cover_where_few_clusters_decide_and_clusters_less_one_do_not():
    """Forty clusters of twenty trials; one in ten is hard."""
    generator = np.random.default_rng(14)
    truth = 0.9 * 0.95 + 0.1 * 0.3
    ours, naive = [], []
    for _ in range(STUDIES):
        chance = np.where(generator.random(40) < 0.1, 0.3, 0.95)
        right = generator.binomial(20, chance).astype(float)
        if len(set(right)) == 1:
            continue
        asked = np.full(40, 20.0)
        for kept, degrees in ((ours, None), (naive, 39.0)):
            low, high = design_interval(right, asked, degrees)
            kept.append(low <= truth <= high)
    assert 0.93 - SLACK <= np.mean(ours) <= 0.97 + SLACK
    assert np.mean(naive) < np.mean(ours) - 0.01


def test_one_trial_per_cluster_has_wilsons_interval_whatever_its_rarity():
    """The design effect of yes-or-no clusters is 1 and known: no degrees of freedom are lost to a rare outcome."""
    for events in (1, 3, 20):
        right = np.repeat([0.0, 1.0], [100 - events, events])
        low, high = design_interval(right, np.ones(100))
        expected = wilson(events, 100)
        # The closed form has the factor K / (K - 1), which Wilson's does not.
        assert abs(low - float(expected[0])) < 0.003
        assert abs(high - float(expected[1])) < 0.003


def test_wilson_of_half_of_one_less_kappa_covers_and_the_symmetric_interval_does_not():
    """Two raters, each wrong on 5% of 60 items of two labels: 0.905 agree, half of them by chance."""
    generator = np.random.default_rng(15)
    truth = 2 * (0.95**2 + 0.05**2) - 1
    ours, naive = [], []
    for _ in range(STUDIES):
        right = generator.integers(0, 2, 60)
        first, second = (np.where(generator.random(60) < 0.05, 1 - right, right) for _ in range(2))
        found = clustered_kappa(first, second, np.arange(60))
        if found.value is None:
            continue
        ours.append(found.low <= truth <= found.high)
        table = np.eye(4)[2 * first + second]
        without = kappa(table.sum(axis=0) - table)
        error = (59 / 60 * np.square(without - without.mean()).sum()) ** 0.5
        naive.append(abs(found.value - truth) <= 1.96 * error)
    assert 0.93 - SLACK <= np.mean(ours) <= 0.98 + SLACK
    assert np.mean(naive) < 0.93


def kappa(totals):
    n = totals.sum(axis=1)
    agreed = (totals[:, 0] + totals[:, 3]) / n
    first, second = (totals[:, 2] + totals[:, 3]) / n, (totals[:, 1] + totals[:, 3]) / n
    chance = first * second + (1 - first) * (1 - second)
    return (agreed - chance) / (1 - chance)
