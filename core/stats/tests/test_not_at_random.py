"""Verdicts that are missing for a reason: against scipy's roots and tests, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import imbens_manski_quantile, missingness_association
from scipy import optimize, stats


@pytest.mark.parametrize("width", [0.0, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("error", [0.01, 0.05])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_reach_is_the_root_of_their_equation(width: float, error: float, level: float) -> None:
    theirs = optimize.brentq(
        lambda c: stats.norm.cdf(c + width / error) - stats.norm.cdf(-c) - level, 0.1, 5, xtol=1e-12
    )
    assert imbens_manski_quantile(width, error, level=level) == pytest.approx(theirs, abs=1e-9)


def test_bounds_without_error_need_no_reach_beyond_one_side() -> None:
    assert imbens_manski_quantile(0.1, 0.0) == pytest.approx(stats.norm.ppf(0.95))
    assert imbens_manski_quantile(0.0, 0.0) == pytest.approx(stats.norm.ppf(0.975))


def test_one_score_is_mantels_test_and_groups_are_the_general_one() -> None:
    rng = np.random.default_rng(7)
    lost, score = rng.random(40), rng.random(40)
    r = stats.pearsonr(lost, score).statistic
    assert missingness_association(lost, score).p == pytest.approx(stats.chi2.sf(39 * r * r, 1))
    group = rng.integers(0, 3, 40)
    # On ranks the statistic is that of Kruskal and Wallis.
    ranks = stats.rankdata(lost)
    found = missingness_association(ranks, np.eye(3)[group])
    theirs = stats.kruskal(*(ranks[group == each] for each in range(3)))
    assert (found.p, found.degrees) == (pytest.approx(theirs.pvalue), 2)


def test_shares_at_random_are_called_dependent_in_one_study_of_twenty() -> None:
    rng = np.random.default_rng(20261122)
    studies = 1000
    alarms = sum(
        (missingness_association(rng.binomial(4, 0.1, 80) / 4, rng.random(80)).p or 1.0) < 0.05 for _ in range(studies)
    )
    assert alarms / studies <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / studies)


def test_nothing_is_said_where_nothing_varies() -> None:
    for lost, score in (([0.0] * 9, range(9)), (range(9), [1.0] * 9), ([0.1, 0.2], [0.0, 1.0])):
        assert missingness_association(np.array(lost, dtype=float), np.array(score, dtype=float)).flags == ("empty",)
