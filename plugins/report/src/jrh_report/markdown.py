"""The report for people, as a file and as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen
from jrh import RunReport
from jrh.values import Importance, TaskSummary
from jrh_measuring import comment_length, format_measure
from jrh_measuring import markdown_text as safe

from jrh_report import tables
from jrh_report.details import elsewhere, task_details
from jrh_report.fitting import Block, fit
from jrh_report.flags import cautions
from jrh_report.further import further
from jrh_report.markup import bullets, folded, table_block
from jrh_report.options import MarkdownOptions
from jrh_report.overview import NOISE, Overview, Row, legend, overview
from jrh_report.sections import SectionText, section_texts
from jrh_report.told import line, told_by_judge

_DIGITS: Final = 3
_RESERVE: Final = 2000
"""Characters kept for saying what was left out."""
_NOTICE: Final = 1500
"""Characters for naming what was left out; the rest is counted."""
_NAMED: Final = 12
"""Simulated judges that are named in the heading; the others are counted."""
_TABLES: Final = 30_000
"""Characters the main tables of all tasks may take before the other parts were served."""
_LEAST: Final = 2500
_SIDE: Final = 4000
"""Characters a list or a table beside the main ones may take before the other parts were served."""
_ADDED: Final = 3 * _SIDE
"""The same for the measures of added metrics, which have no other table."""


_RANKS: Final = {Importance.FIRST: 0, Importance.MAIN: 1, Importance.DETAIL: 3}
"""What is served first where there is little room."""


@frozen
class MarkdownReporter:
    """Writes the report as Markdown that GitHub and every other renderer shows, never longer than a comment may be.

    What matters most stands first, long parts are folded, and what does not fit is named at the end.
    """

    options: MarkdownOptions

    def render(self, report: RunReport) -> str:
        """Return the document; the same report gives the same text."""
        blocks = [*_header(report), *_findings(report)]
        for section in section_texts(report, _DIGITS, Importance.FIRST):
            blocks += _section(section)
        for summary in report.tasks:
            blocks += _task(report, summary, len(report.tasks))
        for section in section_texts(report, _DIGITS, Importance.MAIN, Importance.DETAIL):
            blocks += _section(section)
        blocks += _about_the_run(report)
        if self.options.details:
            for summary in report.tasks:
                blocks += task_details(report, summary.task.name)
        blocks += elsewhere(report)
        fitted = fit(blocks, self.options.characters - _RESERVE)
        text = "\n\n".join([fitted.text, *_shortened(fitted.left_out, self.options.characters)])
        return (text if fitted.shortened else fitted.text) + "\n"


def _header(report: RunReport) -> Iterator[Block]:
    yield Block(lines=(f"# Reliability report: {safe(report.suite, 120)}",), rank=-2, what="the title")
    facts = [
        report.totals,
        f"{report.level:.0%} confidence intervals, clustered by item.",
        f"Run {safe(report.run_id, 80)}, seed {report.seed}, jrh {safe(report.version, 40)}.",
    ]
    if report.simulated:
        names = [judge for judge in report.judges if judge in report.simulated]
        listed = ", ".join(safe(judge, 60) for judge in names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        facts.append(f"Simulated judges (planted behaviour, no model): {listed}{more}.")
    if report.family is not None and report.family.tests:
        facts.append(report.family.sentence)
    yield Block(lines=tuple(f"- {fact}" for fact in facts), rank=-2, what="facts about the run")


def _findings(report: RunReport) -> Iterator[Block]:
    for place, told in enumerate(told_by_judge(report)):
        first = "" if place else "## Findings\n\n"
        head = f"{first}**{safe(told.heading, 120)}**\n\n"
        lines = [line(report, each) for each in told.findings]
        what = f"findings of {safe(told.heading, 60)}"
        yield bullets(lines, head=head, limit=1000, what=what, share=_SIDE, rank=-1)


def _task(report: RunReport, summary: TaskSummary, tasks: int) -> Iterator[Block]:
    name, called = summary.task.name, safe(summary.task.name, 60)
    heading = f"## Task {safe(name, 120)}\n\n{safe(tables.task_line(summary))}."
    yield Block(lines=(heading,), rank=-1, share=_LEAST, what=f"task {called}")
    main = overview(report, name)
    empty = tables.empty_tests(report, name)
    if not main.rows:
        yield Block(lines=("No measures for this task.",), rank=-1, what=f"task {called}")
        yield from _empty(empty, called)
        return
    table = tables.Table(
        title="",
        columns=("judge", "test", *(main.heading(column) for column in main.columns)),
        rows=tuple(
            (tables.judge_label(report, row.judge), row.test, *(_cell(main, row, column) for column in main.columns))
            for row in main.rows
        ),
    )
    yield table_block(table, rank=-1, share=max(_LEAST, _TABLES // tasks), what=f"main table of task {called}")
    yield from _empty(empty, called)
    told = cautions(report, name)
    if told:
        yield bullets(told, head="Caution:\n\n", limit=600, what=f"cautions of task {called}", share=_SIDE)


def _empty(found: list[tuple[str, str]], called: str) -> Iterator[Block]:
    """Yield a line for each test without a case, which no judge has a measure of."""
    if found:
        lines = [f"{test}: {why}" for test, why in found]
        what = f"tests without cases of task {called}"
        yield bullets(lines, head="Tests without cases:\n\n", limit=1000, what=what, share=_SIDE, rank=-1)


def _cell(main: Overview, row: Row, column: str) -> str:
    measure = row.cells.get(column)
    if measure is None:
        return ""
    written = format_measure(measure, _DIGITS)
    if main.as_expected(row, column):
        return f"{written} (as expected)"
    return f"{written} (reference)" if column == NOISE and not row.own_noise else written


def _about_the_run(report: RunReport) -> Iterator[Block]:
    if report.notes:
        yield bullets(report.notes, head="## Notes\n\n", limit=400, what="notes", share=_SIDE, rank=1)
    for table, what, share in (
        (tables.missing_verdicts(report), "missing verdicts", _SIDE),
        (further(report, _DIGITS, cells=False), "further measures", _ADDED),
    ):
        if table is not None:
            yield table_block(table, rank=1, share=share, what=what, heading=True)
    cost = tables.costs(report, by_test=False)
    if cost is not None:
        yield table_block(cost, rank=2, share=_SIDE, what="cost per component", heading=True)
    lines = legend(overview(report, summary.task.name) for summary in report.tasks)
    if lines:
        block = Block(lines=tuple(f"- {safe(line)}" for line in lines), what="how to read", rank=2)
        yield folded(block, "How to read the tables")
    for table, rank, name in (
        (tables.attrition(report), 3, "Cases"),
        (tables.agreement(report), 3, "Agreement of validators"),
        (tables.faults(report), 3, "Faults"),
        (tables.costs(report, by_test=True), 4, "Cost per test"),
        (tables.components(report), 4, "Made of"),
    ):
        if table is not None:
            yield folded(table_block(table, rank=rank, share=_SIDE, what=name.lower()), name)


def _section(section: SectionText) -> Iterator[Block]:
    """Yield the tables of a section, those of a detail folded."""
    called = safe(section.title, 120)
    lines = (f"## {called}", *(safe(text, 1000) for text in section.text))
    rank = _RANKS[section.importance]
    detail = section.importance is Importance.DETAIL
    head = "" if detail else "\n\n".join(lines) + "\n\n"
    for table in section.tables:
        what = safe(f"{section.title}: {table.title}", 120)
        block = table_block(table, rank=rank, share=_SIDE, what=what)
        if detail:
            yield folded(block, f"{section.title}: {table.title}")
        else:
            yield evolve(block, head=f"{head}**{safe(table.title, 200)}**\n\n{block.head}")
        head = ""


def _shortened(left_out: tuple[str, ...], limit: int) -> Iterator[str]:
    yield "---"
    named: list[str] = []
    for what in left_out:
        if comment_length("; ".join([*named, what])) > _NOTICE:
            break
        named.append(what)
    rest = len(left_out) - len(named)
    more = [f"{rest:,} more parts"] if rest else []
    told = f" Left out as a whole: {'; '.join([*named, *more])}." if left_out else ""
    yield f"Shortened to stay within {limit:,} characters; all measures are in report.json.{told}"
