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


@frozen(kw_only=True)
class FindingRef:
    """A finding as a cell."""

    finding: int
    """Its place among the report's findings."""


Cell: TypeAlias = MeasureRef | FindingRef | str | None
"""What a part shows at one place: a reference, untrusted text, or nothing."""


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
class TextPart:
    """A paragraph of untrusted text."""

    kind: Literal["text"] = "text"
    text: str

    def tables(self) -> Iterator[TablePart]:
        """Yield nothing: a paragraph is shown as it is."""
        yield from ()


Part: TypeAlias = TablePart | MatrixPart | TextPart
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
