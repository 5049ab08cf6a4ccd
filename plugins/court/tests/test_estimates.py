"""Shares of two strata, and what a ruling leaves of a case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_court.cases import CourtCase, Ruling
from jrh_court.estimates import OUTCOMES, combine_strata

shares = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted).map(lambda ends: (ends[1], ends[0], ends[2]))


@given(shares, shares, shares)
def test_limits_hold_the_share_and_widen_with_every_part(differ, first, second):
    value, low, high = combine_strata(differ, first, second)
    assert 0 <= low <= value + 1e-12 <= high + 2e-12 <= 1 + 3e-12
    assert value == pytest.approx(differ[0] * first[0] + (1 - differ[0]) * second[0])
    # What is known exactly adds nothing.
    point = (first[0],) * 3
    narrower = combine_strata(differ, point, second)
    assert low <= narrower[1] + 1e-12
    assert narrower[2] <= high + 1e-12


def test_a_stratum_alone_has_its_own_limits():
    assert combine_strata((1.0, 1.0, 1.0), (0.2, 0.1, 0.4), (0.0, 0.0, 0.0)) == pytest.approx((0.2, 0.1, 0.4))
    assert combine_strata((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.2, 0.1, 0.4)) == pytest.approx((0.2, 0.1, 0.4))


def test_outcomes_of_every_ruling():
    case = CourtCase(id="c", item="i", cluster="i", judge="A", label="B", shown=("B", "A"), content="")
    outcomes = {
        ruling: [name for name, happened in OUTCOMES.items() if happened(case, case.defensible(ruling))]
        for ruling in Ruling
    }
    assert outcomes == {
        Ruling.FIRST: ["the judge is wrong"],
        Ruling.SECOND: ["the label is wrong", "the judge is right"],
        Ruling.BOTH: ["several labels are defensible", "the judge is right"],
        Ruling.NEITHER: ["the label is wrong", "the judge is wrong"],
        Ruling.SILENT: ["the rubric does not say"],
    }
