import numpy as np
import pytest
from jrh_stats import (
    binomial_limits,
    design_effect,
    items_for_proportion,
    items_to_decide,
    paired_power,
    smallest_detectable_difference,
)
from scipy import stats
from scipy.special import nctdtr, stdtrit
from statsmodels.stats.power import NormalIndPower, TTestPower


@pytest.mark.parametrize("items", [5, 40, 500])
def test_power_and_smallest_difference_equal_statsmodels(items: int) -> None:
    theirs = TTestPower()

    assert paired_power(0.15, 0.5, items) == pytest.approx(theirs.power(0.3, items, 0.05))
    assert smallest_detectable_difference(0.5, items, power=0.9) == pytest.approx(
        0.5 * theirs.solve_power(nobs=items, alpha=0.05, power=0.9), rel=1e-5
    )


def test_a_wished_precision_is_reached_with_these_items_and_not_with_one_less() -> None:
    n = items_for_proportion(0.05, 0.8)
    (low, high), (wider_low, wider_high) = (binomial_limits(0.8 * k, k) for k in (n, n - 1))

    assert high - low <= 0.1 < wider_high - wider_low


def test_dependent_trials_need_more_items_than_independent_ones() -> None:
    alone = items_for_proportion(0.05)

    assert items_for_proportion(0.05, trials_per_item=5, icc=0.0) == -(-alone // 5)
    assert items_for_proportion(0.05, trials_per_item=5, icc=1.0) == alone
    assert design_effect(5, 0.5) == 3.0


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="precision"):
        items_for_proportion(0.0)
    with pytest.raises(ValueError, match="thousand million"):
        items_for_proportion(1e-6)


def test_items_to_decide_reach_the_power_they_are_planned_for() -> None:
    sd, items = 0.5, 40
    degrees = 2 * items * sd**2
    half_width = stats.t.ppf(0.975, degrees) * sd / np.sqrt(items)
    for comparisons in (1, 5):
        # The two-sided z-test, which statsmodels' normal power solves.
        need = NormalIndPower(ddof=0).solve_power(0.1 / sd, alpha=0.05 / comparisons, power=0.8, ratio=0)
        ends = items_to_decide(items, half_width, 0.1, comparisons=comparisons, span=1.0)
        wished = [need * degrees / stats.chi2.isf(tail, degrees) for tail in (0.1, 0.9)]
        assert ends == pytest.approx(wished, rel=0.1)
        assert ends[0] < need < ends[1]


def test_the_advised_items_decide_in_four_of_five_runs_and_their_range_holds_the_need() -> None:
    """Of 400 pilots of 60 items; 0.75 to 0.9 was fixed beforehand; by the observed effect 80% were 140 to 560."""
    rng, change, sd = np.random.default_rng(4), 0.1, np.sqrt(0.19)
    need = ((1.96 + 0.8416) * sd / change) ** 2
    power, held = [], []
    for _ in range(400):
        pilot = rng.choice([1, -1, 0], size=60, p=[0.125, 0.075, 0.8])
        half = stats.t.ppf(0.975, 2 * 60 * pilot.var()) * pilot.std() / np.sqrt(60)
        low, high = items_to_decide(60, half, change, span=1.0)
        power.append(paired_power(change, sd, int(np.sqrt(low * high))))
        held.append(low <= need <= high)
    assert 0.75 <= np.mean(power) <= 0.9
    assert np.mean(held) >= 0.75


@pytest.mark.parametrize("wrong", [{"items": 0}, {"half_width": 0.0}, {"effect": 0.0}, {"power": 0.5}])
def test_items_to_decide_need_something_to_decide(wrong) -> None:
    with pytest.raises(ValueError, match="positive"):
        items_to_decide(**({"items": 10, "half_width": 0.1, "effect": 0.1} | wrong))


@pytest.mark.parametrize("items", [2, 3, 30, 1000, 1001, 1_000_000])
def test_power_is_that_of_the_noncentral_t_of_scipy_for_every_shift_and_alpha(items: int) -> None:
    for alpha in (0.2, 0.05, 0.0001):
        critical = stdtrit(items - 1, 1 - alpha / 2)
        for shift in (0.0, 0.3, 2.8, 9.0, 29.9, 31.0):
            below, above = np.nan_to_num(nctdtr(items - 1, shift, [-critical, critical]))
            ours = paired_power(shift / np.sqrt(items), 1.0, items, alpha=alpha)
            assert ours == pytest.approx(1 - above + below, abs=1e-9)
