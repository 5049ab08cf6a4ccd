"""The report at the end of a run: the findings in brief, or all tables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Final, Literal

from attrs import frozen
from jrh import RunReport
from jrh.text import clean_text as clean
from jrh.values import Importance, TaskSummary
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from jrh_report import tables
from jrh_report.brief import brief, entry_grid
from jrh_report.findings import cautions, findings_by_judge, sentence_with_severity
from jrh_report.options import TerminalOptions
from jrh_report.sections import section_texts

_PLAIN_WIDTH: Final = 100
_NARROWEST: Final = 60
_INDENT: Final = 2
_DIGITS: Final = 2
_NAMES: Final = 30
_ROWS: Final = 400
"""Rows of a table; the others are counted."""


@frozen
class TerminalReporter:
    """Renders the report for a terminal; what is not a terminal gets the same text without colour."""

    options: TerminalOptions

    def render(self, report: RunReport) -> str:
        """Return the text, with colour codes only where they are wanted."""
        target = StringIO()
        coloured = self._wants_colour()
        # Everything that rich reads from its surroundings is set: the same report has to give the same text.
        console = Console(
            force_jupyter=False,  # else rich shows in the cell, not in the file
            file=target,
            width=self._width(),
            force_terminal=coloured,
            color_system="standard" if coloured else None,
            no_color=not coloured,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )
        for part in _tables_of(report) if self.options.full else brief(report, console):
            console.print(part)
        # Rich fills lines up to the width; copied text should not have that.
        return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"

    def _wants_colour(self) -> bool:
        if self.options.color == "auto":
            # https://no-color.org. Rich gets an empty environment, so that this is decided here alone.
            return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return self.options.color == "always"

    def _width(self) -> int:
        if self.options.width is not None:
            return self.options.width
        # In a pipe, whoever wants another width sets COLUMNS, as for other programs.
        if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
            return _PLAIN_WIDTH
        # Narrower tables would have columns of a few letters; the window may wrap lines instead.
        return max(_NARROWEST, shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns)


def _tables_of(report: RunReport) -> Iterator[RenderableType]:
    """Yield the whole report as text and tables."""
    yield Text(f"Reliability report: {clean(report.suite)}", style="bold")
    yield Text(report.totals, style="yellow" if report.incomplete else "")
    yield Text(f"Run {clean(report.run_id, 12)}, seed {report.seed}, jrh {clean(report.version)}", style="dim")
    yield from _sections(report, Importance.FIRST)
    for group in findings_by_judge(report):
        yield from _heading(f"Findings: {clean(group.heading)}")
        yield from (_bullet(clean(sentence_with_severity(report, finding), 1000)) for finding in group.findings)
    if report.family is not None and report.family.tests:
        yield Text(report.family.sentence, style="dim")
    for summary in report.tasks:
        yield from _task(report, summary)
    yield from _sections(report, Importance.MAIN)
    run = tables.run_tables(report)
    # What the terminal leaves out is named, so that it can be looked up.
    details = [section.title for section in report.sections if section.importance is Importance.DETAIL]
    for table in run:
        if not table.detail:
            yield from _heading(table.title)
            yield from map(_indent, _grid(table))
        else:
            details.append(table.title)
    if report.notes:
        yield from _heading("Notes")
        yield from (_bullet(clean(note, 400)) for note in report.notes)
    yield Text("")
    if details:
        yield Text(
            f"In the other reports: {'; '.join(clean(title, 80) for title in dict.fromkeys(details))}.", style="dim"
        )
    yield Text("All measures are in the JSON report; the suite can ask for more: `metrics: {add: [...]}`.", style="dim")


def _sections(report: RunReport, importance: Importance) -> Iterator[RenderableType]:
    for section in section_texts(report, _DIGITS, importance, gap="\n"):
        yield from _heading(section.title)
        yield from (_indent(Text(clean(text, 1000), style="dim")) for text in section.text)
        for table in section.tables:
            yield from map(_indent, (Text(""), Text(clean(table.title, 200)), *_grid(table)))


def _task(report: RunReport, summary: TaskSummary) -> Iterator[RenderableType]:
    name = summary.task.name
    yield from _heading(f"Task {clean(name)}")
    yield _indent(Text(clean(tables.task_line(summary)), style="dim"))
    if not any(measure.task == name for measure in report.measures):
        yield _indent(Text("No measures for this task."))
    empty = [f"{clean(test)}: {clean(why, 600)}" for test, why in tables.empty_tests(report, name)]
    for line in (*empty, *cautions(report, name)):
        yield _bullet(clean(line, 600), style="yellow", mark="!")


def _heading(title: str) -> Iterator[RenderableType]:
    yield Text("")
    yield Text(title, style="bold")


def _indent(body: RenderableType) -> Padding:
    return Padding(body, (0, 0, 0, _INDENT))


def _grid(table: tables.Table) -> Iterator[RenderableType]:
    """Yield the note, the table, and how many rows it lacks."""
    if table.about:
        yield Text(clean(table.about, 1500), style="dim")
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    # Names of ordinary length stay in one piece, with their mark; the other columns fold first.
    names_fit = max((len(clean(row[0])) for row in table.rows), default=0) <= _NAMES
    for place, name in enumerate(table.columns):
        justify: Literal["left", "right"] = "right" if place in table.right else "left"
        grid.add_column(clean(name), justify=justify, overflow="fold", no_wrap=names_fit and place == 0)
    # Rich measures every cell of a table before it prints the first.
    for row in table.rows[:_ROWS]:
        grid.add_row(*(Text("\n".join(map(clean, cell.split("\n")))) for cell in row))
    yield grid
    if len(table.rows) > _ROWS:
        yield Text(f"{len(table.rows) - _ROWS:,} more are in report.json.", style="dim")


def _bullet(text: str, style: str = "", mark: str = "-") -> Padding:
    return _indent(entry_grid(Text(mark, style=style), Text(text, style=style), width=1))
