"""The sections of a report, which plugins declare: built, checked, and put in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from jrh.document.convert import to_text
from jrh.errors import RAISED
from jrh.plugins.protocols import Logger
from jrh.plugins.registry import Entry
from jrh.plugins.specs import SectionSpec
from jrh.running.building import Builder
from jrh.text.redact import error_line
from jrh.values.report import RunReport
from jrh.values.sections import Cell, FindingRef, Importance, MeasureRef, Section

_ORDER: Final = tuple(Importance)


def with_sections(report: RunReport, builder: Builder, log: Logger) -> RunReport:
    """Return the report with the sections of all loaded plugins; one that breaks is a note."""
    sections: list[Section] = []
    notes: list[str] = []
    for entry in sorted(builder.plugins.sections, key=lambda each: each.spec.order):
        try:
            sections += _sections(entry, report, builder)
        except RAISED as error:  # one section must not cost the others
            log.warning("section raised", section=entry.spec.name, error=repr(error))
            notes.append(f"section '{entry.spec.name}' could not be written: {error_line(error)}")
    sections.sort(key=lambda section: _ORDER.index(section.importance))
    return evolve(
        report,
        sections=tuple(sections),
        notes=(*report.notes, *notes),
        warnings=(*report.warnings, *notes),
    )


def _sections(entry: Entry[SectionSpec], report: RunReport, builder: Builder) -> Iterator[Section]:
    for section in builder.nested(entry, None).sections(report):
        if not isinstance(section, Section):
            raise TypeError(f"it yields {type(section).__name__}, not Section")
        check_section(section, report)
        if section.parts:
            yield evolve(section, name=entry.spec.name, title=entry.spec.title)


def check_section(section: Section, report: RunReport) -> None:
    """Refuse a section that no report could hold, or that refers to what the report does not have.

    Raises:
        TypeError: a value is no text.
        ValueError: a reference leads nowhere.
    """
    for part in section.parts:
        for table in part.tables():
            _check((cell for row in table.rows for cell in row.cells), report)
    to_text(section)


def _check(cells: Iterator[Cell], report: RunReport) -> None:
    """Refuse references to what the report does not have."""
    for cell in cells:
        if isinstance(cell, MeasureRef) and not 0 <= cell.measure < len(report.measures):
            raise ValueError(f"it refers to measure {cell.measure}; the report has {len(report.measures)}")
        if isinstance(cell, FindingRef) and not 0 <= cell.finding < len(report.findings):
            raise ValueError(f"it refers to finding {cell.finding}; the report has {len(report.findings)}")
