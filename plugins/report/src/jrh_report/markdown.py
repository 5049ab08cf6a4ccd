"""The report for people, as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport, TaskSummary

from jrh_report import numbers, tables
from jrh_report.findings import findings
from jrh_report.flags import cautions
from jrh_report.options import MarkdownOptions
from jrh_report.overview import HEADINGS, LEGEND, NOISE, Row, overview
from jrh_report.safe import markdown as safe

_DIGITS: Final = 3
_SHOWN_CELLS: Final = frozenset({"variant"})
"""Cells that are tabulated: whole tests and their variants. Finer ones are in the JSON report."""


@frozen
class MarkdownReporter:
    """Writes the whole report as Markdown that GitHub and every other renderer shows."""

    options: MarkdownOptions

    def render(self, report: RunReport) -> str:
        """Return the document; the same report gives the same text."""
        blocks = [*_header(report), *_notes(report)]
        for summary in report.tasks:
            blocks += _task(report, summary, details=self.options.details)
        blocks += _elsewhere(report)
        for table in (
            tables.missing_verdicts(report),
            tables.attrition(report),
            tables.faults(report),
            tables.costs(report, by_test=True),
            tables.components(report),
        ):
            if table is not None:
                blocks += [f"## {table.title}", *([safe(table.note)] if table.note else []), _table(table)]
        return "\n\n".join(blocks) + "\n"


def _header(report: RunReport) -> Iterator[str]:
    yield f"# Reliability report: {safe(report.suite)}"
    facts = [
        tables.totals(report),
        f"Intervals cover {report.level:.0%}. Items are the unit of analysis.",
        f"Run {safe(report.run_id)}, seed {report.seed}, jrh {safe(report.version)}.",
    ]
    if report.simulated:
        names = ", ".join(safe(judge) for judge in report.judges if judge in report.simulated)
        facts.append(f"Simulated, their answers are made up: {names}.")
    yield "\n".join(f"- {fact}" for fact in facts)


def _notes(report: RunReport) -> Iterator[str]:
    if report.notes:
        yield "## Notes"
        yield "\n".join(f"- {safe(note)}" for note in report.notes)


def _task(report: RunReport, summary: TaskSummary, *, details: bool) -> Iterator[str]:
    name = summary.task.name
    yield f"## Task {safe(name)}"
    yield f"{safe(tables.task_line(summary))}."
    about = findings(report, name)
    if about:
        yield "Findings about the data and the tests:"
        yield "\n".join(f"- {safe(line, 2000)}" for line in about)
    main = overview(report, name)
    if main.rows:
        yield _table(
            tables.Table(
                title="",
                columns=("judge", "test", *(HEADINGS[column] for column in main.columns)),
                rows=tuple(
                    (tables.judge_label(report, row.judge), row.test, *(_cell(row, column) for column in main.columns))
                    for row in main.rows
                ),
            )
        )
        yield "\n".join(f"- {safe(LEGEND[column])}" for column in main.columns)
    else:
        yield "No measure of this task."
    found = cautions(report, name)
    if found:
        yield "Caution:"
        yield "\n".join(f"- {safe(line, 1000)}" for line in found)
    if details:
        yield from _details(report, [measure for measure in report.measures if measure.task == name])


def _cell(row: Row, column: str) -> str:
    measure = row.cells.get(column)
    if measure is None:
        return ""
    written = numbers.whole(measure, _DIGITS)
    return f"{written} (reference)" if column == NOISE and not row.own_noise else written


def _details(report: RunReport, found: Iterable[Measure]) -> Iterator[str]:
    by_name: dict[str, list[Measure]] = {}
    for measure in found:
        by_name.setdefault(measure.name, []).append(measure)
    for name, measures in by_name.items():
        shown = [measure for measure in measures if set(measure.cell) <= _SHOWN_CELLS]
        rest = len(measures) - len(shown)
        if shown:
            more = f"\n\n{rest:,} more by stratum, level and the like: report.json" if rest else ""
            table = _table(tables.measures(report, shown, _DIGITS))
            yield f"<details><summary>{safe(name)}</summary>\n\n{table}{more}\n\n</details>"


def _elsewhere(report: RunReport) -> Iterator[str]:
    known = {summary.task.name for summary in report.tasks}
    rest = [measure for measure in report.measures if measure.task not in known]
    if rest:
        yield "## Other measures"
        yield from _details(report, rest)


def _table(table: tables.Table) -> str:
    rule = ("---:" if column in table.right else "---" for column in range(len(table.columns)))
    lines = [_line(table.columns), f"| {' | '.join(rule)} |"]
    return "\n".join([*lines, *(_line(row) for row in table.rows)])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(safe(cell) for cell in cells)} |"
