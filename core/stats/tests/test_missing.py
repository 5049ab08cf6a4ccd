import numpy as np
import pytest
from jrh_stats import missingness_test
from statsmodels.stats.contingency_tables import StratifiedTable, cochrans_q


def test_one_trial_per_item_and_condition_is_cochrans_q() -> None:
    table = np.random.default_rng(7).binomial(1, [0.1, 0.3, 0.5], (40, 3))
    expected = cochrans_q(table)
    items, conditions = (axis.ravel() for axis in np.indices(table.shape))

    found = missingness_test(table.ravel(), conditions, items)

    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.degrees == 2


def test_unequal_repeats_give_mantel_and_haenszels_statistic() -> None:
    generator = np.random.default_rng(8)
    rows = [
        (item, condition, generator.random() < 0.2 + 0.3 * condition)
        for item in range(12)
        for condition in range(2)
        for _ in range(2 + (item + condition) % 3)
    ]
    items, conditions, missing = (np.array(column) for column in zip(*rows, strict=True))
    tables = [
        np.array([[((items == k) & (conditions == c) & (missing == m)).sum() for m in (1, 0)] for c in (0, 1)])
        for k in range(12)
    ]
    expected = StratifiedTable(tables).test_null_odds(correction=False)

    found = missingness_test(missing, conditions, items)

    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_hard_items_alone_are_no_reason_to_blame_a_condition() -> None:
    hard = np.repeat([1, 0], 20)  # items 0 to 9 never answered, the others always, under two conditions

    found = missingness_test(hard, np.tile([0, 1], 20), np.repeat(np.arange(20), 2))

    assert (found.p, found.flags, found.n) == (None, ("empty",), 20)


def test_few_missing_verdicts_are_said_to_be_few() -> None:
    found = missingness_test([1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1])

    assert found.flags == ("few",)
    assert found.p == pytest.approx(0.317, abs=0.001)


def test_nothing_is_no_test() -> None:
    assert missingness_test([], [], []).p is None


def test_clusters_may_have_any_codes() -> None:
    generator = np.random.default_rng(3)
    items = np.repeat(np.arange(40), 4)
    missing, conditions = generator.random(160) < 0.3, np.tile([0, 1], 80)

    found = missingness_test(missing, conditions, items, items // 2 - 5)

    assert found == missingness_test(missing, conditions, items, items // 2)
