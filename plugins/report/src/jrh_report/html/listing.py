"""Tables of measures: lines by judge and test, or by whatever else tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen
from jrh import RunReport

from jrh_report.html.found import Cell, Found

LINES: Final = 150
"""Lines that a table has; the others are counted."""
EVERY: Final = ""
"""The test of a measure over several tests."""
SIMULATED: Final = "simulated"
MIXED: Final = "simulated judges among them"


@frozen(kw_only=True)
class Column:
    """One measure of a table."""

    name: str
    heading: str


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
    heads: tuple[str, ...]
    """Headings of what the lines are about."""
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    more: int = 0
    """Lines that are left out."""

    @property
    def cells(self) -> tuple[Cell | str | None, ...]:
        """Return the measures of all lines."""
        return tuple(cell for line in self.lines for cell in line.cells)

    @property
    def mark(self) -> str:
        """Return the mark of measures about several judges where all lines have it: it is said once."""
        return MIXED if all(line.mark == MIXED for line in self.lines) else ""

    @property
    def noted(self) -> bool:
        """Tell whether any line has a note."""
        return any(line.note for line in self.lines)


def columns(*pairs: tuple[str, str]) -> tuple[Column, ...]:
    """Return columns of measures: name and heading of each."""
    return tuple(Column(name=name, heading=heading) for name, heading in pairs)


def table(
    task: str, caption: str, heads: tuple[str, ...], of: tuple[Column, ...], lines: Sequence[Line], limit: int = LINES
) -> Table | None:
    """Return a table of the first lines; None where there is none."""
    if not lines:
        return None
    return Table(
        task=task, caption=caption, heads=heads, columns=of, lines=tuple(lines[:limit]), more=len(lines[limit:])
    )


def by_test(found: Found, task: str, of: tuple[Column, ...], caption: str) -> Table | None:
    """Tabulate measures of whole tests, judge by judge; columns and lines without any are left out."""
    report = found.report
    keys = [(judge, test) for judge in report.judges for test in (EVERY, *report.tests)]
    used = tuple(column for column in of if any(found.whole(column.name, task, *key) for key in keys))
    lines = [
        Line(
            heads=(judge, test or "all tests of the kind"),
            cells=tuple(found.maybe(found.whole(column.name, task, judge, test)) for column in used),
            mark=judge_mark(report, judge),
        )
        for judge, test in keys
    ]
    return table(task, caption, ("Judge", "Test"), used, [line for line in lines if any(line.cells)])


def judge_mark(report: RunReport, judge: str) -> str:
    """Return the mark of a judge."""
    return SIMULATED if judge in report.simulated else ""


def flags_of(cells: Iterable[Cell | str | None]) -> frozenset[str]:
    """Return the flags that occur in cells."""
    return frozenset(flag for cell in cells if isinstance(cell, Cell) for flag in cell.flags)
