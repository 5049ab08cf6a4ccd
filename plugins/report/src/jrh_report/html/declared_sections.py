"""The sections that plugins declare, as the page and the notebook show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jrh.values import Cell as Content
from jrh.values import FindingRef, Importance, MatrixPart, MeasureRef, Section, TablePart, TextPart
from jrh.values import Part as Declared

from jrh_report.html.found import Cell, Found, sequential
from jrh_report.html.listing import Column, Line, Table
from jrh_report.html.section import Part
from jrh_report.html.section import Section as Shown
from jrh_report.sections import mark_of

_DIGITS = 3


def declared_sections(found: Found) -> Iterator[Shown]:
    """Yield the sections in their order; those of one declaration stand together, task by task."""
    by_name: dict[str, list[Section]] = {}
    for section in found.report.sections:
        by_name.setdefault(section.name, []).append(section)
    for name, sections in by_name.items():
        text = dict.fromkeys(part.text for each in sections for part in each.parts if isinstance(part, TextPart))
        yield Shown(
            key=f"section-{name}",
            name=sections[0].title,
            title=sections[0].title,
            text=tuple(text),
            importance=sections[0].importance,
            folds=sections[0].importance is not Importance.FIRST,
            parts=tuple(_part(found, each) for each in sections),
        )


def _part(found: Found, section: Section) -> Part:
    tables = tuple(_tables(found, section))
    return Part(
        task=section.task,
        judge=section.judge,
        tables=tuple(table for table, folded in tables if not folded),
        folded=tuple(table for table, folded in tables if folded),
    )


def _tables(found: Found, section: Section) -> Iterator[tuple[Table, bool]]:
    for part in section.parts:
        for table in part.tables():
            yield _table(found, section.task, table, part), table.folded


def _table(found: Found, task: str, table: TablePart, part: Declared) -> Table:
    return Table(
        task=task,
        caption=f"{table.caption.rstrip('.')}. {table.note}".removesuffix(". ") if table.note else table.caption,
        heads=table.heads,
        columns=tuple(Column(name=each.measure, heading=each.heading) for each in table.columns),
        lines=tuple(
            Line(
                heads=row.heads,
                cells=tuple(_cells(found, row.cells, shaded=isinstance(part, MatrixPart))),
                mark=mark_of(found.report, row),
                note=row.note,
            )
            for row in table.rows
        ),
        more=table.more,
    )


def _cells(found: Found, cells: Iterable[Content], *, shaded: bool) -> Iterator[Cell | str | None]:
    for cell in cells:
        if isinstance(cell, MeasureRef):
            measure = found.report.measures[cell.measure]
            shade = sequential(measure) if shaded else ""
            yield found.cell(measure, _DIGITS if cell.digits is None else cell.digits, shade)
        elif isinstance(cell, FindingRef):
            yield found.report.findings[cell.finding].sentence
        else:
            yield cell
