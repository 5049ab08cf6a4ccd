"""How often the finding of the error curve is right, in studies whose rate of noticing is known.

At most 5% of the judges may be accused wrongly, over all kinds of errors together: docs/evidence.md.
"""

from __future__ import annotations

import jrh_evidence.error_curve
import numpy as np
import pytest
from error_studies import curve, share, studies, told

pytestmark = pytest.mark.inside
EDGE = np.array([0.5, 0.7, 0.85, 0.95])
CLEAN = np.array([0.9, 0.94, 0.95, 0.95])
STUDIES = 80


def most_claims(studies: int) -> int:
    """Count the false claims that so many studies exceed once in a thousand times, at a true rate of 5%."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, studies, 0.05))


@pytest.fixture(autouse=True)
def _fitted_quickly(monkeypatch):
    """The intervals of the curve decide nothing here, and are what takes long."""
    fit = jrh_evidence.error_curve.psychometric_curve
    monkeypatch.setattr(
        jrh_evidence.error_curve, "psychometric_curve", lambda *of, **how: fit(*of, **{**how, "resamples": 2})
    )


def test_a_judge_that_notices_just_half_of_the_smallest_errors_is_seldom_accused():
    """The least favourable case; without a correction for four kinds, one in nine are accused."""
    found = told(studies(EDGE, 40, number=STUDIES, kinds=4, seed=40), 40, resamples=19)
    assert share(found, "errors-missed") <= most_claims(STUDIES) / STUDIES
    assert share(found, "errors-noticed") <= most_claims(STUDIES) / STUDIES


def test_a_clean_judge_is_never_accused_and_a_blind_one_always():
    clean = told(studies(CLEAN, 40, number=STUDIES, noise=0.1, spread=1.0, seed=41), 40, resamples=19)
    assert share(clean, "errors-missed") == 0
    blind = told(studies(np.full(4, 1e-9), 40, number=50, noise=0.1, seed=42), 40, resamples=19)
    assert share(blind, "errors-missed") == 1


def test_half_noticed_only_at_the_end_of_the_numbers_asked_is_found_under_noise():
    """It was found in half of the studies: the threshold lies beyond the numbers asked in the others."""
    late = told(studies(curve(6.0), 40, number=50, noise=0.1, spread=1.0, seed=43), 40, resamples=19)
    assert share(late, "errors-missed") >= 0.85
