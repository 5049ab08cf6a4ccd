"""JSS in one call: against closed forms, Wilson's interval of scipy, and JudgeSense's own point estimates."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from jrh_stats import cluster_sums, clustered_kappa, clustered_proportion, jss, judgesense_jss
from scipy.stats import binomtest

A = ["YES", "YES", "NO", "YES", "NO", "NO", "YES", "NO", "YES", "YES"]
B = ["YES", "NO", "NO", "YES", "NO", "YES", "YES", "NO", "NO", "YES"]


def test_without_items_the_interval_is_wilsons_and_kappa_is_the_closed_form() -> None:
    found = jss(A, B)

    wilson = binomtest(7, 10).proportion_ci(0.95, method="wilson")
    assert (found.jss.value, found.jss.low, found.jss.high) == pytest.approx((0.7, wilson.low, wilson.high))
    assert (found.flip_rate.value, found.flip_rate.low, found.flip_rate.high) == pytest.approx(
        (0.3, 1 - wilson.high, 1 - wilson.low)
    )
    one, other = Counter(A), Counter(B)
    chance = sum(one[label] * other[label] for label in one) / 100
    assert found.kappa.value == pytest.approx((0.7 - chance) / (1 - chance))
    codes = [[label == "YES" for label in side] for side in (A, B)]
    assert found.jss.value == judgesense_jss(*codes).value


def test_pairs_of_one_item_are_one_cluster() -> None:
    items = ["x", "x", "x", "y", "y", "y", "z", "z", "w", "w"]
    found = jss(A, B, items)

    codes = np.array([ord(item) - ord("w") for item in items])
    agree = np.array([one == other for one, other in zip(A, B, strict=True)], dtype=float)
    sums = cluster_sums(codes, agree, np.ones(10))
    assert found.jss == clustered_proportion(sums[:, 0], sums[:, 1])
    sides = [np.array([label == "YES" for label in side], dtype=int) for side in (A, B)]
    assert found.kappa.value == pytest.approx(clustered_kappa(*sides, codes).value)
    assert found.jss.clusters == 4


def test_missing_decisions_are_left_out_and_counted() -> None:
    found = jss([*A, None, "YES", float("nan")], [*B, "YES", None, "NO"])

    assert (found.pairs, found.excluded) == (10, 3)
    assert found.jss == jss(A, B).jss


def test_constant_decisions_have_no_kappa_and_lists_of_unequal_length_are_refused() -> None:
    found = jss([1, 1, 1], [1, 1, 1])

    assert (found.jss.value, found.kappa.value) == (1.0, None)
    assert "degenerate" in found.kappa.flags
    assert jss([], []).jss.value is None
    with pytest.raises(ValueError, match="every list needs one entry per pair, got 2, 1 and 2"):
        jss([1, 2], [1])
