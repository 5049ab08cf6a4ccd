"""Option order and the identical-pair control, as cases."""

from __future__ import annotations

from collections import Counter

import jrh_order.plugin
import pytest
from jrh import Equals, Item, Mode, Scale, ScaleKind, Skip, Task
from jrh_testing import build, sample_task

PAIR = Item(id="1", fields={"request": "q", "response_a": "one", "response_b": "two"}, gold="A")
TIES = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))
THREE, FOUR = (
    Task(name="t", mode=Mode.PAIRWISE, scale=Scale(kind=ScaleKind.PAIRWISE, labels=tuple(letters)))
    for letters in ("ABC", "ABCD")
)


def item_of(task, name="1"):
    return Item(id=name, fields={f"response_{letter.lower()}": f"text {letter}" for letter in task.scale.options})


async def drafts(component, options=None, item=PAIR, task=None, seed=0):
    task = task or sample_task(Mode.PAIRWISE)
    return await build(jrh_order.plugin, component, options=options, task=task, seed=seed).perturb(item)


async def test_a_pair_is_asked_swapped_only_and_the_labels_are_brought_back():
    (swapped,) = await drafts("option-order")
    assert (swapped.variant, swapped.option_order) == ("BA", "BA")
    assert dict(swapped.fields) == {"response_a": "two", "response_b": "one"}
    assert dict(swapped.label_map) == {"A": "B", "B": "A"}


async def test_a_tie_stays_a_tie_when_the_options_are_swapped():
    (swapped,) = await drafts("option-order", task=TIES)
    assert dict(swapped.label_map) == {"A": "B", "B": "A", "TIE": "TIE"}


async def test_random_orders_are_distinct_drawn_by_the_seed_and_never_the_items_own():
    own, counts = FOUR.scale.options, Counter()
    for number in range(230):
        found = await drafts("option-order", {"permutations": 3}, item_of(FOUR, str(number)), FOUR)
        orders = {draft.option_order for draft in found}
        assert len(orders) == 3
        assert "".join(own) not in orders
        counts.update(orders)
    # 23 orders, each drawn 30 times on average: a standard deviation is about 5.
    assert len(counts) == 23
    assert 10 < min(counts.values()) <= max(counts.values()) < 50
    item = item_of(FOUR)
    assert await drafts("option-order", {"permutations": 3}, item, FOUR) == await drafts(
        "option-order", {"permutations": 3}, item, FOUR
    )
    others = [await drafts("option-order", {"permutations": 3}, item, FOUR, seed=seed) for seed in range(8)]
    assert len({tuple(draft.variant for draft in found) for found in others}) > 1


async def test_more_random_orders_than_there_are_is_all_of_them():
    assert len(await drafts("option-order", {"permutations": 99}, item_of(THREE), THREE)) == 5


@pytest.mark.parametrize("task", [THREE, FOUR], ids=["three", "four"])
async def test_options_are_rotated_through_every_place_and_reversed(task):
    own = task.scale.options
    item = item_of(task)
    found = await drafts("option-order", item=item, task=task)
    assert [draft.variant for draft in found][-1] == "".join(reversed(own))
    shown = [dict(item.fields)] + [{**item.fields, **draft.fields} for draft in found[:-1]]
    for place in item.fields:
        assert sorted(each[place] for each in shown) == sorted(item.fields.values())
    for draft in found:
        presented = {**item.fields, **draft.fields}
        for place, meant in draft.label_map.items():
            assert presented[f"response_{place.lower()}"] == item.fields[f"response_{meant.lower()}"]


async def test_equal_options_have_no_order():
    same = Item(id="1", fields={"response_a": "one", "response_b": "one"})
    assert await drafts("option-order", item=same) == [
        Skip(reason="the options have the same text, so their order makes no difference")
    ]


async def test_an_item_with_one_response_is_skipped():
    assert await drafts("option-order", item=Item(id="1", fields={"response_a": "one"})) == [
        Skip(reason="the item lacks one of the options")
    ]


async def test_the_control_shows_each_response_twice_and_expects_a_tie_where_there_is_one():
    first, second = await drafts("identical-options", task=TIES)
    assert (first.variant, dict(first.fields)) == ("AA", {"response_b": "one"})
    assert (second.variant, dict(second.fields)) == ("BB", {"response_a": "two"})
    assert first.expectation == Equals(label="TIE")


async def test_without_a_tie_nothing_is_expected_of_the_control():
    assert [draft.expectation for draft in await drafts("identical-options")] == [None, None]
