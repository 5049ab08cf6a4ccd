"""The calibration error near 0: moments against scipy, intervals against judges of known calibration."""

import numpy as np
import pytest
from jrh_stats import expected_calibration_error, plain_calibration_error
from jrh_stats.calibration import _absolute_moments, _below, _Bins
from scipy.stats import binom

STATED = np.array([0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
SHARES = np.array([0.05, 0.05, 0.1, 0.2, 0.4, 0.2])
"""What judges that are large language models say: mostly 90% and more."""
STUDIES = 400
SLACK = 3 * (0.05 * 0.95 / STUDIES) ** 0.5


def judge(generator, items, shift, repeats=1):
    """Draw stated probabilities and answers; the truth is `shift` logits away from what is stated."""
    stated = generator.choice(STATED, items, p=SHARES)
    right = (generator.random(items) < moved(stated, shift)).astype(float)
    return np.repeat(stated, repeats), np.repeat(right, repeats), np.repeat(np.arange(items), repeats)


def moved(stated, shift):
    return 1 / (1 + (1 - stated) / stated * np.exp(-shift))


def true_error(shift):
    place = np.ceil(np.round(STATED * 10, 9)).astype(int)
    return np.abs(np.bincount(place, weights=SHARES * (moved(STATED, shift) - STATED))).sum()


@pytest.mark.parametrize(
    ("n", "p", "centre"), [(50, 0.98, 49.1), (50, 0.98, 50.0), (7, 0.3, 0.0), (200, 0.6, 110.3), (1, 0.4, 0.7)]
)
def test_the_moments_of_a_folded_binomial_are_those_of_its_probabilities(n, p, centre):
    apart, weight = np.abs(np.arange(n + 1) - centre), binom.pmf(np.arange(n + 1), n, p)
    mean = weight @ apart
    expected = [mean, weight @ (apart - mean) ** 2, weight @ (apart - mean) ** 3]
    found = [float(part[0]) for part in _absolute_moments(np.array([float(n)]), np.array([p]), np.array([centre]))]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("right", [0.90, 0.93, 0.97])
def test_the_chance_of_a_smaller_error_is_that_of_drawn_answers(right):
    trials, stated = np.array([30.0, 60.0, 110.0]), np.array([0.7, 0.85, 0.94])
    bins = _Bins(share=trials / 200, stated=stated, right=stated - 0.03, trials=trials, n=200, clusters=200, same=False)
    pi = np.array([0.7, 0.85, right])
    drawn = np.random.default_rng(0).binomial(trials.astype(int), pi, (200_000, 3))
    errors = np.abs(drawn / trials - stated) @ bins.share
    chance = (errors < bins.error - 1e-9).mean() + 0.5 * (np.abs(errors - bins.error) <= 1e-9).mean()
    assert float(_below(bins, pi[None])[0]) == pytest.approx(chance, abs=0.015)


@pytest.mark.parametrize(
    ("items", "shift", "repeats"),
    [(50, 0.0, 1), (200, 0.0, 1), (200, -0.3, 1), (200, -1.0, 1), (200, 0.3, 1), (60, 0.0, 3), (60, -1.0, 3)],
)
def test_the_interval_covers_near_perfect_calibration(items, shift, repeats):
    """The interval of before covered 86 to 94% here. At 0 itself only the lower end can be wrong: 97.5%."""
    generator, truth, covered = np.random.default_rng(14), true_error(shift), []
    for _ in range(STUDIES):
        found = expected_calibration_error(*judge(generator, items, shift, repeats))
        covered.append(found.low - 1e-12 <= truth <= found.high)
    assert 0.93 - SLACK <= np.mean(covered) <= (0.975 if shift == 0 else 0.97) + SLACK


def test_the_plain_error_of_a_calibrated_judge_is_far_from_0_and_the_estimate_is_not():
    generator, plain, found = np.random.default_rng(15), [], []
    for _ in range(200):
        stated, right, items = judge(generator, 200, 0.0)
        plain.append(plain_calibration_error(stated, right))
        found.append(expected_calibration_error(stated, right, items).value)
    assert np.median(plain) > 0.03
    assert np.median(found) < np.median(plain) / 2


def test_copies_of_an_item_count_once():
    generator = np.random.default_rng(17)
    stated, right, items = judge(generator, 80, -0.5)
    alone = expected_calibration_error(stated, right, items)
    copied = expected_calibration_error(np.repeat(stated, 4), np.repeat(right, 4), np.repeat(items, 4))
    ignored = expected_calibration_error(np.repeat(stated, 4), np.repeat(right, 4), np.arange(320))
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=0.02)
    assert copied.high - copied.low > 1.5 * (ignored.high - ignored.low)


def test_what_cannot_be_estimated_says_so():
    assert expected_calibration_error([], [], []).flags == ("empty",)
    assert expected_calibration_error([0.5, 0.6], [1, 0], [1, 1]).low is None
    assert plain_calibration_error([], []) is None
