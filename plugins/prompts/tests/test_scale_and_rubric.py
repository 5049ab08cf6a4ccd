"""Other scales and other rubrics, as cases."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import jrh_prompts.plugin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import Item, JrhError, NotAbove, NotBelow, Polarity, Same, Scale, Skip, Task
from jrh_prompts.rubric import reverse_list
from jrh_prompts.scale import rescale
from jrh_testing import build, loop_over, sample_task

ITEM = Item(id="1", fields={"request": "q", "response": "r"})
SIX = Task(name="six", scale=Scale.of_levels(1, 6), instruction="Rate it.", rubric="6: best\n1: worst")
ESSAYS = Path(__file__).parents[4] / "shared" / "data" / "persuade" / "rubric.txt"


async def drafts(component, options=None, task=SIX):
    return await build(jrh_prompts.plugin, component, options=options, task=task).perturb(ITEM)


async def test_ten_levels_are_brought_back_to_six_with_the_rounding_stated():
    ten, _ = await drafts("scale")
    assert ten.task.scale.labels == tuple(map(str, range(1, 11)))
    # place * 5 / 9, halves up: 0, .56, 1.11, 1.67, 2.22, 2.78, 3.33, 3.89, 4.44, 5
    assert list(ten.label_map.values()) == ["1", "2", "2", "3", "3", "4", "4", "5", "5", "6"]
    assert ten.details == {"rounding": "to the nearest level, halves up"}
    assert ten.expectation == Same()
    assert ten.task.instruction.startswith("Rate it.\n\nGive your answer on a scale from 1 to 10: 1 stands for level 1")
    assert ten.task.rubric == SIX.rubric


async def test_the_reversed_scale_is_inverted_polarity_and_says_what_each_level_is():
    _, turned = await drafts("scale")
    assert (turned.polarity, turned.label_map["1"], turned.label_map["6"]) == (Polarity.INVERTED, "6", "1")
    assert "1 for 6, 2 for 5" in turned.task.instruction
    assert turned.details == {}


async def test_words_stand_for_levels_one_to_one():
    words = ["awful", "bad", "poor", "fair", "good", "great"]
    (draft,) = await drafts("scale", {"variants": {"words": {"labels": words}}})
    assert draft.task.scale == Scale(kind=SIX.scale.kind, labels=tuple(words))
    assert draft.label_map["great"] == "6"


async def test_labels_can_be_renamed_where_there_is_no_order_but_not_stretched():
    found = await drafts(
        "scale", {"variants": {"digits": {"labels": ["1", "0"]}, "ten": {"range": [1, 10]}}}, sample_task()
    )
    assert dict(found[0].label_map) == {"1": "YES", "0": "NO"}
    assert found[1] == Skip(reason="the task's scale has no order", variant="ten")


async def test_the_tasks_own_scale_is_no_other_scale():
    (found,) = await drafts("scale", {"variants": {"same": {"range": [1, 6]}}})
    assert found == Skip(reason="the scale is the task's own", variant="same")


@loop_over(
    ("variant", "said"),
    [
        ({"range": [1, 3]}, "has 3 levels, fewer than the task's 6"),
        ({"labels": ["a", "b"]}, "has 2 labels, but the task has 6"),
        ({}, "give one of `range`, `labels` and `reversed: true`"),
        ({"range": [4, 4]}, "a range must go from a lower to a higher number"),
    ],
)
async def test_scales_that_cannot_be_are_refused(variant, said):
    with pytest.raises(
        JrhError,
        match=said.replace("`", "."),
    ):
        await drafts("scale", {"variants": {"odd": variant}})


@given(levels=st.integers(2, 12), more=st.integers(0, 20))
def test_a_longer_scale_keeps_ends_and_order_and_reaches_every_level(levels, more):
    places = levels + more
    found = [rescale(place, places, levels) for place in range(places)]
    assert (found[0], found[-1]) == (0, levels - 1)
    assert found == sorted(found)
    assert set(found) == set(range(levels))
    exact = [Fraction(place * (levels - 1), places - 1) for place in range(places)]
    assert all(abs(level - value) <= Fraction(1, 2) for level, value in zip(found, exact, strict=True))


async def test_stricter_and_lenient_rubrics_say_in_which_direction_nothing_may_move():
    stricter, lenient, turned = await drafts(
        "rubric", {"lenient": ["Be kind."]}, Task(name="t", scale=Scale.of_levels(1, 2), rubric="1: bad\n2: good")
    )
    assert stricter.expectation == NotAbove()
    assert stricter.task.rubric.startswith("1: bad\n2: good\n\nApply the rubric strictly")
    assert lenient.expectation == NotBelow()
    assert lenient.task.rubric.endswith("\n\nBe kind.")
    assert (turned.expectation, turned.task.rubric) == (Same(), "2: good\n1: bad")


async def test_several_stricter_rubrics_are_numbered():
    found = await drafts("rubric", {"stricter": ["One.", "Two."], "lenient": [], "reorder": False})
    assert [draft.variant for draft in found] == ["stricter-1", "stricter-2"]


async def test_a_scale_without_order_cannot_be_stricter_but_its_list_can_be_turned():
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"), rubric="YES: it is true.\nNO: it is not.")
    stricter, lenient, turned = await drafts("rubric", task=task)
    assert isinstance(stricter, Skip)
    assert isinstance(lenient, Skip)
    assert turned.task.rubric == "NO: it is not.\nYES: it is true."


async def test_a_rubric_without_a_list_of_levels_is_not_turned():
    found = await drafts("rubric", task=SIX)
    assert found[-1] == Skip(reason="the rubric does not list the scale's labels", variant="reversed-list")


def test_entries_of_several_lines_move_as_a_whole_and_what_is_around_them_stays():
    rubric = "Levels.\n\n- **3**: fine,\n  really\n- **2**: so so\n- **1**: bad\n\nThink first.\n"
    expected = "Levels.\n\n- **1**: bad\n- **2**: so so\n- **3**: fine,\n  really\n\nThink first.\n"
    assert reverse_list(rubric, Scale.of_levels(1, 3)) == expected


def test_a_label_that_begins_two_entries_makes_no_list():
    assert reverse_list("1: a\n2: b\n1: c", Scale.of_levels(1, 2)) is None


def test_a_number_within_a_longer_one_begins_no_entry():
    assert reverse_list("10: a\n1: b\n2: c", Scale.of_levels(1, 2)) == "10: a\n2: c\n1: b"


def test_the_rubric_of_the_real_essays_is_turned_entry_by_entry():
    if not ESSAYS.exists():
        pytest.skip("the real essays are not here (../shared/data/persuade)")
    rubric = ESSAYS.read_text(encoding="utf-8")
    turned = reverse_list(rubric, Scale.of_levels(1, 6))
    starts = [line.split(":")[0] for line in turned.splitlines() if line.startswith("SCORE OF")]
    assert starts == [f"SCORE OF {level}" for level in range(1, 7)]
    assert sorted(turned.split()) == sorted(rubric.split())
    assert reverse_list(turned, Scale.of_levels(1, 6)).split() == rubric.split()
