"""The power of a design, against statsmodels and against studies that are drawn and tested."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import (
    change_power,
    excess_permutation_test,
    excess_power,
    items_for_excess_power,
    smallest_change,
)
from numpy.typing import NDArray
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.power import TTestPower

Draws = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def drawn(studies: int, items: int, *, up: float, down: float, noise: float, askings: tuple[int, int]) -> Draws:
    """Draw which askings are right: a settled verdict that turns right on `up` of the items, and wrong on `down`."""
    generator = np.random.default_rng(items)
    flips = (1 - (1 - 2 * noise) ** 0.5) / 2
    kind = generator.random((studies, items))
    before = (kind >= up) & ((kind < up + down) | (generator.random((studies, items)) < 0.5))
    after = np.where(kind < up, True, np.where(kind < up + down, False, before))
    shape = (studies, items)
    first = (generator.random((*shape, askings[0])) < flips) ^ before[..., None]
    second = (generator.random((*shape, askings[1])) < flips) ^ after[..., None]
    return first, second


def test_without_noise_a_change_has_the_power_of_the_paired_t_test() -> None:
    sd = (0.2 - 0.1**2) ** 0.5
    known = TTestPower().power(effect_size=0.1 / sd, nobs=120, alpha=0.05)
    assert change_power(0.1, 120, discordant=0.2, noise=0.0) == pytest.approx(known)


@pytest.mark.parametrize(
    ("items", "noise", "askings", "tests"),
    [(60, 0.0, (2, 1), 1), (60, 0.1, (2, 1), 6), (120, 0.2, (2, 2), 1), (120, 0.1, (5, 1), 12)],
)
def test_the_stated_power_to_find_a_change_is_the_measured_one(
    items: int, noise: float, askings: tuple[int, int], tests: int
) -> None:
    alpha = 0.05 / tests
    smallest = smallest_change(
        items, discordant=0.2, noise=noise, reference=askings[0], askings=askings[1], alpha=alpha
    )
    assert smallest is not None
    stays = (1 - 2 * noise) ** 0.5
    settled = smallest / stays  # noise shrinks what is seen of a change of settled verdicts
    discordant = max(0.2, settled)
    up, down = (discordant + settled) / 2, (discordant - settled) / 2
    first, second = drawn(2000, items, up=up, down=down, noise=noise, askings=askings)
    differences = second.mean(axis=2) - first.mean(axis=2)
    measured = (ttest_1samp(differences, 0, axis=1).pvalue < alpha).mean()
    assert measured == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    ("items", "moved", "noise", "tests"),
    [(60, 0.1, 0.1, 1), (60, 0.1, 0.1, 6), (60, 0.05, 0.0, 6), (200, 0.1, 0.2, 12)],
)
def test_the_stated_power_to_see_a_move_with_two_and_one_askings_is_exact(
    items: int, moved: float, noise: float, tests: int
) -> None:
    """Of three answers that are not all equal, the odd one falls to the test with the probability 1/3."""
    first, second = drawn(4000, items, up=moved / 2, down=moved / 2, noise=noise, askings=(2, 1))
    differ = first[..., 0] != first[..., 1]
    odd = ~differ & (first[..., 0] != second[..., 0])
    p = binom.sf(odd.sum(axis=1) - 1, (differ | odd).sum(axis=1), 1 / 3)
    stated = excess_power(moved, items, noise=noise, alpha=0.05 / tests)
    assert stated == pytest.approx((p <= 0.05 / tests).mean(), abs=0.05)


@pytest.mark.parametrize(
    ("items", "moved", "noise", "askings"), [(40, 0.1, 0.1, (5, 5)), (60, 0.1, 0.1, (3, 1)), (40, 0.15, 0.05, (2, 2))]
)
def test_the_stated_power_to_see_a_move_is_that_of_the_permutation_test(
    items: int, moved: float, noise: float, askings: tuple[int, int]
) -> None:
    studies = 200
    first, second = drawn(studies, items, up=moved / 2, down=moved / 2, noise=noise, askings=askings)
    sides = [np.stack([(~part).sum(axis=2), part.sum(axis=2)], axis=2) for part in (first, second)]
    tables = np.stack(sides, axis=2)
    found = [excess_permutation_test(table, resamples=400, seed=place).p for place, table in enumerate(tables)]
    measured = np.mean([p is not None and p <= 0.05 for p in found])
    stated = excess_power(moved, items, noise=noise, reference=askings[0], askings=askings[1])
    # 0.05, and three standard errors of 200 studies.
    assert stated == pytest.approx(measured, abs=0.05 + 3 * (stated * (1 - stated) / studies) ** 0.5)


def test_the_items_that_are_advised_have_the_power() -> None:
    needed = items_for_excess_power(0.1, noise=0.1, alpha=0.01)
    assert needed is not None
    assert excess_power(0.1, needed, noise=0.1, alpha=0.01) >= 0.8
    assert excess_power(0.1, int(needed * 0.9), noise=0.1, alpha=0.01) < 0.8
    assert items_for_excess_power(0.001, noise=0.5, most=1000) is None


@pytest.mark.parametrize("askings", [(2, 1), (2, 2), (3, 2), (5, 5)])
def test_a_test_that_moves_nothing_is_found_no_more_often_than_its_error_rate(askings: tuple[int, int]) -> None:
    found = excess_power(0.0, 80, noise=0.1, reference=askings[0], askings=askings[1])
    assert found <= 0.05 + 3 * (0.05 * 0.95 / 4000) ** 0.5


def test_a_change_larger_than_any_is_not_detectable() -> None:
    assert smallest_change(2, discordant=0.2, noise=0.1) is None
    with pytest.raises(ValueError, match="differ with a probability"):
        change_power(0.1, 10, discordant=0.2, noise=0.6)
    with pytest.raises(ValueError, match="asked twice"):
        excess_power(0.1, 10, noise=0.1, reference=1)
