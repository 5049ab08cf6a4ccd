import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import clustered_mean, clustered_proportion
from jrh_stats.degrees import design_degrees, effective_degrees, few_events
from scipy.stats import kurtosis


def test_many_normal_deviations_have_nearly_as_many_degrees_as_items_less_one() -> None:
    generator = np.random.default_rng(0)

    found = [effective_degrees(generator.standard_normal(400)) for _ in range(200)]

    assert np.median(found) == pytest.approx(399, rel=0.1)
    assert max(found) <= 399


def test_the_variance_of_a_sample_variance_is_that_of_a_chi_squared_variable_with_these_degrees() -> None:
    generator = np.random.default_rng(1)
    samples = generator.exponential(size=(12_000, 30))
    spread = samples.var(axis=1, ddof=1)
    population = effective_degrees([0.0, 1.0, 2.0, 9.0], [40, 30, 20, 10])

    draws = generator.choice([0.0, 1.0, 2.0, 9.0], p=[0.4, 0.3, 0.2, 0.1], size=(12_000, 100)).var(axis=1, ddof=1)

    assert 2 * draws.mean() ** 2 / draws.var() == pytest.approx(population, rel=0.06)
    # Exponential: kurtosis 9.
    assert 2 * spread.mean() ** 2 / spread.var() == pytest.approx(2 * 30 / (9 - 27 / 29), rel=0.1)


def test_the_formula_with_the_kurtosis_of_scipy() -> None:
    values = np.array([0.0, 0.1, 0.0, 2.0, 0.3, 0.0, 0.2, 0.4])

    assert effective_degrees(values) == pytest.approx(2 * 8 / (kurtosis(values, fisher=False) - 5 / 7))


@pytest.mark.parametrize(("rare", "least", "most"), [(2, 3, 6), (5, 9, 13), (20, 38, 60)])
def test_a_rare_outcome_leaves_about_twice_as_many_degrees_as_items_have_it(rare, least, most) -> None:
    assert least < effective_degrees([1.0] * rare + [0.0] * (400 - rare)) < most


def test_few_items_with_an_outcome_are_flagged_and_several_are_not() -> None:
    # A share of single trials has an exact interval, however few differ.
    assert clustered_proportion([1] * 57 + [0] * 3, [1] * 60).flags == ()
    assert clustered_proportion([2] * 19 + [1], [2] * 20).flags == ("few-events",)
    assert clustered_mean([4.0] * 20, [4.0] * 20, bounds=(0, 1)).flags == ("few-events",)
    assert few_events(13.9, 100) == ("few-events",)
    assert few_events(14.0, 30) == ()
    assert few_events(28.0, 29) == ("few-events",)


def test_where_every_item_is_a_yes_or_no_the_design_effect_is_known() -> None:
    outcomes = np.array([1.0] * 5 + [0.0] * 55)

    assert design_degrees(outcomes - 5 / 60, 5 / 60) == pytest.approx(1e6, rel=0.05)
    assert effective_degrees(outcomes) < 14


def test_the_design_effect_varies_as_a_chi_squared_variable_with_these_degrees() -> None:
    """Items of four trials each, with a chance of their own: the design effect is estimated in 6,000 samples."""
    generator = np.random.default_rng(2)
    shares = generator.binomial(4, generator.beta(0.6, 2.4, (6_000, 400))) / 4
    centre = shares.mean(axis=1)
    effects = shares.var(axis=1, ddof=1) / (centre * (1 - centre))

    degrees = np.array([design_degrees(row - row.mean(), row.mean()) for row in shares[:500]])

    assert np.median(degrees) == pytest.approx(2 * effects.mean() ** 2 / effects.var(), rel=0.1)
    assert np.median(degrees) > 2 * np.median([effective_degrees(row) for row in shares[:500]])


@given(st.lists(st.integers(0, 4), min_size=3, max_size=30))
def test_the_degrees_of_the_design_are_never_fewer_and_do_not_depend_on_kinds(hits) -> None:
    shares = np.array(hits) / 4
    kinds, counts = np.unique(shares, return_counts=True)
    share = float(shares.mean())

    found = design_degrees(shares - share, share)

    assert design_degrees(kinds - share, share, counts) == pytest.approx(found)
    assert effective_degrees(shares) <= found * (1 + 1e-9) <= 1.01e6


def test_fewer_degrees_widen_the_interval() -> None:
    spread, alone = [0.4, 0.6] * 10, [0.5] * 19 + [0.5 + 2 * 0.1 * 5**0.5]
    even, odd = (clustered_mean(scores, np.ones(20), bounds=(0, 1)) for scores in (spread, alone))

    assert np.var(spread) == pytest.approx(np.var(alone), rel=0.1)
    assert odd.high - odd.low > 1.3 * (even.high - even.low)


def test_nothing_that_varies_and_two_items_have_one_degree() -> None:
    assert effective_degrees([3.0] * 10) == 1.0
    assert effective_degrees([0.0, 5.0]) == 1.0
    assert effective_degrees([]) == 1.0


@given(st.lists(st.integers(-5, 5), min_size=3, max_size=30), st.randoms(use_true_random=False))
def test_order_shift_scale_and_kinds_change_nothing(values, random) -> None:
    shuffled = random.sample(values, len(values))
    kinds, counts = np.unique(values, return_counts=True)

    expected = effective_degrees(values)

    assert effective_degrees(shuffled) == pytest.approx(expected)
    assert effective_degrees(3.0 * np.array(values) - 7) == pytest.approx(expected)
    assert effective_degrees(kinds, counts) == pytest.approx(expected)
    assert 1 <= expected <= len(values) - 1


def test_means_of_skewed_clusters_are_flagged_where_one_side_misses() -> None:
    """100 exponential values: 4.2% of the intervals are below the mean. Before, none of these studies had a flag."""
    rng = np.random.default_rng(29)
    wrong = {}
    for name, values in {
        "exponential": rng.standard_exponential((1000, 100)) - 1,
        "normal": rng.standard_normal((1000, 100)),
    }.items():
        found = [clustered_mean(study, np.ones(100)) for study in values]
        told = [bool(each.flags) for each in found]
        below = [each.high is not None and each.high < 0 for each in found]
        wrong[name] = np.mean(told), np.mean([one and not other for one, other in zip(below, told, strict=True)])
    assert wrong["exponential"][0] > 0.85
    assert wrong["normal"][0] < 0.02
    assert max(share for _, share in wrong.values()) <= 0.035
