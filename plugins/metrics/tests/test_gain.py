"""Gold accuracy beyond the most common gold label."""

from __future__ import annotations

import pytest


def test_the_gain_is_paired_on_the_items_that_have_a_verdict(measure, ref, row) -> None:
    rows = [*ref(1, "YES", gold="YES"), *ref(2, "YES", gold="YES"), *ref(3, "NO", gold="NO"), *ref(4, "YES", gold="NO")]
    rows += [row(5, None, gold="YES", test="reference"), *ref(6, "YES")]
    found = measure("gain-over-commonest", rows)["judge", "reference", ""]
    # Of the four items with a verdict and a label three are right, and two have the most common label.
    assert (found.estimate, found.n_items, sum(found.missing.values())) == (pytest.approx(0.25), 4, 1)
    assert found.interval.low < 0 < found.interval.high


def test_with_one_gold_label_nothing_can_be_gained(measure, ref) -> None:
    rows = [each for item in range(12) for each in ref(item, "YES", gold="YES")]
    found = measure("gain-over-commonest", rows)["judge", "reference", ""]
    assert found.estimate == 0.0
    assert "constant-gold" in found.flags
