"""The decision space: labels, order, distance, relabelling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import JrhError
from jrh.values.scales import Scale, ScaleKind, invert
from jrh_testing import loop_over

LABELS = Scale.of_labels("YES", "NO")
LEVELS = Scale.of_levels(1, 6)
PAIRS = Scale.of_pairs()
TIED = Scale.of_pairs(tie="TIE")

SCALES = st.one_of(
    st.lists(st.text(min_size=1, max_size=4), min_size=2, max_size=7, unique=True).map(
        lambda labels: Scale.of_labels(*labels)
    ),
    st.integers(-3, 3).flatmap(lambda low: st.integers(low + 1, low + 9).map(lambda high: Scale.of_levels(low, high))),
    st.sampled_from([PAIRS, TIED]),
)


def test_levels_are_the_whole_numbers_from_low_to_high() -> None:
    assert LEVELS.labels == ("1", "2", "3", "4", "5", "6")
    assert Scale.of_levels(-1, 1).labels == ("-1", "0", "1")
    assert (LEVELS.ordered, LABELS.ordered, PAIRS.ordered) == (True, False, False)


@loop_over(
    ("make", "message"),
    [
        (lambda: Scale.of_labels("YES", "YES"), "distinct labels, got YES, YES"),
        (lambda: Scale.of_levels(3, 3), r"from a lower to a higher number, got \[3, 3\]"),
        (lambda: Scale.of_levels(6, 1), r"got \[6, 1\]"),
        (lambda: Scale(kind=ScaleKind.LABELS, labels=("A", "B"), tie="B"), "must be the last label of a pairwise"),
        (lambda: Scale(kind=ScaleKind.PAIRWISE, labels=("T", "A", "B"), tie="T"), "must be the last label"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(JrhError, match=message):
        make()


def test_one_label_is_no_decision() -> None:
    with pytest.raises(ValueError, match="labels"):
        Scale.of_labels("YES")


def test_a_tie_is_a_label_but_no_option() -> None:
    assert TIED.labels == ("A", "B", "TIE")
    assert TIED.options == ("A", "B")
    assert PAIRS.options == PAIRS.labels == ("A", "B")


@loop_over(
    ("scale", "one", "other", "distance"),
    [(LEVELS, "1", "6", 5.0), (LEVELS, "4", "2", 2.0), (LABELS, "YES", "NO", 1.0), (TIED, "A", "TIE", 1.0)],
)
def test_distances_are_steps_on_an_ordinal_scale_and_all_or_nothing_elsewhere(
    scale: Scale, one: str, other: str, distance: float
) -> None:
    assert scale.distance(one, other) == scale.distance(other, one) == distance


def test_the_distance_of_ten_and_nine_is_one_though_the_text_sorts_otherwise() -> None:
    scale = Scale.of_levels(1, 10)
    assert scale.distance("10", "9") == 1.0
    assert scale.rank("10") == 9


def test_a_label_off_the_scale_has_no_rank_and_no_distance() -> None:
    for ask in (lambda: LEVELS.rank("7"), lambda: LEVELS.distance("1", "7"), lambda: LABELS.distance("YES", "yes")):
        with pytest.raises(JrhError, match="is not on the scale"):
            ask()


@given(SCALES, st.data())
def test_a_distance_is_a_metric(scale: Scale, data: st.DataObject) -> None:
    a, b, c = (data.draw(st.sampled_from(scale.labels)) for _ in range(3))
    assert scale.distance(a, a) == 0.0
    assert (scale.distance(a, b) == 0.0) == (a == b)
    assert scale.distance(a, c) <= scale.distance(a, b) + scale.distance(b, c)


@loop_over(
    ("text", "label"),
    [("YES", "YES"), (" yes\n", "YES"), ("No", "NO"), ("YES.", None), ("", None), ("NOYES", None)],
)
def test_a_text_matches_a_label_but_for_case_and_outer_white_space(text: str, label: str | None) -> None:
    assert LABELS.match(text) == label


def test_labels_that_differ_only_in_case_are_told_apart_exactly_or_not_at_all() -> None:
    scale = Scale.of_labels("a", "A", "b")
    assert (scale.match("A"), scale.match("a"), scale.match("B")) == ("A", "a", "b")
    assert Scale.of_labels("ab", "AB").match("Ab") is None


def test_a_number_is_matched_as_text() -> None:
    assert LEVELS.match(" 6 ") == "6"
    assert [LEVELS.match(text) for text in ("06", "6.0", "six", "16")] == [None] * 4
    assert "6" in LEVELS
    assert 6 not in LEVELS


@loop_over(
    ("scale", "swapped"),
    [
        (LABELS, {"YES": "NO", "NO": "YES"}),
        (PAIRS, {"A": "B", "B": "A"}),
        (TIED, {"A": "B", "B": "A", "TIE": "TIE"}),
        (Scale.of_levels(1, 4), {"1": "4", "2": "3", "3": "2", "4": "1"}),
        (Scale.of_levels(1, 3), {"1": "3", "2": "2", "3": "1"}),
    ],
)
def test_swapping_reverses_the_options_and_leaves_the_tie(scale: Scale, swapped: dict[str, str]) -> None:
    assert scale.swap_map() == swapped


@given(SCALES)
def test_swapping_twice_changes_nothing(scale: Scale) -> None:
    swapped = scale.swap_map()
    assert {label: swapped[swapped[label]] for label in scale.labels} == scale.identity_map()
    assert all(invert(swapped, swapped[label]) == label for label in scale.labels)


def test_the_presented_label_of_a_canonical_one_is_the_first_that_means_it() -> None:
    wide = {"1": "NO", "2": "NO", "3": "YES"}
    assert (invert(wide, "NO"), invert(wide, "YES"), invert(wide, "MAYBE")) == ("1", "3", None)
