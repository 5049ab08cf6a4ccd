import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats import benjamini_hochberg, exchange_test, holm, mcnemar_exact, sign_flip_test
from scipy.stats import permutation_test
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 5), (3, 12), (8, 8), (121, 59)])
def test_mcnemar_equals_statsmodels(b: int, c: int) -> None:
    expected = mcnemar([[10, b], [c, 10]], exact=True).pvalue if b + c else 1.0

    assert mcnemar_exact(b, c).p == pytest.approx(expected)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_equal_statsmodels(p: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # statsmodels collects garbage in every call, which takes 0.2 s in a process as full as this one.
        patch.setattr(gc, "collect", lambda: 0)
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
        assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])


def test_p_values_out_of_range_are_refused() -> None:
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust([0.1, float("nan")])
    assert holm([]).size == 0


def test_few_clusters_are_enumerated_as_scipy_does() -> None:
    differences = np.array([0.5, 1.0, -0.25, 1.5, 0.75, 0.5, -0.5, 2.0])
    expected = permutation_test(
        (differences,), lambda x, axis: np.abs(x.sum(axis=axis)), permutation_type="samples", vectorized=True,
        alternative="greater", n_resamples=np.inf,
    ).pvalue  # fmt: skip

    found = sign_flip_test(differences)

    assert (found.p, found.method) == (pytest.approx(expected), "sign-flip-exact")


def test_single_trials_give_nearly_mcnemars_p() -> None:
    differences = [1] * 40 + [-1] * 20 + [0] * 100

    assert sign_flip_test(differences, resamples=20_000).p == pytest.approx(mcnemar_exact(40, 20).p, abs=0.004)


def test_trials_of_one_item_count_as_one_opinion() -> None:
    assert sign_flip_test([5, 5, 5, 5]).p == pytest.approx(2 / 2**4)
    assert sign_flip_test([5, 5, 5, 5]).p > mcnemar_exact(20, 0).p


def test_false_alarms_come_as_often_as_stated() -> None:
    generator = np.random.default_rng(5)
    p = [sign_flip_test(generator.normal(size=20), resamples=300, seed=seed).p for seed in range(400)]

    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.025)


def test_no_difference_is_no_evidence_and_no_cluster_no_test() -> None:
    assert sign_flip_test([0, 0, 0]).p == 1.0
    assert sign_flip_test([]).p is None


def test_exchanging_two_columns_is_the_sign_flip_test_of_their_difference():
    sums = np.random.default_rng(3).normal(loc=(0.3, 0.0), size=(14, 2))
    assert exchange_test(sums, resamples=40_000).p == pytest.approx(sign_flip_test(sums[:, 0] - sums[:, 1]).p, abs=0.01)


def test_three_clusters_that_agree_on_the_column_have_the_p_value_of_their_orders():
    # 3 ** 3 equally likely outcomes; in 3 of them all three clusters pick the same column.
    assert exchange_test(np.eye(3)[[2, 2, 2]], resamples=40_000).p == pytest.approx(3 / 27, abs=0.01)


def test_the_exchange_test_keeps_its_level():
    generator = np.random.default_rng(7)
    picks = [np.eye(3)[generator.integers(3, size=30)] for _ in range(400)]
    p = np.array([exchange_test(each, resamples=300, seed=seed).p for seed, each in enumerate(picks)])
    assert (p < 0.05).mean() <= 0.08


def test_the_exchange_test_needs_clusters_and_a_difference():
    assert exchange_test(np.ones((5, 3))).p == 1.0
    assert exchange_test(np.zeros((0, 3))).p is None
    with pytest.raises(ValueError, match="per cluster and column"):
        exchange_test([1.0, 2.0])
