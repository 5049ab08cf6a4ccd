"""Test the contract of every data source."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from jrh.plugins.specs import DataSourceSpec, Spec
from jrh.values.items import Item

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.contracts.content import assert_json


class DataSourceContract(ComponentContract):
    """Contract tests for every data source; provide something to read in `files` and `options`."""

    role: ClassVar[type[Spec]] = DataSourceSpec

    def read(self, base: Path) -> list[Item]:
        """Build the source and read it once."""
        return list(self.built(base).read())

    def test_it_reads_items(self, base: Path) -> None:
        """If this fails: nothing was read, so nothing else is tested; set `files` and `options`."""
        items = self.read(base)
        assert items, "the source yields no item"
        strange = [item for item in items if not isinstance(item, Item)]
        assert not strange, f"the source yields {type(strange[0]).__name__}, not Item" if strange else ""

    def test_reading_twice_gives_the_same(self, base: Path) -> None:
        """If this fails: order or content depends on something other than the data and the options."""
        source = self.built(base)
        first = list(source.read())
        assert list(source.read()) == first, "the second read() differs; is a file or an iterator used up?"
        assert self.read(base) == first, "another source with the same options reads something else"

    def test_ids_are_distinct_texts(self, base: Path) -> None:
        """If this fails: give every item an id of its own, or raise `JrhError` with both places."""
        ids = [item.id for item in self.read(base)]
        assert all(isinstance(given, str) and given for given in ids), "an id is empty or not text"
        twice = sorted({given for given in ids if ids.count(given) > 1})
        assert not twice, f"ids occur more than once: {', '.join(twice)}"

    def test_items_have_the_fields_of_the_mode(self, base: Path) -> None:
        """If this fails: map the columns to `request` and the judged fields, or set `task` to the mode that is read."""
        needed = ("request", *self.tasks()[0].mode.judged_fields)
        for item in self.read(base):
            lacking = [name for name in needed if name not in item.fields]
            assert not lacking, f"item '{item.id}' has no field {', '.join(lacking)}"

    def test_labels_are_text_or_absent(self, base: Path) -> None:
        """If this fails: keep a label as the file has it, `001` and `NA` included; None means there is none."""
        for item in self.read(base):
            assert item.gold is None or isinstance(item.gold, str), f"item '{item.id}': gold is {item.gold!r}"
            assert item.gold != "", f"item '{item.id}': an absent label is None, not empty text"

    def test_values_can_be_stored(self, base: Path) -> None:
        """If this fails: turn numbers of other libraries, dates and NaN into JSON values."""
        for item in self.read(base):
            assert_json(item.fields, f"fields of item '{item.id}'")
            assert_json(item.metadata, f"metadata of item '{item.id}'")
