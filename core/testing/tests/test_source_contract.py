"""The data source contract fails on a planted mistake of every kind."""

from __future__ import annotations

import itertools
import json

import pytest
from attrs import evolve
from jrh import DataSourceSpec, Item
from jrh_testing import DataSourceContract, sample_items
from jrh_testing.contracts.base import ComponentContract


class Lines:
    """A sound source: one JSON object per line."""

    def __init__(self, base):
        self.base = base

    def read(self):
        return self.change(list(self.items()))

    def items(self):
        for line in (self.base / "items.jsonl").read_text().splitlines():
            row = json.loads(line)
            yield Item(id=row["id"], fields={"request": row["q"], "response": row["a"]}, gold=row.get("gold"))

    def change(self, items):
        return items


FILES = {"items.jsonl": '{"id": "001", "q": "2+2", "a": "4", "gold": "NA"}\n{"id": "002", "q": "2+2", "a": "5"}\n'}


class Nothing(Lines):
    def change(self, items):
        return []


class UsedUp(Lines):
    def __init__(self, base):
        super().__init__(base)
        self.rest = None

    def read(self):
        self.rest = self.rest or iter(list(self.items()))
        return self.rest


class Drawing(Lines):
    counter = itertools.count()

    def change(self, items):
        return [evolve(item, metadata={"read": next(self.counter)}) for item in items]


class SameIds(Lines):
    def change(self, items):
        return [evolve(item, id="1") for item in items]


class NumberIds(Lines):
    def change(self, items):
        return [evolve(item, id=int(item.id)) for item in items]


class NoResponse(Lines):
    def change(self, items):
        return [evolve(item, fields={"request": "2+2"}) for item in items]


class EmptyLabel(Lines):
    def change(self, items):
        return [evolve(item, gold="") for item in items]


class NumberLabel(Lines):
    def change(self, items):
        return [evolve(item, gold=1) for item in items]


class NotANumber(Lines):
    def change(self, items):
        return [evolve(item, metadata={"score": float("nan")}) for item in items]


PLANTED = {
    Nothing: "test_it_reads_items",
    UsedUp: "test_reading_twice_gives_the_same",
    Drawing: "test_reading_twice_gives_the_same",
    SameIds: "test_ids_are_distinct_texts",
    NumberIds: "test_ids_are_distinct_texts",
    NoResponse: "test_items_have_the_fields_of_the_mode",
    EmptyLabel: "test_labels_are_text_or_absent",
    NumberLabel: "test_labels_are_text_or_absent",
    NotANumber: "test_values_can_be_stored",
}


def spec(cls):
    return DataSourceSpec(name="planted", summary="planted", factory=lambda options, context: cls(context.base))


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test_and_no_other(failing, cls):
    found = failing(DataSourceContract, "jrh_data_sources", spec(cls), files=FILES)
    # NaN is not equal to itself, so reading twice differs as well.
    allowed = {NotANumber: ["test_reading_twice_gives_the_same"]}.get(cls, [])
    assert [name for name in found if name not in allowed] == [PLANTED[cls]]


def test_a_sound_source_passes_everything(failing):
    assert failing(DataSourceContract, "jrh_data_sources", spec(Lines), files=FILES) == []


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(DataSourceContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) == own


def test_the_sample_items_have_what_the_contract_asks_for():
    ids = [item.id for item in sample_items()]
    assert len(ids) == len(set(ids)) == 6
    assert {"request", "response"} == set(sample_items()[0].fields)
