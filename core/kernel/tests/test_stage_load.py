"""Data sources in, checked and sampled items out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import JrhError, SuiteError
from jrh.running.stages import load as stage
from jrh.store.cases_table import items_id
from jrh.store.run_store import Store
from jrh.suite.definition import DataUse, Sample, TaskUse
from jrh.values.items import Item, Mode, Task
from jrh.values.scales import Scale
from jrh_testing import sample_task

USE = TaskUse(task=Task(name="t", scale=Scale.of_labels("YES", "NO")), data=DataUse(name="essays", component="csv"))


def item(number: int, **changes: Any) -> Item:
    made = Item(
        id=f"i{number}", fields={"request": "r", "response": f"text {number}"}, origin=f"essays.csv:{number + 2}"
    )
    return evolve(made, **changes)


class Source:
    def __init__(self, *items: Item) -> None:
        self.items = items

    def read(self) -> Any:
        yield from self.items


def problems(*items: Item, use: TaskUse = USE) -> list[str]:
    with pytest.raises(SuiteError) as raised:
        stage.check(Source(*items), use)
    return [str(problem) for problem in raised.value.problems]


def test_every_bad_item_is_reported_at_once_with_its_line() -> None:
    found = problems(item(0, gold="yes"), item(1), item(1, origin="essays.csv:9"), item(2, fields={"request": "r"}))
    assert found == [
        "essays.csv:2: label 'yes' is not on the scale YES, NO; did you mean 'YES'?",
        "duplicate id 'i1' at essays.csv:3 and essays.csv:9",
        "essays.csv:4: a pointwise item needs response",
    ]


def test_an_item_without_a_line_is_named_by_its_id() -> None:
    assert problems(item(0, gold="MAYBE", origin="")) == ["item 'i0': label 'MAYBE' is not on the scale YES, NO"]


def test_labels_are_compared_as_text() -> None:
    use = evolve(USE, task=evolve(USE.task, scale=Scale.of_levels(1, 3)))
    assert stage.check(Source(item(0, gold="2")), use)[0].gold == "2"
    for wrong in ("2.0", "02", " 2", "4"):
        assert problems(item(0, gold=wrong), use=use)


@pytest.mark.parametrize(
    ("mode", "needs"),
    [(Mode.PAIRWISE, "response_a and response_b"), (Mode.TRANSCRIPT, "transcript"), (Mode.POINTWISE, "response")],
)
def test_each_mode_needs_its_fields(mode: Mode, needs: str) -> None:
    use = evolve(USE, task=sample_task(mode))
    assert problems(item(0, fields={"request": "r"}), use=use) == [f"essays.csv:2: a {mode.value} item needs {needs}"]


@pytest.mark.parametrize("name", ["line\nbreak", "\x1b[31mred", "nul\x00"])
def test_an_id_that_would_garble_a_terminal_is_refused(name: str) -> None:
    assert problems(item(0, id=name)) == [
        f"essays.csv:2: the id {name!r} has characters that cannot be printed",
    ]


def test_many_problems_are_cut_after_twenty() -> None:
    found = problems(*(item(number, gold="MAYBE") for number in range(50)))
    assert len(found) == 21
    assert found[-1] == "and 30 more problems of this kind"


def test_a_source_without_items_is_an_error() -> None:
    with pytest.raises(JrhError, match="task 't': the data source 'essays' has no items"):
        stage.check(Source(), USE)


def test_without_a_sample_all_items_stay_in_order() -> None:
    items = [item(number) for number in range(5)]
    assert stage.choose(items, None, None) == tuple(items)
    assert stage.choose(items, None, 3) == tuple(items[:3])
    assert stage.choose(items, Sample(n=4), 2) == stage.choose(items, Sample(n=4), None)[:2]


@given(st.integers(1, 40), st.integers(0, 1000))
def test_a_sample_has_its_size_and_keeps_the_order(n: int, seed: int) -> None:
    items = [item(number) for number in range(40)]
    chosen = stage.choose(items, Sample(n=n, seed=seed), None)
    positions = [items.index(each) for each in chosen]
    assert len(positions) == n
    assert positions == sorted(set(positions))
    assert chosen == stage.choose(items, Sample(n=n, seed=seed), None)


def test_another_seed_is_another_sample() -> None:
    items = [item(number) for number in range(40)]
    samples = [[each.id for each in stage.choose(items, Sample(n=10, seed=seed), None)] for seed in range(20)]
    assert len(set(map(tuple, samples))) == 20


def test_every_item_has_the_same_chance() -> None:
    items = [item(number) for number in range(10)]
    drawn = Counter(each.id for seed in range(600) for each in stage.choose(items, Sample(n=3, seed=seed), None))
    # 180 expected each, standard deviation 11.2.
    assert all(140 < drawn[each.id] < 220 for each in items)


def test_a_sample_larger_than_the_data_is_an_error() -> None:
    with pytest.raises(JrhError, match="asks for 3 items, but there are only 2"):
        stage.choose([item(0), item(1)], Sample(n=3), None)


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.data())
def test_a_stratified_sample_gives_every_stratum_its_share_rounded_up_or_down(
    strata: list[str], data: st.DataObject
) -> None:
    items = [item(number, stratum=stratum) for number, stratum in enumerate(strata)]
    n = data.draw(st.integers(1, len(items)))
    chosen = stage.choose(items, Sample(n=n, stratify=True), None)
    assert len(chosen) == n
    sizes = Counter(each.stratum for each in chosen)
    for stratum, members in Counter(strata).items():
        exact = n * members / len(items)
        assert int(exact) <= sizes[stratum] <= int(exact) + 1


def test_a_sample_can_be_stratified_by_a_field_or_metadata_which_becomes_the_stratum() -> None:
    items = [
        item(number, metadata={"prompt": f"p{number % 2}"}, fields={"response": "x", "level": number % 4})
        for number in range(8)
    ]
    by_metadata = stage.choose(items, Sample(n=4, stratify="prompt"), None)
    assert Counter(each.stratum for each in by_metadata) == {"p0": 2, "p1": 2}
    by_field = stage.choose(items, Sample(n=4, stratify="level"), None)
    assert Counter(each.stratum for each in by_field) == {"0": 1, "1": 1, "2": 1, "3": 1}


def test_a_stratum_that_does_not_exist_is_named_with_what_there_is() -> None:
    with pytest.raises(JrhError, match="the items have no field 'promt'; they have prompt, request, response"):
        stage.choose([item(0, metadata={"prompt": "p"})], Sample(n=1, stratify="promt"), None)


def test_items_are_written_once_and_again_when_they_change(store: Store, stored: Any) -> None:
    items = {"t": (item(0), item(1, fields={"request": "\ud800", "response": "ü"}))}
    ids = store.items.write(items)
    assert ids == {"t": items_id(items["t"])}
    digest = store.items.digest()
    assert store.items.write(items) == ids
    assert stored(store, "SELECT task, position, id FROM items ORDER BY position") == [("t", 0, "i0"), ("t", 1, "i1")]
    changed = store.items.write({"t": (item(0, gold="YES"),)})
    assert changed != ids
    assert store.items.digest() != digest
    assert stored(store, "SELECT id FROM items") == [("i0",)]


def test_items_are_known_by_content_and_order() -> None:
    items = (item(0), item(1))
    others = [items[::-1], (item(0, gold="YES"), item(1)), (item(0),), (item(0), item(1, metadata={"a": 1}))]
    assert len({items_id(each) for each in (items, *others)}) == 5


def test_a_task_is_summed_up_in_the_order_of_its_scale() -> None:
    summary = stage.summarise(USE.task, [item(0, gold="NO"), item(1, gold="NO"), item(2, gold="YES"), item(3)])
    assert (summary.items, summary.labelled) == (4, 3)
    assert list(summary.gold.items()) == [("YES", 1), ("NO", 2)]


def test_every_task_reads_its_own_source_with_its_own_sample(lab: Any) -> None:
    task = {"scale": {"labels": ["YES", "NO"]}}
    builder = lab.builder(
        without=("data", "task"),
        tasks=[
            {"name": "a", "data": {"source": "given", "sample": {"n": 2, "seed": 1}}, "task": task},
            {"name": "b", "data": {"source": "given"}, "task": task},
        ],
    )
    items = stage.read(builder)
    assert {name: len(chosen) for name, chosen in items.items()} == {"a": 2, "b": 4}
