"""Test the contracts of what reads data: data sources and importers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from jrh import DataSourceSpec, Item, JrhError, Status
from jrh.plugins import ImporterSpec
from jrh.plugins.specs import Spec
from jrh.values import ImportedLog
from jrh_interchange import import_records

from jrh_testing.contracts.base import ComponentContract, assert_json


class DataSourceContract(ComponentContract):
    """Contract tests for every data source; provide something to read in `files` and `options`."""

    role: ClassVar[type[Spec]] = DataSourceSpec

    def read(self, base: Path) -> list[Item]:
        """Build the source and read it once."""
        return list(self.build_component(base).read())

    def test_it_reads_items(self, base: Path) -> None:
        """If this fails: nothing was read, so nothing else is tested; set `files` and `options`."""
        items = self.read(base)
        assert items, "the source yields no item"
        strange = [item for item in items if not isinstance(item, Item)]
        assert not strange, f"the source yields {type(strange[0]).__name__}, not Item" if strange else ""

    def test_reading_twice_gives_the_same(self, base: Path) -> None:
        """If this fails: order or content depends on something other than the data and the options."""
        # The same object twice, and a new one: an iterator that is used up shows only in the first case.
        source = self.build_component(base)
        first = list(source.read())
        assert list(source.read()) == first, "the second read() differs; is a file or an iterator used up?"
        assert self.read(base) == first, "another source with the same options reads something else"

    def test_ids_are_distinct_texts(self, base: Path) -> None:
        """If this fails: give every item an id of its own, or raise `JrhError` with both places."""
        ids = [item.id for item in self.read(base)]
        assert all(isinstance(item_id, str) and item_id for item_id in ids), "an id is empty or not text"
        twice = sorted({item_id for item_id in ids if ids.count(item_id) > 1})
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
            # Empty text would be a label of its own, off every scale.
            assert item.gold != "", f"item '{item.id}': an absent label is None, not empty text"

    def test_values_can_be_stored(self, base: Path) -> None:
        """If this fails: turn numbers of other libraries, dates and NaN into JSON values."""
        for item in self.read(base):
            assert_json(item.fields, f"fields of item '{item.id}'")
            assert_json(item.metadata, f"metadata of item '{item.id}'")


class ImporterContract(ComponentContract):
    """Contract tests for every importer, on an export of its tool and on other files."""

    role: ClassVar[type[Spec]] = ImporterSpec
    export: ClassVar[str]
    """Name of the export among `files`, or a folder that holds some of them."""
    missing: ClassVar[int] = 0
    """How many verdicts of the export are missing; let some be."""

    def read(self, base: Path) -> ImportedLog:
        """Build the importer and read the export."""
        log = self.build_component(base).read(base / self.export)
        assert isinstance(log, ImportedLog), f"read() returns {type(log).__name__}"
        return log

    def test_an_export_becomes_a_run(self, base: Path) -> None:
        """If this fails: make records with `imported_record`, of the tasks that are returned."""
        log = self.read(base)
        assert log.records, "the export has no records"
        # As `jrh import` does: tasks, labels and origins are checked against each other there.
        count = import_records(
            base / "imported", "export", log.tasks, log.records, origins=log.origins, items=log.items
        )
        assert count == len(log.records)

    def test_reading_twice_gives_the_same(self, base: Path) -> None:
        """If this fails: something random, or the state of the last call, is in the records."""
        assert self.read(base) == self.read(base)

    def test_a_missing_verdict_is_a_status(self, base: Path) -> None:
        """If this fails: a failed grade has become a label, or a record without a label has no reason."""
        lost = [record for record in self.read(base).records if record.canonical is None]
        assert len(lost) == self.missing, f"{len(lost)} verdicts are missing, not {self.missing}"
        assert all(record.status is not Status.OK for record in lost), "a missing verdict has the status ok"

    def test_every_record_has_its_place(self, base: Path) -> None:
        """If this fails: give `origins`, one for each record, or none."""
        log = self.read(base)
        assert len(log.origins) in (0, len(log.records)), "the number of origins differs from that of records"

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[1, 2]", b"{}", b"\xff\xfe\x00", b"SQLite format 3\0", b"[" * 90_000]
    )
    def test_a_file_of_something_else_is_an_error(self, base: Path, content: bytes) -> None:
        """If this fails: raise a `JrhError` that names the file, whatever is in it."""
        # With the ending of a real export: an importer may choose its reader by it.
        wrong = base / f"wrong{Path(self.export).suffix}"
        wrong.write_bytes(content)
        with pytest.raises(JrhError, match="wrong"):
            self.build_component(base).read(wrong)

    def test_a_file_that_is_not_there_is_an_error(self, base: Path) -> None:
        """If this fails: raise a `JrhError` that names the file."""
        with pytest.raises(JrhError, match="absent"):
            self.build_component(base).read(base / "absent.json")
