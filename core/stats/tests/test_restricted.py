"""Score limits of a mean difference, and equivalence at its margin."""

from math import inf, sqrt

import numpy as np
import pytest
from jrh_stats import Answer, equivalence, score_difference
from scipy.optimize import brentq, minimize
from scipy.stats import multinomial, norm


def _tango(only_first: int, only_second: int, number: int, z: float) -> tuple[float, float]:
    """Return Tango's limits by his closed form of the restricted estimate, and a root finder that is not ours."""
    b, c, n = only_first, only_second, number

    def statistic(delta: float) -> float:
        linear = -b - c + (2 * n - b + c) * delta
        second = (sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0)) - linear) / (4 * n)
        variance = n * (2 * second + delta * (1 - delta))
        gap = b - c - n * delta
        return gap / sqrt(variance) if variance > 0 else inf * np.sign(gap)

    mean = (b - c) / n
    return (
        brentq(lambda delta: statistic(delta) - z, -1 + 1e-12, mean - 1e-9),
        brentq(lambda delta: statistic(delta) + z, mean + 1e-9, 1 - 1e-12),
    )


@pytest.mark.parametrize(
    ("only_first", "only_second", "number"),
    [(0, 0, 60), (0, 8, 60), (5, 0, 60), (14, 14, 100), (1, 3, 44), (9, 1, 44), (2, 12, 40), (0, 0, 10)],
)
def test_pairs_of_answers_have_tangos_limits(only_first: int, only_second: int, number: int) -> None:
    differences = np.r_[np.ones(only_first), -np.ones(only_second), np.zeros(number - only_first - only_second)]

    assert score_difference(differences, np.ones(number)) == pytest.approx(
        _tango(only_first, only_second, number, norm.ppf(0.975)), abs=1e-8
    )


def test_without_a_difference_the_limits_are_wilsons_of_none() -> None:
    z = norm.ppf(0.95)
    assert score_difference(np.zeros(80), np.ones(80), level=0.9)[1] == pytest.approx(z**2 / (80 + z**2))


def test_other_scores_have_the_variance_of_the_most_likely_distribution() -> None:
    """The limit is where a likelihood maximised by scipy, over the values and the ends of the scale, puts it."""
    scores = np.array([-0.5, -0.25, 0.0, 0.0, 0.25, 0.5, 0.25, 0.0, -0.25, 0.75] * 3)
    values, counts = np.unique(scores, return_counts=True)
    support, counts = np.append(values, 1.0), np.append(counts, 0) / len(scores)
    upper = score_difference(scores, np.ones(len(scores)), level=0.9)[1]
    found = minimize(
        lambda p: -counts[:-1] @ np.log(p[:-1]),
        np.append(counts[:-1] * 0.98, 0.02),
        jac=lambda p: np.append(-counts[:-1] / p[:-1], 0.0),
        bounds=[(1e-6, 1)] * len(values) + [(0, 1)],
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ support - upper},
        ],
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    variance = found.x @ (support - upper) ** 2

    assert (upper - scores.mean()) / sqrt(variance / len(scores)) == pytest.approx(norm.ppf(0.95), abs=2e-3)


def test_limits_mirror_scale_and_weigh_clusters() -> None:
    tops, bottoms = np.array([1.0, -2, 0, 0, 3, 0, 0, 1]), np.array([2.0, 2, 2, 2, 4, 2, 3, 1])
    low, high = score_difference(tops, bottoms)

    assert score_difference(-tops, bottoms) == pytest.approx((-high, -low), abs=1e-9)
    assert score_difference(5 * tops, bottoms, span=5) == pytest.approx((5 * low, 5 * high), abs=1e-8)
    assert low < tops.sum() / bottoms.sum() < high
    with pytest.raises(ValueError, match="at least one"):
        score_difference([], [])


def _error(number: int, margin: float, up: float) -> float:
    """Return the probability of `equivalent` where the change is the margin, over all outcomes of the pairs."""
    down, total = up + margin, 0.0
    for rises in range(int(number * up + 5 * sqrt(number * up)) + 1):
        for falls in range(int(number * down + 5 * sqrt(number * down)) + 1):
            if abs(rises - falls) < number * margin:
                pairs = np.r_[np.ones(rises), -np.ones(falls), np.zeros(number - rises - falls)]
                if equivalence(pairs, np.ones(number), margin=margin).answer is Answer.EQUIVALENT:
                    still = number - rises - falls
                    total += multinomial.pmf([rises, falls, still], number, [up, down, 1 - up - down])
    return total


@pytest.mark.parametrize(
    ("number", "margin", "up"), [(60, 0.05, 0.0), (100, 0.03, 0.0), (200, 0.05, 0.0), (200, 0.05, 0.02)]
)
def test_equivalence_at_the_margin_is_found_in_5_percent_at_most(number: int, margin: float, up: float) -> None:
    """All outcomes enumerated. With rises in 2% two t-tests find it in 6.3%."""
    assert _error(number, margin, up) <= 0.05


def test_equivalence_at_the_margin_of_a_noisy_judge_with_repeats() -> None:
    generator, studies, margin = np.random.default_rng(21), 300, 0.05
    chance = generator.beta(9, 1, (studies, 200, 1))
    before = (generator.random((studies, 200, 10)) < chance).mean(axis=2)
    after = generator.random((studies, 200)) < chance[:, :, 0] * (1 - margin / 0.9)
    found = sum(equivalence(each, np.ones(200), margin=margin).answer is Answer.EQUIVALENT for each in after - before)
    assert found <= 0.05 * studies + 3 * sqrt(0.05 * 0.95 * studies)
