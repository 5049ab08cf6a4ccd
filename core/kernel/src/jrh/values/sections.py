"""Sections of a report as plain data: what a plugin shows, before a reporter formats it.

A part holds no markup and no formatted number: numbers are references to measures. Every kind of part has a table form
(`tables`), so that a reporter which draws nothing shows every section.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Literal, TypeAlias

from attrs import frozen


class Importance(Enum):
    """How early a report shows a section, and how soon a short one leaves it out."""

    FIRST = "first"
    """The shortest outputs show it, too."""
    MAIN = "main"
    DETAIL = "detail"
    """Folded, or named only."""


@frozen(kw_only=True)
class MeasureRef:
    """A measure as a cell: the estimate, its interval, sizes, missing verdicts and flags."""

    measure: int
    """Its place among the report's measures."""
    digits: int | None = None
    """Decimals; None: as many as the report uses."""
    note: str = ""
    """Said with the number, in brackets."""


@frozen(kw_only=True)
class FindingRef:
    """A finding as a cell."""

    finding: int
    """Its place among the report's findings."""


Cell: TypeAlias = MeasureRef | FindingRef | str | int | float | None
"""What a part shows at one place: a reference, untrusted text, a number that is no measure, or nothing."""


@frozen(kw_only=True)
class Column:
    """A column of numbers."""

    heading: str
    measure: str = ""
    """Name of the measure, where the whole column shows one."""


@frozen(kw_only=True)
class Row:
    """One row: what it is about, and its cells."""

    heads: tuple[str, ...]
    cells: tuple[Cell, ...]
    note: str = ""


@frozen(kw_only=True)
class TablePart:
    """A table. Reporters mark the rows with measures of simulated judges."""

    kind: Literal["table"] = "table"
    caption: str
    heads: tuple[str, ...]
    """Headings of what the rows are about."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    more: int = 0
    """Rows that are left out."""
    note: str = ""
    """What has to be known to read it, in a sentence or two."""
    folded: bool = False
    """It is opened on demand where the format can do that."""
    shown: int | None = None
    """Rows that documents show; files of tables have all of them."""
    file: str = ""
    """Name of the file that formats with a file for each table write; empty: none."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form: the part itself."""
        yield self


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


@frozen(kw_only=True)
class HeatPart:
    """Measures of judges in tests: a table shaded by one measure at a time, and intervals side by side."""

    kind: Literal["heat"] = "heat"
    caption: str
    heads: tuple[str, str] = ("Judge", "Test")
    """What the rows and the columns are."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    layers: tuple[Layer, ...]
    """The first one is what the others explain."""
    starred: tuple[str, ...] = ()
    """Columns with a mark."""
    star: str = ""
    """What the mark means, in a sentence."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form: a row for each row and column, a column for each layer."""
        layers = [layer for layer in self.layers if layer.tabled]
        places = [(down, across) for down, _ in enumerate(self.rows) for across, _ in enumerate(self.columns)]
        lines = {at: tuple(layer.cells[at[0]][at[1]] for layer in layers) for at in places}
        yield TablePart(
            caption=self.caption,
            heads=self.heads,
            columns=tuple(Column(heading=layer.heading) for layer in layers),
            rows=tuple(
                Row(heads=(self.rows[down], self.columns[across]), cells=cells)
                for (down, across), cells in lines.items()
                if any(cells)
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
    panels: tuple[Panel, ...]
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


@frozen(kw_only=True)
class TextPart:
    """A paragraph of untrusted text."""

    kind: Literal["text"] = "text"
    text: str

    def tables(self) -> Iterator[TablePart]:
        """Yield nothing: a paragraph is shown as it is."""
        yield from ()


Part: TypeAlias = TablePart | MatrixPart | HeatPart | CurvePart | TextPart
"""The kinds of parts; a new kind is added here, with its table form."""


@frozen(kw_only=True)
class Section:
    """A part of a report, about the run, one task, or one judge."""

    name: str = ""
    """That of the declaration; jrh fills it in, and the title."""
    title: str = ""
    task: str = ""
    """Empty: about the whole run, or about a judge."""
    judge: str = ""
    importance: Importance = Importance.MAIN
    parts: tuple[Part, ...]
