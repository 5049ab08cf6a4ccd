"""Sections of a report as plain data: what a plugin shows, before a reporter formats it.

A part holds no markup and no formatted number: numbers are references to measures. Every kind of part has a table form
(`tables`), so that a reporter which draws nothing shows every section.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Literal, Protocol, TypeAlias

from attrs import field, frozen
from attrs.validators import matches_re


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


class Part(Protocol):
    """A part of a section, as plain data of some kind; kinds besides tables and texts are declared with the section."""

    @property
    def kind(self) -> str:
        """Return the name of the kind, which documents give."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form, for what does not draw this kind."""


def _check_rows(part: TablePart, _attribute: object, rows: tuple[Row, ...]) -> None:
    """Refuse rows that do not fit the headings."""
    for row in rows:
        # Here and not in a reporter: each of them would fail in a way of its own, after the run.
        if (len(row.heads), len(row.cells)) != (len(part.heads), len(part.columns)):
            raise ValueError(f"table '{part.caption}': the row {row.heads} does not fit the headings")


@frozen(kw_only=True)
class TablePart:
    """A table. Reporters mark the rows with measures of simulated judges."""

    kind: Literal["table"] = "table"
    caption: str
    heads: tuple[str, ...]
    """Headings of what the rows are about."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = field(validator=_check_rows)
    more: int = 0
    """Rows that are left out."""
    note: str = ""
    """What has to be known to read it, in a sentence or two."""
    folded: bool = False
    """It is opened on demand where the format can do that."""
    shown: int | None = None
    """Rows that documents show; files of tables have all of them."""
    # The name becomes part of a path: no slash, and no dot at the start.
    file: str = field(default="", validator=matches_re(r"(\w[\w.-]*)?"))
    """Name of the file that formats with a file for each table write; empty: none."""

    def tables(self) -> Iterator[TablePart]:
        """Yield the table form: the part itself."""
        yield self


@frozen(kw_only=True)
class TextPart:
    """A paragraph of untrusted text."""

    kind: Literal["text"] = "text"
    text: str

    def tables(self) -> Iterator[TablePart]:
        """Yield nothing: a paragraph is shown as it is."""
        yield from ()


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
