"""Correlated errors: the interval of phi against a general optimiser, and how often it covers where errors are rare."""

import numpy as np
import pytest
from jrh_stats import paired_error_correlation, phi_coefficient
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import chi2
from sklearn.metrics import matthews_corrcoef

CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))
STUDIES = 600
SLACK = 3 * np.sqrt(0.95 * 0.05 / STUDIES)
"""Three standard errors of a coverage of 95%."""


def pairs(counts):
    """Return both sides of a 2x2 table with the cells 11, 10, 01, 00."""
    return np.repeat(np.array(CELLS, dtype=float), counts, axis=0).T


def probabilities(rate, phi):
    joint = rate**2 + phi * rate * (1 - rate)
    return np.array([joint, rate - joint, rate - joint, 1 - 2 * rate + joint])


def correlation(p):
    a, b = p[0] + p[1], p[0] + p[2]
    return (p[0] - a * b) / np.sqrt(a * (1 - a) * b * (1 - b))


@pytest.mark.parametrize("counts", [(3, 4, 5, 50), (0, 5, 6, 89), (12, 1, 20, 30), (2, 7, 0, 33), (40, 9, 8, 60)])
def test_the_ends_are_the_extremes_of_phi_over_all_tables_that_are_likely_enough(counts):
    found = phi_coefficient(*pairs(counts))
    seen = np.array(counts, dtype=float)
    top = (seen[seen > 0] * np.log(seen[seen > 0] / seen.sum())).sum()

    def deviance(p):
        return 2 * (top - (seen[seen > 0] * np.log(np.maximum(p[seen > 0], 1e-12))).sum())

    rules = [
        NonlinearConstraint(deviance, -np.inf, chi2.ppf(0.95, 1)),
        NonlinearConstraint(lambda p: p.sum(), 1.0, 1.0),
    ]
    start = (seen + 0.2) / (seen + 0.2).sum()
    for sign, end in ((1, found.low), (-1, found.high)):
        best = minimize(
            lambda p, sign=sign: sign * correlation(p),
            start,
            bounds=[(1e-9, 1)] * 4,
            constraints=rules,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        assert sign * best.fun == pytest.approx(end, abs=2e-4)


def test_it_is_the_matthews_correlation_of_two_labels():
    one, other = pairs((12, 5, 9, 40))
    found = phi_coefficient(one, other)
    assert found.value == pytest.approx(matthews_corrcoef(one, other))
    swapped, negated = phi_coefficient(other, one), phi_coefficient(1 - one, other)
    assert (swapped.low, swapped.high) == pytest.approx((found.low, found.high), abs=1e-5)
    assert (-negated.high, -negated.low) == pytest.approx((found.low, found.high), abs=1e-5)


def test_no_joint_error_does_not_exclude_a_positive_correlation():
    """The reviewer's case: 5% errors, none in common; the interval was [-.080, -.030]."""
    found = paired_error_correlation(*pairs((0, 5, 5, 90)))
    assert found.value == pytest.approx(-1 / 19)
    assert found.low < -0.05
    assert found.high > 0.15
    assert found.flags == ("few-events",)


def test_perfect_and_opposite_judges_keep_an_interval():
    same, opposite = phi_coefficient(*pairs((20, 0, 0, 40))), phi_coefficient(*pairs((0, 30, 30, 0)))
    assert same.value == same.high == pytest.approx(1)
    assert 0.8 < same.low < 0.95
    assert opposite.value == opposite.low == pytest.approx(-1)
    assert -0.95 < opposite.high < -0.8


def test_copies_of_an_item_do_not_narrow_the_interval():
    one, other = pairs((20, 10, 15, 55))
    alone = phi_coefficient(one, other)
    copied = phi_coefficient(*np.repeat([one, other], 4, axis=1), np.repeat(np.arange(100), 4))
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=0.01)
    naive = phi_coefficient(*np.repeat([one, other], 4, axis=1))
    assert copied.high - copied.low > 1.8 * (naive.high - naive.low)


def test_what_has_no_correlation_says_so():
    assert phi_coefficient([], []).flags == ("empty",)
    assert phi_coefficient([0, 0, 0], [0, 1, 0]).flags == ("degenerate",)
    assert phi_coefficient([0, 1], [0, 1], [3, 3]).flags == ("no-interval",)
    with pytest.raises(ValueError, match="0 or 1"):
        phi_coefficient([0, 2], [0, 1])
    with pytest.raises(ValueError, match="equal length"):
        phi_coefficient([0, 1], [0])


def test_missing_verdicts_and_signed_errors_are_handled_pair_by_pair():
    one, other = pairs((12, 5, 9, 40))
    holes = np.where(np.arange(66) == 3, np.nan, one)
    kept = np.arange(66) != 3
    assert paired_error_correlation(holes, other) == phi_coefficient(one[kept], other[kept])
    steps = np.zeros((2, 100))
    steps[0, :6], steps[1, 4:10] = 1, -1
    assert "few-events" in paired_error_correlation(*steps).flags
    dense = np.random.default_rng(0).integers(-2, 3, (2, 100)).astype(float)
    found = paired_error_correlation(*dense)
    assert (found.method, found.flags) == ("jackknife-fisher-z", ())
    assert found.value == pytest.approx(np.corrcoef(dense)[0, 1])


@pytest.mark.parametrize(
    ("rate", "phi", "items", "flagged"),
    [(0.3, 0.0, 100, False), (0.3, 0.6, 200, False), (0.3, 0.2, 500, False), (0.05, 0.0, 200, True)],
)
def test_the_interval_covers_and_is_flagged_where_joint_errors_are_rare(rate, phi, items, flagged):
    draws, seen, kept = np.random.default_rng(14).multinomial(items, probabilities(rate, phi), STUDIES), {}, []
    for counts in map(tuple, draws):
        if counts not in seen:
            seen[counts] = paired_error_correlation(*pairs(counts))
        found = seen[counts]
        kept.append((found.low is not None and found.low <= phi <= found.high, bool(found.flags)))
    covered, marked = np.array(kept).T
    assert covered.mean() >= 0.93 - SLACK
    assert covered.mean() <= 0.97 + SLACK or flagged
    assert marked.mean() > 0.95 if flagged else marked.mean() < 0.1


def test_items_that_share_a_cluster_are_counted_once():
    """Clusters of three of which half of the draws are shared; pairs taken as independent would cover less."""
    generator, items, phi = np.random.default_rng(15), np.repeat(np.arange(100), 3), 0.2
    p = probabilities(0.3, phi)
    covered, naive = [], []
    for _ in range(300):
        own, shared = generator.choice(4, (100, 3), p=p), generator.choice(4, (100, 1), p=p)
        drawn = np.array(CELLS)[np.where(generator.random((100, 3)) < 0.5**0.5, shared, own).ravel()].T
        for kept, clusters in ((covered, items), (naive, None)):
            found = phi_coefficient(*drawn, clusters)
            kept.append(found.low <= phi <= found.high)
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300) - 0.02 <= np.mean(covered) <= 0.99
    assert np.mean(naive) < 0.90
