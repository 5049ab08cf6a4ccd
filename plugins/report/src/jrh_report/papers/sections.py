"""The tables of sections that have a file, and their heat maps as tables of judges by tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from attrs import evolve
from jrh import Measure, RunReport
from jrh.values import Cell as Content
from jrh.values import Column, FindingRef, MeasureRef, Row, Section, TablePart
from jrh_measuring import HeatPart, Layer, better_values, mark_simulated

from jrh_report.papers.sheet import Cell, Sheet
from jrh_report.pictures import end_of

Variants: TypeAlias = Mapping[tuple[str, str, str, str, str], int]
"""(measure, task, judge, test, variant) -> its place."""


def with_sizes(report: RunReport, variants: Literal["pooled", "apart"]) -> RunReport:
    """Return the report with what heat maps show first and its number of trials in the headings, as papers have it.

    Args:
        report: the run.
        variants: `apart`: one column for each variant of a test that is measured by variant.
    """
    apart = {
        (measure.name, measure.task, measure.judge, measure.test, measure.cell["variant"]): place
        for place, measure in enumerate(report.measures)
        if variants == "apart" and set(measure.cell) == {"variant"}
    }
    sections = []
    for section in report.sections:
        parts = (
            _heat_with_sizes(report, part, apart) if isinstance(part, HeatPart) else part for part in section.parts
        )
        sections.append(evolve(section, parts=tuple(part for part in parts if part is not None)))
    return evolve(report, sections=tuple(sections))


def _heat_with_sizes(report: RunReport, part: HeatPart, apart: Variants) -> HeatPart | None:
    """Return the first layer with sizes in the headings; None where no trial of it is measured."""
    columns = [
        column
        for place, name in enumerate(part.columns)
        for column in _columns(report, name, [row[place] for row in part.layers[0].cells], apart)
    ]
    shown = [(heading, cells) for heading, cells in columns if any(cells)]
    measures = (measure for _, cells in shown for measure in _measures(report, cells))
    if not part.layers[0].drawn or not any(measure.n_trials for measure in measures):
        return None
    layer = evolve(part.layers[0], cells=tuple(zip(*(cells for _, cells in shown), strict=True)))
    return evolve(part, columns=tuple(_with_n(report, heading, cells) for heading, cells in shown), layers=(layer,))


def _columns(
    report: RunReport, name: str, cells: list[Content], apart: Variants
) -> Iterator[tuple[str, list[Content]]]:
    """Yield heading and cells of a column, or of its variants."""
    tests = {(cell.name, cell.task, cell.judge, cell.test) for cell in _measures(report, cells)}
    variants = sorted({key[-1] for key in apart if key[:-1] in tests})
    if not variants:
        yield name, cells
    for variant in variants:
        places: list[Content] = []
        for cell in cells:
            of = report.measures[cell.measure] if isinstance(cell, MeasureRef) else None
            place = None if of is None else apart.get((of.name, of.task, of.judge, of.test, variant))
            places.append(None if place is None else MeasureRef(measure=place))
        yield f"{name}: {variant}", places


def _measures(report: RunReport, cells: list[Content]) -> Iterator[Measure]:
    return (report.measures[cell.measure] for cell in cells if isinstance(cell, MeasureRef))


def _with_n(report: RunReport, heading: str, cells: list[Content]) -> str:
    sizes = sorted({measure.n_items for measure in _measures(report, cells) if measure.judge})
    # Measures over several judges have no size of one judge.
    if not sizes:
        return heading
    return f"{heading} (N={sizes[0]:,})" if len(sizes) == 1 else f"{heading} (N={sizes[0]:,} to {sizes[-1]:,})"


def sheets(report: RunReport) -> Iterator[Sheet]:
    """Yield the tables, section by section; those that show no trial and say nothing else are left out."""
    for section in report.sections:
        end = end_of(report, section.task)
        for part in section.parts:
            # Papers print judges by tests; the table form of a heat map has a row for each pair.
            tables = [_grid(section, part)] if isinstance(part, HeatPart) else [*part.tables()]
            for table in tables:
                if table.file and table.rows:
                    sheet = _sheet(report, table, section.task if end else "", f"{table.file}{end}")
                    cells = [cell for row in sheet.rows for cell in row[len(table.heads) :] if cell is not None]
                    if any(not isinstance(cell, Measure) or cell.n_trials or cell.missing for cell in cells):
                        yield sheet


def _grid(section: Section, part: HeatPart) -> TablePart:
    """Return the first layer as a table."""
    layer: Layer = part.layers[0]
    return TablePart(
        caption=f"{part.caption}: {layer.heading}",
        heads=part.heads[:1],
        columns=tuple(Column(heading=column) for column in part.columns),
        rows=tuple(Row(heads=(row,), cells=cells) for row, cells in zip(part.rows, layer.cells, strict=True)),
        note=f"{layer.heading[:1].upper()}{layer.heading[1:]}: {layer.meaning}. N: items of a judge.",
        file=section.name,
    )


def _sheet(report: RunReport, table: TablePart, task: str, name: str) -> Sheet:
    heads = (f"{head[:1].lower()}{head[1:]}" for head in table.heads)
    return Sheet(
        name=name,
        title=f"{table.caption}, task {task}" if task else table.caption,
        columns=(*heads, *(column.heading for column in table.columns)),
        rows=tuple(
            (*(mark_simulated(report, head) for head in row.heads), *(_cell(report, cell) for cell in row.cells))
            for row in table.rows
        ),
        note=table.note,
        heads=len(table.heads),
        # Among tests or panels, the highest number is no better one.
        better=better_values() if table.heads[:1] == ("Judge",) else {},
    )


def _cell(report: RunReport, cell: Content) -> Cell:
    if isinstance(cell, MeasureRef):
        return report.measures[cell.measure]
    return report.findings[cell.finding].sentence if isinstance(cell, FindingRef) else cell
