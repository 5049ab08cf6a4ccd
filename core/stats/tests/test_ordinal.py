import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats import pearson, scale_compression, spearman
from scipy import stats

GENERATOR = np.random.default_rng(6)
TRUTH = GENERATOR.integers(1, 7, 80)
VERDICT = np.clip(TRUTH + GENERATOR.integers(-2, 3, 80), 1, 6)
ITEMS = np.arange(80)

_pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40)


@settings(max_examples=80)
@given(_pairs)
def test_correlations_equal_scipy(pairs) -> None:
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    items = np.arange(len(one))
    if len({*one.tolist()}) == 1 or len({*other.tolist()}) == 1:
        for measure in (pearson, spearman):
            assert measure(one, other, items).flags == ("degenerate",)
        return
    assert pearson(one, other, items).value == pytest.approx(stats.pearsonr(one, other).statistic, abs=1e-9)
    assert spearman(one, other, items).value == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-9)


@settings(max_examples=40)
@given(_pairs, st.randoms(use_true_random=False))
def test_order_and_scale_reversal_change_no_association(pairs, random) -> None:
    shuffled = random.sample(pairs, len(pairs))
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    mixed, truth = (np.array(side) for side in zip(*shuffled, strict=True))
    items = np.arange(len(one))
    for measure in (pearson, spearman, scale_compression):
        before, after = measure(one, other, items), measure(5 - mixed, 5 - truth, items)
        assert after.flags == before.flags
        assert after.value == (None if before.value is None else pytest.approx(before.value, abs=1e-7))
        if before.low is not None:
            assert (after.low, after.high) == pytest.approx((before.low, before.high), abs=1e-7, rel=1e-6)


def test_the_interval_of_pearson_is_near_fishers_for_normal_data() -> None:
    one = np.random.default_rng(3).normal(size=4000)
    other = 0.6 * one + 0.8 * np.random.default_rng(4).normal(size=4000)
    expected = stats.pearsonr(one, other).confidence_interval()

    found = pearson(one, other, np.arange(4000))

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.003)


def test_copies_of_a_trial_within_its_item_add_nothing() -> None:
    for measure in (pearson, spearman, scale_compression):
        once = measure(VERDICT, TRUTH, ITEMS)
        thrice = measure(np.repeat(VERDICT, 3), np.repeat(TRUTH, 3), np.repeat(ITEMS, 3))
        assert (thrice.value, thrice.low, thrice.high) == pytest.approx((once.value, once.low, once.high), abs=1e-9)


def test_a_judge_that_uses_half_the_scale_has_half_the_spread() -> None:
    found = scale_compression(TRUTH / 2, TRUTH, ITEMS)

    assert found.value == pytest.approx(0.5)
    assert scale_compression(VERDICT, TRUTH, ITEMS).value == pytest.approx(VERDICT.std() / TRUTH.std())
    assert scale_compression(VERDICT, np.full(80, 3), ITEMS).flags == ("degenerate",)
    assert scale_compression(np.full(80, 3), TRUTH, ITEMS).value == pytest.approx(0.0, abs=1e-9)


def test_the_interval_of_perfect_order_leaves_room_for_clusters_not_drawn() -> None:
    found = spearman([1, 2, 3, 4], [2, 3, 4, 5], range(4))

    assert (found.value, found.high, found.flags) == (pytest.approx(1.0), 1.0, ("few-events",))
    assert -1 < found.low < 0
    assert spearman([1, 2, 1, 2], [2, 3, 2, 3], [0, 0, 0, 0]).flags == ("no-interval",)


def test_rank_correlations_are_for_scales_and_not_for_measurements() -> None:
    with pytest.raises(ValueError, match="101 levels"):
        spearman(np.arange(200), np.arange(200), np.arange(200))
