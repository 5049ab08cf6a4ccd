"""The tables of the report for a terminal: everything, for `--full`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from jrh import RunReport
from jrh.text import clean_text as clean
from jrh.values import Importance, TaskSummary
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from jrh_report import tables
from jrh_report.flags import cautions
from jrh_report.further import further
from jrh_report.main_table import empty_rows, main_table
from jrh_report.overview import Overview, legend, overview
from jrh_report.sections import section_texts
from jrh_report.told import line, told_by_judge

_INDENT: Final = 2
_DIGITS: Final = 2
_NAMES: Final = 30
_METRIC: Final = "metric"
_METRICS: Final = 60
"""Names of metrics shown; nearly all of them have their default options, which would fill two screens."""


def tables_of(report: RunReport, width: int) -> Iterator[RenderableType]:
    """Yield the whole report as text and tables."""
    yield from _header(report)
    for told in told_by_judge(report):
        yield from _heading(f"Findings: {clean(told.heading)}")
        yield from (_bullet(clean(line(report, each), 1000)) for each in told.findings)
    if report.family is not None and report.family.tests:
        yield Text(report.family.sentence, style="dim")
    mains = {summary.task.name: overview(report, summary.task.name) for summary in report.tasks}
    for summary in report.tasks:
        yield from _task(report, summary, mains[summary.task.name], width)
    yield from _legend(mains)
    for section in section_texts(report, _DIGITS, Importance.FIRST, Importance.MAIN):
        yield from _heading(section.title)
        for text in section.text:
            yield _indented(Text(clean(text, 1000), style="dim"))
        for each in section.tables:
            yield from map(_indented, (Text(""), Text(clean(each.title, 200)), *_noted(each), _grid(each)))
    yield from _named(report)
    for table in (
        further(report),
        tables.missing_verdicts(report),
        tables.attrition(report),
        tables.agreement(report),
        tables.faults(report),
        tables.costs(report, by_test=False),
    ):
        if table is not None:
            yield from _heading(table.title)
            yield from map(_indented, (*_noted(table), _grid(table)))
    yield from _components(report)
    if report.notes:
        yield from _heading("Notes")
        yield from (_bullet(clean(note, 400)) for note in report.notes)
    yield Text("")
    yield Text("All measures are in the JSON report; the suite can ask for more: `metrics: {add: [...]}`.", style="dim")


def _header(report: RunReport) -> Iterator[RenderableType]:
    yield Text(f"Reliability report: {clean(report.suite)}", style="bold")
    yield Text(report.totals, style="yellow" if report.incomplete else "")
    yield Text(f"Run {clean(report.run_id, 12)}, seed {report.seed}, jrh {clean(report.version)}", style="dim")


def _task(report: RunReport, summary: TaskSummary, main: Overview, width: int) -> Iterator[RenderableType]:
    yield from _heading(f"Task {clean(summary.task.name)}")
    yield _indented(Text(clean(tables.task_line(summary)), style="dim"))
    yield Text("")
    if not main.rows:
        yield _indented(Text("No measures for this task."))
        yield from map(_indented, empty_rows(report, summary.task.name))
        return
    yield from (_indented(part) for part in main_table(report, main, width - _INDENT))
    yield from map(_indented, empty_rows(report, summary.task.name))
    caution = cautions(report, summary.task.name)
    if caution:
        yield Text("")
        yield from (_bullet(clean(line, 400), style="yellow", mark="!") for line in caution)


def _legend(mains: dict[str, Overview]) -> Iterator[RenderableType]:
    lines = legend(mains.values())
    if lines:
        yield Text("")
        yield from (_bullet(line, style="dim") for line in lines)


def _components(report: RunReport) -> Iterator[RenderableType]:
    table = tables.components(report)
    if table is None:
        return
    yield from _heading(table.title)
    for role, name, component, version, options in table.rows:
        if role == _METRIC:
            continue
        line = Text.assemble(f"{clean(role)} ", (clean(name), "bold"), f"  {clean(component)} {clean(version)}")
        yield _indented(line)
        if options:
            yield Padding(Text(clean(options, 400), style="dim"), (0, 0, 0, 2 * _INDENT))
    metrics = [clean(name) for role, name, *_ in table.rows if role == _METRIC]
    if metrics:
        listed = Text.assemble("metrics ", (", ".join(metrics[:_METRICS]), "bold"))
        more = len(metrics) - _METRICS
        yield _indented(listed.append(f" and {more} more" if more > 0 else ""))
        yield _indented(Text("Their options are listed in the other reports.", style="dim"))


def _named(report: RunReport) -> Iterator[RenderableType]:
    """Name the sections that only the other reports show."""
    names = dict.fromkeys(section.title for section in report.sections if section.importance is Importance.DETAIL)
    if names:
        yield Text("")
        yield Text(f"In the other reports: {'; '.join(clean(name, 80) for name in names)}.", style="dim")


def _noted(table: tables.Table) -> Iterator[RenderableType]:
    if table.note:
        yield Text(clean(table.note, 1000), style="dim")


def _heading(title: str) -> Iterator[RenderableType]:
    yield Text("")
    yield Text(title, style="bold")


def _indented(body: RenderableType) -> Padding:
    return Padding(body, (0, 0, 0, _INDENT))


def _grid(table: tables.Table) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    # Names of ordinary length stay in one piece, with their mark; the other columns fold first.
    names_fit = max((len(clean(row[0])) for row in table.rows), default=0) <= _NAMES
    for place, name in enumerate(table.columns):
        justify: Literal["left", "right"] = "right" if place in table.right else "left"
        grid.add_column(clean(name), justify=justify, overflow="fold", no_wrap=names_fit and place == 0)
    for row in table.rows:
        grid.add_row(*(Text(clean(cell)) for cell in row))
    return grid


def _bullet(text: str, style: str = "", mark: str = "-") -> Padding:
    grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    grid.add_column("", width=1)
    grid.add_column("", overflow="fold")
    grid.add_row(Text(mark, style=style), Text(text, style=style))
    return _indented(grid)
