"""What sections of reports are made of: kinds of parts that may be drawn, and tables of measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen
from jrh import Measure, RunReport
from jrh.values import Cell, Column, Importance, MeasureRef, Part, Row, Section, TablePart, TextPart

from jrh_measuring.numbers import is_estimable

SHADES: Final = 9
"""Colours of a scale; pages, plots and style sheets have as many."""


@frozen(kw_only=True)
class MatrixPart:
    """A table whose cells are shaded by their proportion."""

    kind: Literal["matrix"] = "matrix"
    caption: str
    head: str
    """Heading of the rows' names."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    """With one head each."""
    folded: bool = False

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form."""
        yield TablePart(
            caption=self.caption, heads=(self.head,), columns=self.columns, rows=self.rows, folded=self.folded
        )


@frozen(kw_only=True)
class Layer:
    """One measure of a heat map."""

    heading: str
    meaning: str
    """What it is, in half a sentence."""
    cells: tuple[tuple[Cell, ...], ...]
    """Row by row, a cell for each column."""
    zero: float | None = None
    """The value of no effect, about which the colours diverge; None: the values are shares."""
    tabled: bool = True
    """It is a column of the table form."""
    drawn: bool = True
    """It is drawn where a format can draw."""


def shade_step(measure: Measure, zero: float | None) -> int | None:
    """Return the colour of a measure, from 0 to `SHADES` - 1; None if it has no estimate.

    Args:
        measure: the measure.
        zero: `Layer.zero`; the scale of differences ends 0.5 below and above it.
    """
    if measure.estimate is None or not is_estimable(measure):
        return None
    share = measure.estimate if zero is None else measure.estimate - zero + 0.5
    # A share of exactly 1 would be a shade too many, and differences may lie outside of the scale.
    return min(max(int(share * SHADES), 0), SHADES - 1)


def shade_class(measure: Measure, zero: float | None) -> str:
    """Return the class of a colour: `s0` for a share, `d0` for a difference, `none` without an estimate."""
    step = shade_step(measure, zero)
    return "none" if step is None else f"{'s' if zero is None else 'd'}{step}"


def _check_layers(part: HeatPart, _attribute: object, layers: tuple[Layer, ...]) -> None:
    """Refuse a heat map without a layer, and layers of another shape than its rows and columns."""
    shape = [len(part.columns)] * len(part.rows)
    # Found where the section is made: a reporter could only show cells in wrong places.
    if not layers or any(list(map(len, layer.cells)) != shape for layer in layers):
        raise ValueError(f"heat map '{part.caption}': it needs layers with a cell for each row and column")


@frozen(kw_only=True)
class HeatPart:
    """Measures of judges in tests: a table shaded by one measure at a time, and intervals side by side."""

    kind: Literal["heat"] = "heat"
    caption: str
    heads: tuple[str, str] = ("Judge", "Test")
    """What the rows and the columns are."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    layers: tuple[Layer, ...] = field(validator=_check_layers)
    """The first one is what the others explain."""
    starred: tuple[str, ...] = ()
    """Columns with a mark."""
    star: str = ""
    """What the mark means, in a sentence."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form: a row for each row and column, a column for each layer."""
        layers = [layer for layer in self.layers if layer.tabled]
        yield TablePart(
            caption=self.caption,
            heads=self.heads,
            columns=tuple(Column(heading=layer.heading) for layer in layers),
            rows=tuple(
                Row(heads=(row, column), cells=cells)
                for down, row in enumerate(self.rows)
                for across, column in enumerate(self.columns)
                # A judge that was not asked a test has no row in the table, though it has an empty cell in the map.
                if any(cells := tuple(layer.cells[down][across] for layer in layers))
            ),
            note=" ".join(f"{layer.heading}: {layer.meaning}." for layer in layers),
        )


@frozen(kw_only=True)
class Spot:
    """A measure in a plot, drawn upwards with its interval."""

    at: float
    """Its place on the horizontal axis."""
    measure: int
    """Its place among the report's measures."""
    name: str = ""
    """Shown in the table form."""


@frozen(kw_only=True)
class Series:
    """Spots that belong together."""

    name: str
    spots: tuple[Spot, ...]
    line: tuple[tuple[float, float], ...] = ()
    """A fitted line; empty: the spots are joined."""
    threshold: tuple[int, float] | None = None
    """A measure on the horizontal axis, and the height at which it is drawn."""


@frozen(kw_only=True)
class Panel:
    """One plot of several."""

    heading: str
    series: tuple[Series, ...]


def _check_panels(part: CurvePart, _attribute: object, panels: tuple[Panel, ...]) -> None:
    """Refuse panels without a spot and without a guide: they have no axis."""
    spots = (any(series.spots for series in panel.series) for panel in panels)
    # The range of an axis comes from the spots or the guide.
    if not panels or not (part.guide or all(spots)):
        raise ValueError(f"curves '{part.caption}': there has to be a panel, and in each of them a spot")


@frozen(kw_only=True)
class CurvePart:
    """Measures against numbers, panel by panel; a series of a single spot is labelled where it is."""

    kind: Literal["curve", "plane"] = "curve"
    caption: str
    heading: str
    """What the panels are."""
    names: str = ""
    """What the names of spots are; empty: they have none."""
    across: str
    """The horizontal axis."""
    up: str
    """The vertical axis."""
    panels: tuple[Panel, ...] = field(validator=_check_panels)
    logarithmic: bool = False
    guide: tuple[tuple[float, float], ...] = ()
    """A dashed line to compare with."""
    folded: bool = True
    """Its table form is opened on demand."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form: a row for each spot."""
        several = any(len(panel.series) > 1 for panel in self.panels)
        yield TablePart(
            caption=self.caption,
            heads=(self.heading, *(("",) if several else ()), *((self.names,) if self.names else ()), self.across),
            columns=(Column(heading=self.up),),
            rows=tuple(
                Row(
                    heads=(
                        panel.heading,
                        *((series.name,) if several else ()),
                        *((spot.name,) if self.names else ()),
                        f"{spot.at:.4g}",
                    ),
                    cells=(MeasureRef(measure=spot.measure),),
                )
                for panel in self.panels
                for series in panel.series
                for spot in series.spots
            ),
            folded=self.folded,
        )


_Places: TypeAlias = Mapping[str, tuple[int, Measure]]
"""Name of a measure -> its place in the report, and the measure."""
ROWS: Final = 150
"""Rows of a table that documents show; the others are counted."""
NO_TEST: Final = "all tests of the kind"
"""The test of a measure over several tests."""


@frozen(kw_only=True, eq=False)
class ReportMeasures:
    """The measures of a report with their places, by task and name."""

    report: RunReport
    by_name: Mapping[tuple[str, str], tuple[tuple[int, Measure], ...]]
    """(task, name) -> places and measures, in the order of the report."""

    @classmethod
    def of(cls, report: RunReport) -> ReportMeasures:
        """Sort the measures of a report."""
        # Tables look measures up by task and name, many times for each section.
        by_name: dict[tuple[str, str], list[tuple[int, Measure]]] = {}
        for place, measure in enumerate(report.measures):
            by_name.setdefault((measure.task, measure.name), []).append((place, measure))
        return cls(report=report, by_name={key: tuple(group) for key, group in by_name.items()})

    def select(self, task: str, name: str, *levels: str) -> Iterator[tuple[int, Measure]]:
        """Yield places and measures whose cell has exactly these levels; without levels, those of whole tests."""
        for place, measure in self.by_name.get((task, name), ()):
            if set(measure.cell) == set(levels):
                yield place, measure

    def whole(self, task: str, name: str, judge: str, test: str) -> tuple[int, Measure] | None:
        """Return the place and the measure of a whole test."""
        keys = self.select(task, name)
        return next((entry for entry in keys if (entry[1].judge, entry[1].test) == (judge, test)), None)


@frozen(kw_only=True)
class MeasureTable:
    """A table of related measures: one column each; columns and rows without any are left out."""

    caption: str
    columns: Mapping[str, str]
    """Name of a measure -> heading of its column."""
    levels: Mapping[str, str] = field(factory=dict)
    """Levels of the cells that it shows -> heading of their column; none: whole tests."""
    panel: bool = False
    """It shows measures about no single judge; otherwise those of each judge."""
    notes: bool = False
    """Rows have the note of their first measure that has one."""
    note: str = ""
    """What has to be known to read it."""
    digits: int | None = None
    folded: bool = False
    file: str = ""
    """Name of its file (`TablePart.file`)."""

    def part(self, measures: ReportMeasures, task: str) -> TablePart | None:
        """Return the table of a task; None where the task has none of the measures."""
        rows: dict[tuple[str, ...], dict[str, tuple[int, Measure]]] = {}
        for name in self.columns:
            for place, measure in measures.select(task, name, *self.levels):
                # A mean over all judges in a table of judges would read as one more judge.
                if bool(measure.judge) == self.panel:
                    continue
                key = measure.judge, measure.test, *(measure.cell[level] for level in self.levels)
                rows.setdefault(key, {}).setdefault(name, (place, measure))
        if not rows:
            return None
        # In the order of the suite, which readers know, not in that of the names.
        report = measures.report
        keys = sorted(rows, key=lambda key: (_place(key[0], report.judges), _place(key[1], report.tests)))
        used = [name for name in self.columns if any(name in row for row in rows.values())]
        shown = [place for place, _ in enumerate(("Judge", "Test")) if any(key[place] for key in keys)]
        heads = (*(("Judge", "Test")[place] for place in shown), *self.levels.values())
        return TablePart(
            caption=self.caption,
            heads=heads or ("",),
            columns=tuple(Column(heading=self.columns[name], measure=name) for name in used),
            rows=tuple(self._row(key, shown, used, rows[key]) for key in keys),
            note=self.note,
            folded=self.folded,
            shown=ROWS,
            file=self.file,
        )

    def _row(self, key: Sequence[str], shown: Sequence[int], used: Sequence[str], row: _Places) -> Row:
        names = key[0] or "all judges", key[1] or NO_TEST
        return Row(
            heads=(*(names[place] for place in shown), *key[2:]) or ("",),
            cells=tuple(MeasureRef(measure=row[name][0], digits=self.digits) if name in row else None for name in used),
            note=next((measure.note for _, measure in row.values() if self.notes and measure.note), ""),
        )


TaskPart: TypeAlias = Callable[[ReportMeasures, str], Part | None]
"""Makes the part of a section about a task; None where there is nothing to show."""


@frozen(kw_only=True)
class MeasureTables:
    """A section for each task that has any of the measures: sentences, then tables and other parts."""

    tables: tuple[MeasureTable | TaskPart, ...]
    text: str = ""
    """How to read the tables; paragraphs have blank lines between them."""
    importance: Importance = Importance.MAIN

    @classmethod
    def of_table(cls, caption: str, columns: Mapping[str, str], text: str = "", **fields: Any) -> MeasureTables:
        """Build the sections of a single table; `fields` are further ones of `MeasureTable`."""
        return cls(text=text, tables=(MeasureTable(caption=caption, columns=columns, **fields),))

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the sections of the tasks, in the order of the report."""
        measures = ReportMeasures.of(report)
        for summary in report.tasks:
            task = summary.task.name
            makers = (table.part if isinstance(table, MeasureTable) else table for table in self.tables)
            yield section_of_task(task, self.text, (make(measures, task) for make in makers), self.importance)


def section_of_task(
    task: str, text: str, parts: Iterable[Part | None], importance: Importance = Importance.MAIN
) -> Section:
    """Return the section of a task: sentences, then the parts that are there and no empty table."""
    shown = [part for part in parts if part is not None and (not isinstance(part, TablePart) or part.rows)]
    # No explanation of a table that is not there: an empty section is left out.
    paragraphs = [TextPart(text=paragraph) for paragraph in text.split("\n\n")] if shown and text else []
    return Section(task=task, importance=importance, parts=(*paragraphs, *shown))


def mark_simulated(report: RunReport, judge: str) -> str:
    """Name a judge, with a mark where its answers are made up: a table must not read as a result about a model."""
    return f"{judge} (simulated)" if judge in report.simulated else judge


def _place(name: str, names: Sequence[str]) -> int:
    """Return the place of a name, that of the empty one first, of unknown ones last."""
    return names.index(name) if name in names else len(names) if name else -1
