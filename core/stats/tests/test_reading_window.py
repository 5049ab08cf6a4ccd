"""The reading window: against a loop over all windows, in worlds with a known end, and without one."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import reading_window

pytestmark = pytest.mark.inside
LENGTHS = np.repeat([1_000, 4_000, 16_000], 5)
PLACES = LENGTHS * np.tile([0, 0.25, 0.5, 0.75, 1.0], 3)
STUDIES = 200


def most_claims(studies: int) -> int:
    """Count the false claims that so many studies exceed once in a thousand times, at a true rate of 5%."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, studies, 0.05))


"""False alarms that 200 studies of a test at 5% exceed once in a thousand."""


def study(seed, rate, items=30, spread=1.0, resamples=99):
    draws = np.random.default_rng([seed, 5])
    logit = np.log(rate / (1 - rate)) + draws.normal(0, spread, items)[:, None]
    followed = draws.random(logit.shape) < 1 / (1 + np.exp(-logit))
    return reading_window(followed, np.ones(followed.shape), PLACES, LENGTHS, resamples=resamples, seed=seed)


def claims(rate, studies=STUDIES, **how):
    found = [study(seed, rate, **how) for seed in range(studies)]
    return [each for each in found if each.p < 0.05 and each.inside - each.outside >= 0.2]


@pytest.mark.parametrize(
    "rate",
    [np.full(15, 0.9), np.full(15, 0.5), np.where(LENGTHS == 1_000, 0.95, np.where(LENGTHS == 4_000, 0.7, 0.4))],
    ids=["reads all", "half", "worse with length"],
)
def test_a_rater_that_follows_alike_at_all_positions_is_acquitted(rate):
    assert len(claims(rate)) <= most_claims(STUDIES)


@pytest.mark.parametrize(
    ("read", "ends"),
    [
        (PLACES <= 6_000, (True, False)),
        (LENGTHS - PLACES <= 6_000, (False, True)),
        ((PLACES <= 6_000) | (LENGTHS - PLACES <= 2_000), (True, True)),
    ],
    ids=["first", "last", "both ends"],
)
def test_what_is_read_is_found_with_its_ends(read, ends):
    found = claims(np.where(read, 0.9, 0.05), 40)
    assert len(found) == 40
    assert sum((each.head is not None, each.tail is not None) == ends for each in found) >= 36
    if ends[0]:
        assert sum(each.head is not None and each.head.low <= 6_000 <= each.head.high for each in found) >= 36


def test_the_contrast_agrees_with_a_loop_over_all_windows():
    draws = np.random.default_rng(3)
    top = draws.integers(0, 2, (12, 15)).astype(float)
    top[:, 4] = top[:, 14] = 0
    bottom = np.ones((12, 15))
    bottom[3, 7] = top[3, 7] = 0
    best = -np.inf
    heads = [-1.0, *sorted(set(PLACES))]
    tails = [-1.0, *sorted(set(LENGTHS - PLACES))]
    for head in heads:
        for tail in tails:
            read = (head >= PLACES) | (tail >= LENGTHS - PLACES)
            if read.all() or not read.any():
                continue
            excess = variance = 0.0
            for length in set(LENGTHS):
                own = length == LENGTHS
                x, n = top[:, own & read].sum(), bottom[:, own & read].sum()
                whole, number = top[:, own].sum(), bottom[:, own].sum()
                excess += x - n * whole / number
                variance += n * (number - n) / number
            if variance > 0:
                best = max(best, excess / np.sqrt(variance))
    from jrh_stats.reading_windows import _candidates, _scores

    windows = _candidates(PLACES, LENGTHS, np.unique(PLACES), np.unique(LENGTHS - PLACES))
    strata = np.unique(LENGTHS, return_inverse=True)[1]
    scores = _scores(windows.within, top.sum(axis=0)[None], bottom.sum(axis=0)[None], strata)
    assert scores.max() == pytest.approx(best)


def test_one_position_per_length_says_nothing():
    assert reading_window([[1, 0]], [[1, 1]], [0, 0], [10, 20]) is None


def test_the_order_of_clusters_does_not_matter_for_what_is_estimated():
    draws = np.random.default_rng(4)
    top = (draws.random((20, 15)) < np.where(PLACES <= 3_000, 0.9, 0.2)).astype(float)
    one, other = (reading_window(each, np.ones((20, 15)), PLACES, LENGTHS, resamples=50) for each in (top, top[::-1]))
    assert (one.head.value, one.inside, one.outside) == (other.head.value, other.inside, other.outside)
