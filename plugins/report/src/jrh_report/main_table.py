"""The main table of a task in the terminal: one block per judge, under one heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from jrh import RunReport
from jrh.text import clean_text as clean
from jrh_measuring import format_estimate, format_interval, format_sizes, is_estimable
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from jrh_report import tables
from jrh_report.overview import NOISE, Overview, Row

_DIGITS: Final = 2
_GAP: Final = 2
_WHY: Final = 600
_TESTS: Final = 14
"""The least columns for the names of tests; longer ones fold."""


def main_table(report: RunReport, main: Overview, width: int) -> Iterator[RenderableType]:
    """Yield the parts of the table.

    An interval stands beside its estimate where the width allows, otherwise below it; the number of trials and of
    missing verdicts below both.
    """
    cells, sizes = _arranged(main, width)
    first = max(_TESTS, min(width - sum(sizes) - _GAP * len(sizes), max(len(clean(row.test)) + 2 for row in main.rows)))
    heading = [Text(main.heading(column), style="bold") for column in main.columns]
    yield _block(first, sizes, [[Text(""), *heading]])
    lines = zip(main.rows, cells, strict=True)
    for judge, block in groupby(lines, key=lambda line: line[0].judge):
        yield Text(clean(tables.judge_label(report, judge)), style="bold cyan")
        yield _block(first, sizes, [[Text(f"  {clean(row.test)}"), *texts] for row, texts in block])


def empty_rows(report: RunReport, task: str) -> Iterator[RenderableType]:
    """Yield a row for each test without a case, which no judge has a measure of."""
    found = tables.empty_tests(report, task)
    if found:
        grid = Grid(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, show_header=False)
        grid.add_column("", min_width=_TESTS, overflow="fold")
        grid.add_column("", overflow="fold")
        for test, why in found:
            grid.add_row(Text(f"  {clean(test)}"), Text(clean(why, _WHY), style="yellow"))
        yield Text("all judges", style="bold cyan")
        yield grid


def _arranged(main: Overview, width: int) -> tuple[list[list[Text]], list[int]]:
    """Write all cells, with the interval beside the estimate if that fits; return them with the columns' widths."""
    cells: list[list[Text]] = []
    sizes: list[int] = []
    for separator in (" ", "\n"):
        cells = [[_cell(main, row, column, separator) for column in main.columns] for row in main.rows]
        sizes = [
            max(len(main.heading(column)), *(_width(texts[place]) for texts in cells))
            for place, column in enumerate(main.columns)
        ]
        if sum(sizes) + _GAP * len(sizes) + _TESTS <= width:
            break
    return cells, sizes


def _block(first: int, sizes: Sequence[int], rows: Sequence[Sequence[Text]]) -> Grid:
    grid = Grid(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, show_header=False)
    grid.add_column("", width=first, overflow="fold")
    for size in sizes:
        grid.add_column("", width=size, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _cell(main: Overview, row: Row, column: str, separator: str) -> Text:
    measure = row.cells.get(column)
    if measure is None:
        return Text("-", style="dim")
    if not is_estimable(measure):
        written = format_estimate(measure, _DIGITS).replace(" (", "\n(")
        return Text.assemble((written, "dim"), "\n", *_sizes(main, row, column, separator))
    # What belongs to the reference and not to this test stands back.
    style = "dim" if column == NOISE and not row.own_noise else ""
    estimate, interval = format_estimate(measure, _DIGITS), format_interval(measure, _DIGITS)
    return Text.assemble((estimate, style), separator, (interval, "dim"), "\n", *_sizes(main, row, column, separator))


def _sizes(main: Overview, row: Row, column: str, separator: str) -> list[tuple[str, str]]:
    measure = row.cells[column]
    if column == NOISE and not row.own_noise:
        return [("(reference)", "dim")]
    sizes = format_sizes(measure, f",{separator}"), "yellow" if measure.missing else "dim"
    return [sizes, ("\n(as expected)", "dim")] if main.as_expected(row, column) else [sizes]


def _width(text: Text) -> int:
    return max(len(line) for line in text.plain.split("\n"))
