"""The sections that plugins declare, as tables of text for formats that draw nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from attrs import frozen
from jrh import Measure, RunReport
from jrh.values import Cell, FindingRef, Importance, MeasureRef, Row, Section, TablePart, TextPart
from jrh_measuring import SIMULATED, format_measure

from jrh_report.tables import Table, judge_label

MIXED = "simulated judges among them"
"""The mark of a row about several judges, some of which are simulated."""


@frozen(kw_only=True)
class SectionText:
    """A section as sentences and tables."""

    title: str
    """With the task, where a report has several."""
    importance: Importance
    text: tuple[str, ...]
    tables: tuple[Table, ...]


def section_texts(report: RunReport, digits: int, *importance: Importance) -> Iterator[SectionText]:
    """Yield the sections of these levels of importance in their order; without levels, all."""
    for section in report.sections:
        if not importance or section.importance in importance:
            tables = tuple(
                _table(report, table, digits) for part in section.parts for table in part.tables() if table.rows
            )
            text = tuple(part.text for part in section.parts if isinstance(part, TextPart))
            yield SectionText(title=title(report, section), importance=section.importance, text=text, tables=tables)


def title(report: RunReport, section: Section) -> str:
    """Return the title with what the section is about: the judge, and the task if there are several."""
    task = section.task if len(report.tasks) > 1 else ""
    about = ", ".join(part for part in (section.judge and judge_label(report, section.judge), task) if part)
    return f"{section.title}: {about}" if about else section.title


def measures_of(report: RunReport, row: Row) -> list[Measure]:
    """Return the measures that a row refers to."""
    return [report.measures[cell.measure] for cell in row.cells if isinstance(cell, MeasureRef)]


Kind: TypeAlias = tuple[str, frozenset[str]]
"""The name of a measure, and the levels of its cell."""


def kind_of(measure: Measure) -> Kind:
    """Return the name of a measure and the levels of its cell."""
    return measure.name, frozenset(measure.cell)


def shown_kinds(report: RunReport) -> frozenset[Kind]:
    """Return the kinds of measures that any section shows."""
    tables = (table for section in report.sections for part in section.parts for table in part.tables())
    return frozenset(kind_of(each) for table in tables for row in table.rows for each in measures_of(report, row))


def mark_of(report: RunReport, row: Row) -> str:
    """Say whether a row rests on simulated judges: on such judges only, or some; empty: none, or its heads say it."""
    if any(head.endswith(f"({SIMULATED})") for head in row.heads):
        return ""
    flagged = [each for each in measures_of(report, row) if SIMULATED in each.flags or each.judge in report.simulated]
    if not flagged:
        return ""
    return SIMULATED if all(each.judge in report.simulated for each in flagged) else MIXED


def _table(report: RunReport, part: TablePart, digits: int) -> Table:
    noted = any(row.note for row in part.rows)
    more = f"{part.more:,} more are in report.json." if part.more else ""
    return Table(
        title=part.caption,
        columns=(*part.heads, *(column.heading for column in part.columns), *(("note",) if noted else ())),
        rows=tuple(
            (
                *_heads(report, row),
                *(_cell(report, cell, digits) for cell in row.cells),
                *((row.note,) if noted else ()),
            )
            for row in part.rows
        ),
        note=" ".join(text for text in (part.note, more) if text),
    )


def _heads(report: RunReport, row: Row) -> tuple[str, ...]:
    mark = mark_of(report, row)
    return (f"{row.heads[0]} ({mark})", *row.heads[1:]) if mark and row.heads else row.heads


def _cell(report: RunReport, cell: Cell, digits: int) -> str:
    if isinstance(cell, MeasureRef):
        return format_measure(report.measures[cell.measure], digits if cell.digits is None else cell.digits)
    if isinstance(cell, FindingRef):
        return report.findings[cell.finding].sentence
    return cell or ""
