"""The sections of a report as the page and the notebook show them: tables of measures, heat maps, plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import evolve, frozen
from jrh import Measure, RunReport
from jrh.text import visible_line
from jrh.values import Cell as Content
from jrh.values import FindingRef, Importance, MeasureRef, TablePart, TextPart
from jrh.values import Part as Declared
from jrh.values import Section as Declaration
from jrh_measuring import (
    SIMULATED,
    CurvePart,
    HeatPart,
    Layer,
    MatrixPart,
    number_text,
    served_note,
    shade_class,
    shown_flags,
)
from markupsafe import Markup

from jrh_report.drawings import PANELS, draw_curves, draw_forest
from jrh_report.sections import MIXED, all_sections, limit_rows, mark_of, note_served

_DIGITS: Final = 3
_HEAT_DIGITS: Final = 2
_TASK: Final = "Task"
"""Heading of the column of a table about several tasks."""


@frozen(kw_only=True)
class Cell:
    """One measure as the page shows it."""

    measure: Measure
    place: int
    """Its place among the measures of `report.json`."""
    digits: int = _DIGITS
    shade: str = ""
    """Class of the colour; empty: none."""
    note: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the flags that are shown."""
        return shown_flags(self.measure)


@frozen(kw_only=True)
class Line:
    """What the line is about, and its measures."""

    heads: tuple[str, ...]
    cells: tuple[Cell | str | None, ...]
    mark: str = ""
    """Says where answers are made up; empty: nowhere."""
    note: str = ""


@frozen(kw_only=True)
class Table:
    """One table."""

    task: str
    caption: str
    matrix: bool
    heads: tuple[str, ...]
    """Headings of what the lines are about."""
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    more: int
    """Lines that are left out."""
    folded: bool
    served: str

    @property
    def mark(self) -> str:
        """Return the mark of measures about several judges where all lines have it: it is said once."""
        return MIXED if all(line.mark == MIXED for line in self.lines) else ""

    @property
    def has_notes(self) -> bool:
        """Tell whether any line has a note."""
        return any(line.note for line in self.lines)


@frozen(kw_only=True)
class Plot:
    """A figure; the tables next to it hold the same numbers."""

    name: str
    svg: Markup
    caption: str
    abreast: int = 0
    """Panels side by side, which tell how wide it is; 0: as wide as the page."""


@frozen(kw_only=True)
class Lens:
    """A heat map seen through one measure, and its intervals."""

    key: int
    """Place among the layers of the part that are drawn; buttons choose it."""
    name: str
    meaning: str
    diverging: bool
    tests: tuple[str, ...]
    table: Table
    forest: Plot | None


@frozen(kw_only=True)
class Part:
    """What a section shows of one task or judge."""

    task: str
    judge: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
    lenses: tuple[Lens, ...]


@frozen(kw_only=True)
class Section:
    """One section."""

    key: str
    title: str
    text: tuple[str, ...]
    importance: Importance
    parts: tuple[Part, ...]

    @property
    def flags(self) -> frozenset[str]:
        """Return the flags that occur."""
        tables = (table for part in self.parts for table in (*part.tables, *(lens.table for lens in part.lenses)))
        cells = (cell for table in tables for line in table.lines for cell in line.cells if isinstance(cell, Cell))
        return frozenset(flag for cell in cells for flag in cell.flags)

    @property
    def lenses(self) -> dict[int, Lens]:
        """Return the lenses that can be chosen, each once."""
        by_key = {lens.key: lens for part in reversed(self.parts) for lens in part.lenses}
        return {key: by_key[key] for key in sorted(by_key)}


def page_sections(report: RunReport) -> Iterator[Section]:
    """Yield the sections in their order; those of one declaration stand together, task by task."""
    by_name: dict[str, list[Declaration]] = {}
    for section in all_sections(report):
        # Sections of one name come task by task from their plugin, and the page has one heading for all of them.
        by_name.setdefault(section.name, []).append(section)
    for name, sections in by_name.items():
        text = dict.fromkeys(part.text for section in sections for part in section.parts if isinstance(part, TextPart))
        yield Section(
            key=f"section-{name}",
            title=sections[0].title,
            text=tuple(text),
            importance=sections[0].importance,
            parts=tuple(
                _part(report, part, f"{name}-{place}")
                for place, part in enumerate(part for section in sections for part in _by_task(section))
            ),
        )


def _by_task(section: Declaration) -> Iterator[Declaration]:
    """Yield a section about several tasks as what is common, and a table for each task: a reader chooses one task."""
    split = [part for part in section.parts if isinstance(part, TablePart) and _TASK in part.heads]
    if not split:
        yield section
        return
    yield evolve(section, parts=tuple(part for part in section.parts if part not in split))
    for task in dict.fromkeys(row.heads[part.heads.index(_TASK)] for part in split for row in part.rows):
        yield evolve(section, task=task, parts=tuple(_rows_of_task(part, task) for part in split))


def _rows_of_task(table: TablePart, task: str) -> TablePart:
    at = table.heads.index(_TASK)
    rows = tuple(evolve(row, heads=row.heads[:at] + row.heads[at + 1 :]) for row in table.rows if row.heads[at] == task)
    return evolve(table, heads=table.heads[:at] + table.heads[at + 1 :], rows=rows)


def _part(report: RunReport, section: Declaration, key: str) -> Part:
    heat = [part for part in section.parts if isinstance(part, HeatPart)]
    drawn_alone = [part for part in section.parts if not isinstance(part, HeatPart)]
    return Part(
        task=section.task,
        judge=section.judge,
        tables=tuple(
            # The script folds what is marked; without scripts, and on paper, everything is open.
            evolve(table, folded=section.importance is not Importance.FIRST)
            for part in drawn_alone
            for table in (_table(report, section.task, form, part) for form in part.tables())
        ),
        plots=tuple(
            _plot(report, section.task, part, f"{key}-{place}")
            for place, part in enumerate(drawn_alone)
            if isinstance(part, CurvePart)
        ),
        lenses=tuple(lens for part in heat for lens in _lenses(report, section.task, part, key)),
    )


def _plot(report: RunReport, task: str, part: CurvePart, key: str) -> Plot:
    name = f"{part.caption}, task {visible_line(task)}" if task else part.caption
    svg = draw_curves(report, part, key).markup(name, "The table below holds the same numbers.")
    count = len(part.panels)
    more = f" The first {PANELS} of {count} are drawn." if count > PANELS else ""
    return Plot(
        name=name,
        svg=trust_markup(svg),
        caption=f"{part.caption.rstrip('.')}.{more}",
        abreast=min(count, 2) + 1 if count > 1 else 0,
    )


def _lenses(report: RunReport, task: str, part: HeatPart, key: str) -> Iterator[Lens]:
    for place, layer in enumerate(layer for layer in part.layers if layer.drawn):
        name = visible_line(layer.heading)
        # A measure may not apply to some tests: an empty column would look like missing verdicts.
        shown = [at for at, _ in enumerate(part.columns) if any(row[at] for row in layer.cells)]
        tests = tuple(part.columns[at] for at in shown)
        # Not `capitalize`, which would lower the other letters: "JSS" is a name.
        caption = f"{name[:1].upper()}{name[1:]}: estimate, interval, items, missing verdicts"
        star = f". * {part.star}".rstrip(".") if part.starred else ""
        table = Table(
            task=task,
            caption=caption + star,
            matrix=False,
            heads=part.heads[:1],
            columns=tuple(f"{test} *" if test in part.starred else test for test in tests),
            lines=tuple(
                Line(
                    heads=(row,),
                    cells=tuple(_cells(report, (cells[at] for at in shown), _HEAT_DIGITS, layer)),
                    mark=SIMULATED if row in report.simulated else "",
                )
                for row, cells in zip(part.rows, layer.cells, strict=True)
                if any(cells)
            ),
            more=0,
            folded=False,
            served=served_note(report.served, part.rows),
        )
        yield Lens(
            key=place,
            name=caption.partition(":")[0],
            meaning=layer.meaning,
            diverging=layer.zero is not None,
            tests=tests,
            table=table,
            forest=_forest(report, task, part, layer, f"{key}-{place}"),
        )


def _forest(report: RunReport, task: str, part: HeatPart, layer: Layer, key: str) -> Plot | None:
    forest = draw_forest(report, part, layer, key)
    # Where nothing has an estimate there is no axis to draw.
    if forest is None:
        return None
    drawing, drawn, every = forest
    name = f"Forest plot: {visible_line(layer.heading)}{f', task {visible_line(task)}' if task else ''}"
    some = f" {drawn} of {every} estimates are drawn, those of the first judges; the table above has all of them."
    tests = f"every test of {task}" if task else "every test"
    caption = f"Estimate and interval of every judge in {tests}; each judge has its own marker."
    svg = drawing.markup(name, "Estimates and intervals, test by test; the table above holds the same numbers.")
    return Plot(name=name, svg=trust_markup(svg), caption=caption + (some if drawn < every else ""))


def trust_markup(text: str) -> Markup:
    """Mark a file of this package, or a drawing that a library serialised, as markup."""
    return Markup(text)  # noqa: S704 - nothing of a run is in it unescaped


def _table(report: RunReport, task: str, table: TablePart, part: Declared) -> Table:
    table, matrix = limit_rows(table), isinstance(part, MatrixPart)
    # A layer without `zero` colours proportions, which the cells of a matrix are.
    shares = Layer(heading="", meaning="", cells=()) if matrix else None
    return Table(
        task=task,
        caption=f"{table.caption.rstrip('.')}. {table.note}".rstrip(". ") if table.note else table.caption.rstrip("."),
        matrix=matrix,
        heads=table.heads,
        columns=tuple(column.heading for column in table.columns),
        lines=tuple(
            Line(
                heads=row.heads,
                cells=tuple(_cells(report, row.cells, _DIGITS, shares)),
                mark=mark_of(report, row),
                note=row.note,
            )
            for row in table.rows
        ),
        more=table.more,
        folded=table.folded,
        served=note_served(report, table),
    )


def _cells(
    report: RunReport, cells: Iterable[Content], digits: int, layer: Layer | None
) -> Iterator[Cell | str | None]:
    for cell in cells:
        if isinstance(cell, MeasureRef):
            measure = report.measures[cell.measure]
            yield Cell(
                measure=measure,
                place=cell.measure,
                digits=digits if cell.digits is None else cell.digits,
                shade="" if layer is None else shade_class(measure, layer.zero),
                note=cell.note,
            )
        elif isinstance(cell, FindingRef):
            yield report.findings[cell.finding].sentence
        else:
            yield number_text(cell, digits) if isinstance(cell, int | float) else cell
