"""Option order and the identical-pair control, as cases."""

from __future__ import annotations

from collections import Counter

import jrh_order.plugin
from jrh import Equals, Item, Mode, Scale, ScaleKind, Skip, Task
from jrh_testing import build, sample_task

PAIR = Item(id="1", fields={"request": "q", "response_a": "one", "response_b": "two"}, gold="A")
TIES = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))


async def drafts(component, options=None, item=PAIR, task=None, seed=0):
    task = task or sample_task(Mode.PAIRWISE)
    return await build(jrh_order.plugin, component, options=options, task=task, seed=seed).perturb(item)


async def test_crossed_shows_both_orders_and_brings_the_labels_back():
    straight, swapped = await drafts("option-order")
    assert (straight.variant, dict(straight.fields), dict(straight.label_map)) == ("AB", {}, {"A": "A", "B": "B"})
    assert swapped.option_order == "BA"
    assert dict(swapped.fields) == {"response_a": "two", "response_b": "one"}
    assert dict(swapped.label_map) == {"A": "B", "B": "A"}


async def test_a_tie_stays_a_tie_when_the_options_are_swapped():
    _, swapped = await drafts("option-order", task=TIES)
    assert dict(swapped.label_map) == {"A": "B", "B": "A", "TIE": "TIE"}


async def test_random_order_is_drawn_per_call_by_the_seed():
    counts = Counter()
    for number in range(200):
        item = Item(id=str(number), fields=PAIR.fields)
        for draft in await drafts("option-order", {"design": "random", "repeats": 3}, item):
            counts[draft.option_order] += draft.repeats
    assert sum(counts.values()) == 600
    assert 250 < counts["AB"] < 350
    options = {"design": "random", "repeats": 3}
    assert await drafts("option-order", options) == await drafts("option-order", options)
    others = [await drafts("option-order", options, seed=seed) for seed in range(8)]
    assert len({tuple((draft.variant, draft.repeats) for draft in found) for found in others}) > 1


async def test_three_options_stand_once_in_every_place():
    task = Task(name="t", mode=Mode.PAIRWISE, scale=Scale(kind=ScaleKind.PAIRWISE, labels=("A", "B", "C")))
    item = Item(id="1", fields={"response_a": "one", "response_b": "two", "response_c": "three"})
    found = await drafts("option-order", item=item, task=task)
    assert [draft.variant for draft in found] == ["ABC", "BCA", "CAB"]
    shown = [{**item.fields, **draft.fields} for draft in found]
    for place in ("response_a", "response_b", "response_c"):
        assert sorted(each[place] for each in shown) == ["one", "three", "two"]
    assert shown[1]["response_a"] == "two"
    assert found[1].label_map["A"] == "B"


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
