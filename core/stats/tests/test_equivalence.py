import numpy as np
import pytest
from jrh_stats import Answer, equivalence
from statsmodels.stats.weightstats import ttost_paired

GENERATOR = np.random.default_rng(9)
FIRST = GENERATOR.normal(size=60)


@pytest.mark.parametrize(("shift", "margin"), [(0.0, 0.1), (0.05, 0.1), (0.2, 0.1), (0.1, 0.1)])
def test_the_p_value_equals_statsmodels(shift: float, margin: float) -> None:
    second = FIRST + shift + 0.2 * GENERATOR.normal(size=60)
    expected, *_ = ttost_paired(FIRST, second, -margin, margin)

    found = equivalence(FIRST - second, np.ones(60), margin=margin, span=10)

    assert found.p_equivalent == pytest.approx(expected)
    assert (found.answer is Answer.EQUIVALENT) == (expected < 0.05)


@pytest.mark.parametrize(
    ("shift", "answer"), [(0.0, Answer.EQUIVALENT), (0.5, Answer.DIFFERENT), (0.1, Answer.UNDECIDED)]
)
def test_there_are_three_answers(shift: float, answer: Answer) -> None:
    differences = shift + 0.1 * np.tile([-1, 1], 30)

    assert equivalence(differences, np.ones(60), margin=0.1).answer is answer


def test_a_difference_that_is_certain_but_small_is_equivalent() -> None:
    found = equivalence(0.02 + 0.01 * np.tile([-1, 1], 50), np.ones(100), margin=0.05)

    assert found.difference.low > 0
    assert found.answer is Answer.EQUIVALENT


def test_without_any_difference_the_number_of_items_decides() -> None:
    assert equivalence(np.zeros(10), np.ones(10), margin=0.05).answer is Answer.UNDECIDED
    assert equivalence(np.zeros(200), np.ones(200), margin=0.05).answer is Answer.EQUIVALENT


def test_one_item_decides_nothing_and_a_margin_is_declared() -> None:
    assert equivalence([0.0], [1], margin=0.5).answer is Answer.UNDECIDED
    assert equivalence([], [], margin=0.5).difference.value is None
    with pytest.raises(ValueError, match="greater than 0"):
        equivalence([0.0], [1], margin=0)
