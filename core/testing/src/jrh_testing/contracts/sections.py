"""Test the contract of every section."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from jrh.plugins.specs import MeasureInfo, SectionSpec, Spec
from jrh.running.reporters import check_section
from jrh.values.report import RunReport
from jrh.values.sections import MeasureRef, Section, TablePart, TextPart

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import empty_report, hostile_report, sample_report
from jrh_testing.samples import sample_tasks


class SectionContract(ComponentContract):
    """Contract tests for every section, on runs with its measures and without."""

    role: ClassVar[type[Spec]] = SectionSpec
    reports: ClassVar[tuple[RunReport, ...]] = ()
    """Reports that have what the section shows; at least one."""

    def sections(self, base: Path, report: RunReport) -> list[Section]:
        """Build the section's writer and return what it shows of a report."""
        return [section for section in self.build_component(base).sections(report) if section.parts]

    def test_it_shows_something(self, base: Path) -> None:
        """If this fails: nothing else is tested; give `reports` with the measures that the section reads."""
        assert self.reports, "say `reports`"
        for report in self.reports:
            assert self.sections(base, report), f"nothing of '{report.suite}' is shown"

    def test_references_hold_in_every_report(self, base: Path) -> None:
        """If this fails: a cell refers to a measure or finding that the report does not have, or a value is no text."""
        # Reports that were not made for the section: most runs lack what it shows.
        samples = (empty_report(), hostile_report(), *map(sample_report, sample_tasks()))
        for report in (*self.reports, *samples):
            for section in self.sections(base, report):
                check_section(section, report)

    def test_the_same_report_gives_the_same_sections(self, base: Path) -> None:
        """If this fails: a clock, a set or something random decides what is shown."""
        for report in self.reports:
            assert self.sections(base, report) == self.sections(base, report)

    def test_it_has_parts_of_the_kinds_that_it_declares(self, base: Path) -> None:
        """If this fails: name the kinds of its parts in `kinds`; the JSON Schema of results describes no others."""
        kinds = {TablePart, TextPart, *self.spec.part_kinds()}
        for report in self.reports:
            parts = [part for section in self.sections(base, report) for part in section.parts]
            assert {type(part) for part in parts} <= kinds

    def test_it_shows_what_it_declares_to_read(self, base: Path) -> None:
        """If this fails: name every measure that the section shows in `reads`."""
        reads = [MeasureInfo(name=name, formula="") for name in self.spec.reads]
        for report in self.reports:
            tables = [
                table for section in self.sections(base, report) for part in section.parts for table in part.tables()
            ]
            cells = [cell for table in tables for row in table.rows for cell in row.cells]
            # A cell refers to a measure by its place in the report.
            shown = {report.measures[cell.measure].name for cell in cells if isinstance(cell, MeasureRef)}
            unread = sorted(name for name in shown if not any(info.describes(name) for info in reads))
            assert not unread, f"not in `reads`: {', '.join(unread)}"
