"""Identical values: what the ends of intervals are then, and how often they cover where errors are rare."""

from collections.abc import Callable

import numpy as np
import pytest
from jrh_stats import (
    Estimate,
    clustered_kappa,
    clustered_mean,
    expected_calibration_error,
    krippendorff_alpha,
    mean_signed_error,
    pearson,
    scale_compression,
    spearman,
    wilson,
)

GOLD = np.array([1, 2, 2, 3, 3, 3, 4, 4, 5, 6] * 2, dtype=np.float64)
ITEMS = np.arange(20)
SHARE = float(wilson(0, 20)[1])
"""Of clusters unlike 20 identical ones."""

Association = Callable[..., Estimate]


def mean_absolute_error(verdicts: np.ndarray, truths: np.ndarray, items: np.ndarray) -> Estimate:
    assert len(items) == len(verdicts)
    return clustered_mean(np.abs(verdicts - truths), np.ones(len(items)), bounds=(0, 5))


def mean_squared_error(verdicts: np.ndarray, truths: np.ndarray, items: np.ndarray) -> Estimate:
    assert len(items) == len(verdicts)
    return clustered_mean(np.square(verdicts - truths), np.ones(len(items)), bounds=(0, 25), heavy_tailed=True)


def mean_error(verdicts: np.ndarray, truths: np.ndarray, items: np.ndarray) -> Estimate:
    errors = verdicts - truths
    return mean_signed_error(errors, np.abs(errors), np.ones(len(items)), span=5)


ASSOCIATIONS: list[Association] = [
    pearson,
    spearman,
    lambda v, g, i, **more: clustered_kappa(v.astype(int), g.astype(int), i, weighting="quadratic", **more),
]


def test_a_judge_that_is_always_right_has_no_more_bias_than_error() -> None:
    bias = mean_error(GOLD, GOLD, ITEMS)
    error = mean_absolute_error(GOLD, GOLD, ITEMS)

    assert (error.low, error.high) == (0.0, pytest.approx(5 * SHARE))
    assert (bias.low, bias.high) == (pytest.approx(-5 * SHARE), pytest.approx(5 * SHARE))


def test_a_judge_that_is_always_one_level_too_high_is_nowhere_taken_for_a_severe_one() -> None:
    gold = np.array([1, 2, 3, 4, 5] * 4)
    bias = mean_error(gold + 1, gold, ITEMS)

    assert (bias.value, bias.low) == (1.0, pytest.approx(1 - 6 * SHARE))
    assert bias.high == pytest.approx(1 + 4 * SHARE)


def test_the_mean_of_signed_errors_stays_within_that_of_their_sizes() -> None:
    draws = np.random.default_rng(3)
    for _ in range(200):
        errors = draws.choice([0, 0, 0, 1, 2, -1, -5], size=12).astype(float)
        bias = mean_signed_error(errors, np.abs(errors), np.ones(12), span=5)
        size = mean_absolute_error(errors, np.zeros(12), np.arange(12))
        assert -size.high <= bias.low <= bias.value <= bias.high <= size.high


@pytest.mark.parametrize("measure", ASSOCIATIONS)
def test_perfect_association_has_the_worst_that_unseen_items_could_make_of_it(measure: Association) -> None:
    """The lower end is attained: replacing that share of items by the farthest pairs gives it, and none gives less."""
    found = measure(GOLD, GOLD, ITEMS)
    share, rows = SHARE, 200_000
    seen = np.full(20, rows * (1 - share) / 20)
    reached = []
    for part in np.linspace(0, 1, 11):
        verdicts, truths = np.append(GOLD, [6.0, 1.0]), np.append(GOLD, [1.0, 6.0])
        times = np.rint(np.append(seen, rows * share * np.array([part, 1 - part]))).astype(int)
        reached.append(measure(*(np.repeat(side, times) for side in (verdicts, truths, np.arange(22)))).value)

    assert found.low == pytest.approx(min(reached), abs=1e-4)
    assert (found.value, found.high, found.method) == (pytest.approx(1.0), 1.0, "wilson-clusters")
    more = measure(np.tile(GOLD, 10), np.tile(GOLD, 10), np.arange(200))
    assert found.low < 0.6
    assert more.low > 0.8


def test_perfect_disagreement_leaves_room_upwards_and_not_everywhere() -> None:
    gold = np.array([1.0, 2, 3, 4, 5, 6] * 3)
    for measure in ASSOCIATIONS:
        found = measure(7 - gold, gold, np.arange(18))
        assert (found.value, found.low) == (pytest.approx(-1.0), pytest.approx(-1.0))
        assert found.high < 0


def test_alpha_of_three_raters_that_never_differ_ends_where_farthest_units_would_put_it() -> None:
    counts = np.zeros((20, 6))
    counts[ITEMS, GOLD.astype(int) - 1] = 3
    found = krippendorff_alpha(counts, np.arange(6), metric="interval")
    # 20 units with three ratings each; the unseen ones replace a share of the ratings, half lowest, half highest.
    margins = (1 - SHARE) * counts.sum(axis=0) / 60 + SHARE * np.array([0.5, 0, 0, 0, 0, 0.5])
    gaps = np.subtract.outer(np.arange(6), np.arange(6)) ** 2
    expected = margins @ gaps @ margins * 60 / 59

    assert found.low == pytest.approx(1 - SHARE * 25 / expected)


def test_a_judge_that_is_sure_and_right_every_time_has_a_calibration_error_with_an_upper_end() -> None:
    found = expected_calibration_error(np.ones(20), np.ones(20), ITEMS)

    assert (found.value, found.low, found.high) == (0.0, 0.0, pytest.approx(SHARE))


@pytest.mark.parametrize(
    ("items", "up", "steps"),
    [(20, 1.0, [1, 2, 3]), *(pytest.param(*how, marks=pytest.mark.study) for how in ((20, 0.5, [1]), (60, 1.0, [1])))],
)
def test_intervals_cover_where_two_verdicts_in_a_hundred_are_wrong(items: int, up: float, steps: list[int]) -> None:
    """1,000 studies each; in a third to two thirds of them every verdict is right."""
    draws = np.random.default_rng(items)

    def study(n: int) -> tuple[np.ndarray, np.ndarray]:
        gold = draws.choice(6, size=n, p=[0.1, 0.2, 0.25, 0.25, 0.15, 0.05])
        error = (draws.random(n) < 0.02) * draws.choice(steps, size=n) * np.where(draws.random(n) < up, 1, -1)
        return np.clip(gold + error, 0, 5).astype(float), gold.astype(float)

    measures: dict[str, Callable[..., Estimate]] = {
        "bias": mean_error,
        "error": mean_absolute_error,
        "square": mean_squared_error,
        "pearson": pearson,
        "spearman": spearman,
        "kappa": lambda v, g, i: clustered_kappa(v.astype(int), g.astype(int), i, weighting="quadratic"),
        "compression": scale_compression,
    }
    verdicts, gold = study(400_000)
    truth = {name: measure(verdicts, gold, np.arange(len(gold))).value for name, measure in measures.items()}
    covered = dict.fromkeys(measures, 0)
    for _ in range(1000):
        verdicts, gold = study(items)
        for name, measure in measures.items():
            found = measure(verdicts, gold, np.arange(items))
            covered[name] += found.low - 1e-9 <= truth[name] <= found.high + 1e-9

    assert min(covered.values()) >= 930, covered
