from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import count_disagreeing_pairs, rerun_disagreement
from scipy.stats import binomtest


@given(st.lists(st.integers(0, 3), max_size=12))
def test_pairs_equal_those_counted_one_by_one(answers: list[int]) -> None:
    differing, pairs = count_disagreeing_pairs([[answers.count(label) for label in range(4)]])

    assert differing[0] == sum(a != b for a, b in combinations(answers, 2))
    assert pairs[0] == len(list(combinations(answers, 2)))


def test_the_observed_agreement_of_fleiss_1971_is_found() -> None:
    """Ratings of 10 subjects by 14 raters into 5 categories, as tabulated with their P_i; mean 0.378."""
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    differing, pairs = count_disagreeing_pairs(table)

    assert [round(float(p), 3) for p in 1 - differing / pairs] == [
        1.0, 0.253, 0.308, 0.44, 0.33, 0.462, 0.242, 0.176, 0.286, 0.286,
    ]  # fmt: skip
    assert round(1 - rerun_disagreement(table, range(10)).value, 3) == 0.378


def test_two_repeats_per_item_are_one_independent_pair_each() -> None:
    expected = binomtest(3, 10).proportion_ci(method="exact")

    estimate = rerun_disagreement([[1, 1]] * 3 + [[2, 0]] * 5 + [[0, 2]] * 2, range(10))

    assert (estimate.value, estimate.method, estimate.n) == (0.3, "clopper-pearson", 10)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))


def test_questions_with_one_answer_or_none_have_no_pair() -> None:
    assert rerun_disagreement([[1, 0], [0, 0]], [0, 1]).flags == ("empty",)
    assert rerun_disagreement([[1, 0], [1, 1]], [0, 1]).clusters == 1
