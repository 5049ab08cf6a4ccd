"""Translated pass marks: a planted shift, a closed form, another mix of labels, and what cannot be translated."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_decide.equating import equate_levels, equate_share


def test_a_judge_that_is_one_level_more_generous_needs_a_mark_that_is_one_level_higher() -> None:
    old = np.tile(np.arange(6), 20)
    new, truth, clusters = np.minimum(old + 1, 5), old, np.arange(120) // 2
    marks = equate_levels(old, new, truth, clusters, (6, 6))
    assert [(mark.before, mark.after) for mark in marks] == [(1, 2), (2, 3), (3, 4), (4, 5), (5, 5)]
    assert [mark.off for mark in marks[:4]] == [0] * 4
    # Nothing above the highest level: the fourth level passes with the new judge, too.
    assert marks[4].off == pytest.approx(1 / 6)
    assert all(mark.low <= mark.after <= mark.high for mark in marks)


def test_scales_of_different_length_are_translated_by_what_passes() -> None:
    old = np.repeat([0, 1, 2], 40)
    new = np.repeat([0, 4, 9], 40)
    marks = equate_levels(old, new, old, np.arange(120), (3, 10))
    # Marks 1 to 4 pass as many as the old mark 1: that closest to it is taken.
    assert [(mark.before, mark.after) for mark in marks] == [(1, 1), (2, 5)]


def test_a_share_is_translated_by_the_rates_of_each_true_label() -> None:
    # Of 100 good and 100 bad items the old judge passes 80 and 30, the new one 90 and 10.
    truth = np.repeat([1, 0], 100)
    old = np.concatenate([np.arange(100) < 80, np.arange(100) < 30]).astype(np.int64)
    new = np.concatenate([np.arange(100) < 90, np.arange(100) < 10]).astype(np.int64)
    mark = equate_share(0.5, old, new, truth, np.arange(200))
    assert mark is not None
    assert mark.after == pytest.approx(0.1 + (0.5 - 0.3) / (0.8 - 0.3) * (0.9 - 0.1))
    # The mix of labels among the anchors does not matter: half of the bad items, the same rates.
    half = np.concatenate([np.arange(100), np.arange(100, 200, 2)])
    fewer = equate_share(0.5, old[half], new[half], truth[half], np.arange(150))
    assert fewer is not None
    assert fewer.after == pytest.approx(mark.after, abs=1e-9)
    assert fewer.low < mark.after < fewer.high


def test_a_judge_that_does_not_tell_good_from_bad_has_no_mark_to_translate() -> None:
    truth = np.tile([1, 0], 20)
    assert equate_share(0.5, np.tile([1, 1, 0, 0], 10), truth, truth, np.arange(40)) is None
    assert equate_share(0.5, truth, truth, np.ones(40, dtype=np.int64), np.arange(40)) is None
