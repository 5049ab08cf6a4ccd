"""The report for people, as a file and as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import Measure, RunReport
from jrh.values import Importance, TaskSummary
from jrh_measuring import comment_length, lines_that_fit
from jrh_measuring import html_text as html
from jrh_measuring import markdown_text as safe

from jrh_report import tables
from jrh_report.findings import cautions, findings_by_judge, sentence_with_severity
from jrh_report.options import MarkdownOptions
from jrh_report.sections import SectionText, section_texts

_GAP: Final = "\n\n"


@frozen(kw_only=True)
class Block:
    """A part of a document that can be shortened: a head, lines, a tail."""

    lines: tuple[str, ...]
    head: str = ""
    """Written directly before the first line."""
    tail: str = ""
    """Written directly after the last line."""
    rank: int = 0
    """Blocks of a lower rank are served first."""
    share: int = 1 << 30
    """Characters the block may take before every other block was served."""
    what: str = ""
    """Names the block where it has to be left out."""
    kept: int | None = None
    """Lines that are shown; None: all."""

    def text(self) -> str:
        """Return the block as it is in the document, saying how many lines it lacks."""
        shown = self.lines[: self.kept]
        omitted = len(self.lines) - len(shown)
        more = f"\n\n{omitted:,} more in report.json" if omitted else ""
        return f"{self.head}{chr(10).join(shown)}{more}{self.tail}"


@frozen(kw_only=True)
class Fitted:
    """A document that fits."""

    text: str
    left_out: tuple[str, ...]
    """The blocks that are not there at all."""
    shortened: bool
    """Whether anything is not there."""


def fit(blocks: Sequence[Block], limit: int) -> Fitted:
    """Shorten blocks until the document keeps to the limit.

    Blocks are served by rank, equal ranks in the order of the document, each up to its share; what is left then goes to
    those that wanted more, in the same order. A block of which no line fits is left out.

    Args:
        blocks: in the order of the document.
        limit: characters of the whole, counted by `comment_length`.
    """
    order = sorted(range(len(blocks)), key=lambda place: (blocks[place].rank, place))
    shown: dict[int, Block] = {}
    left = limit
    # Shares first: otherwise the first long block would take all the room.
    for place in order:
        part = _shorten_block(blocks[place], min(blocks[place].share, left))
        if part is not None:
            shown[place] = part
            left -= _size(part)
    for place in order:
        before = shown.get(place)
        room = left + (_size(before) if before else 0)
        part = _shorten_block(blocks[place], room) if before is None or before.kept is not None else before
        if part is not None:
            shown[place] = part
            left = room - _size(part) if part is not before else left
    missing = [block for place, block in enumerate(blocks) if place not in shown]
    return Fitted(
        text=_GAP.join(shown[place].text() for place in sorted(shown)),
        left_out=tuple(block.what for block in missing),
        shortened=bool(missing) or any(block.kept is not None for block in shown.values()),
    )


def _size(block: Block) -> int:
    # The first block has no gap before it, so the document stays at least two characters below the limit.
    return comment_length(block.text()) + len(_GAP)


def _shorten_block(block: Block, room: int) -> Block | None:
    """Return the block with as many lines as there is room for; None where there is none for the first."""
    if _size(block) <= room:
        return block
    lines = lines_that_fit(lambda count: evolve(block, kept=count).text(), len(block.lines), room - len(_GAP))
    return evolve(block, kept=lines) if lines else None


_DIGITS: Final = 3
_RESERVE: Final = 2000
"""Characters kept for saying what was left out."""
_NOTICE: Final = 1500
"""Characters for naming what was left out; the rest is counted."""
_NAMED: Final = 12
"""Simulated judges that are named in the heading; the others are counted."""
_CELL: Final = 160
"""Characters of a cell; a longer text is cut."""
_SIDE: Final = 4000
"""Characters that findings, cautions and the like may take before the other parts were served."""
_SHARES: Final = {Importance.FIRST: 8000, Importance.MAIN: 900, Importance.DETAIL: 500}
"""Characters of a table before the other parts were served, so that every table shows its first rows."""
_MAIN: Final = 24_000
"""The same for the main tables of all tasks together."""
_LEAST: Final = 2500
_RANKS: Final = {Importance.FIRST: 0, Importance.MAIN: 1, Importance.DETAIL: 3}
"""What is served first where there is little room; findings are served before, every measure afterwards."""
_EVERY: Final = 5


@frozen
class MarkdownReporter:
    """Writes the report as Markdown that GitHub and every other renderer shows, never longer than a comment may be.

    What matters most comes first, long parts are folded, and what does not fit is named at the end.
    """

    options: MarkdownOptions

    def render(self, report: RunReport) -> str:
        """Return the document; the same report gives the same text."""
        # In the order in which they are read; `rank` says in which order they are served.
        blocks = list(_header(report))
        sections = tuple(section_texts(report, _DIGITS))
        for section in sections:
            if section.importance is Importance.FIRST:
                blocks += (evolve(block, rank=-1) for block in _section(section, len(report.tasks)))
        blocks += _findings(report)
        for summary in report.tasks:
            blocks += _task(report, summary)
        for section in sections:
            if section.importance is not Importance.FIRST:
                blocks += _section(section, len(report.tasks))
        blocks += _about_the_run(report)
        if self.options.details:
            blocks += _every_measure(report)
        fitted = fit(blocks, self.options.characters - _RESERVE)
        text = "\n\n".join([fitted.text, *_omission_notice(fitted.left_out, self.options.characters)])
        return (text if fitted.shortened else fitted.text) + "\n"


def _header(report: RunReport) -> Iterator[Block]:
    yield Block(lines=(f"# Reliability report: {safe(report.suite, 120)}",), rank=-2, what="the title")
    facts = [
        report.totals,
        f"{report.level:.0%} confidence intervals, clustered by item.",
        f"Run {safe(report.run_id, 80)}, seed {report.seed}, jrh {safe(report.version, 40)}.",
    ]
    if report.simulated:
        # In the suite's order; `simulated` is a set.
        names = [judge for judge in report.judges if judge in report.simulated]
        listed = ", ".join(safe(judge, 60) for judge in names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        facts.append(f"Simulated judges (planted behaviour, no model): {listed}{more}.")
    yield Block(lines=tuple(f"- {fact}" for fact in facts), rank=-2, what="facts about the run")


def _findings(report: RunReport) -> Iterator[Block]:
    head = "## Findings\n\n"
    for group in findings_by_judge(report):
        head += f"**{safe(group.heading, 120)}**\n\n"
        lines = [sentence_with_severity(report, finding) for finding in group.findings]
        yield _bullets(lines, head=head, limit=1000, what=f"findings of {safe(group.heading, 60)}", rank=-1)
        head = ""
    # After the results: what is controlled does not say which judge to take.
    if report.family is not None and report.family.tests:
        yield Block(lines=(report.family.sentence,), rank=-1, what="the error rates of the findings")


def _task(report: RunReport, summary: TaskSummary) -> Iterator[Block]:
    name, called = summary.task.name, safe(summary.task.name, 60)
    heading = f"## Task {safe(name, 120)}\n\n{safe(tables.task_line(summary))}."
    yield Block(lines=(heading,), rank=-1, share=_SIDE, what=f"task {called}")
    empty = [f"{test}: {why}" for test, why in tables.empty_tests(report, name)]
    for lines, head, rank in ((empty, "Tests without cases", -1), (cautions(report, name), "Caution", 0)):
        if lines:
            what = f"{head.lower()} of task {called}"
            yield _bullets(lines, head=f"{head}:\n\n", limit=1000, what=what, rank=rank)


def _about_the_run(report: RunReport) -> Iterator[Block]:
    if report.notes:
        yield _bullets(report.notes, head="## Notes\n\n", limit=400, what="notes", rank=0)
    for table in tables.run_tables(report):
        importance = Importance.DETAIL if table.detail else Importance.MAIN
        block = _table_block(table, importance, what=table.title.lower(), heading=not table.detail)
        yield _fold(block, table.title) if table.detail else evolve(block, rank=0)


def _section(section: SectionText, tasks: int) -> Iterator[Block]:
    """Yield the tables of a section, those of a detail folded."""
    detail = section.importance is Importance.DETAIL
    lines = (f"## {safe(section.title, 120)}", *(safe(text, 1000) for text in section.text))
    head = "" if detail else "\n\n".join(lines) + "\n\n"
    what = safe(section.title, 120)
    if section.text and not section.tables:
        yield Block(lines=lines, rank=-1, what=what)
    for table in section.tables:
        alone = section.title.startswith(table.title)
        title = section.title if alone else f"{section.title}: {table.title}"
        if detail or table.detail:
            yield _fold(_table_block(table, Importance.DETAIL, what=what), title)
            continue
        block = _table_block(table, section.importance, what=what)
        if table.main:
            block = evolve(block, rank=0, share=max(_LEAST, _MAIN // tasks))
        above = "" if alone else f"**{safe(table.title, 200)}**\n\n"
        yield evolve(block, head=f"{head}{above}{block.head}")
        head = ""


def _every_measure(report: RunReport) -> Iterator[Block]:
    """Yield a folded table for each measure of a task, with everything needed to believe it; last, those of no task."""
    by_name: dict[tuple[str, str], list[Measure]] = {}
    known = [summary.task.name for summary in report.tasks]
    for measure in report.measures:
        # Further cells, such as bins and pairs, are in the tables of their sections.
        if set(measure.cell) <= {"variant"}:
            by_name.setdefault((measure.task, measure.name), []).append(measure)
    order = {task: place for place, task in enumerate(known)}
    headed: set[str] = set()
    # Stable: within a task, names stay in the order of the metrics.
    for task, name in sorted(by_name, key=lambda key: order.get(key[0], len(order))):
        measures = sorted(by_name[task, name], key=lambda measure: bool(measure.cell))
        whose = (
            f" of task {safe(task, 60)}" if len(known) > 1 and task in known else "" if task in known else " of no task"
        )
        table = tables.measures(report, measures, _DIGITS)
        block = _fold(_table_block(table, Importance.DETAIL, what=f"measure {safe(name, 60)}"), name)
        # Part of the first block, so that no heading is left above nothing.
        heading = "" if task in headed else f"## Every measure{whose}\n\n"
        headed.add(task)
        yield evolve(block, head=f"{heading}{block.head}", rank=_EVERY)


def _table_block(table: tables.Table, importance: Importance, *, what: str, heading: bool = False) -> Block:
    """Return a table, with its title as a heading where wanted and its note."""
    rule = ("---:" if column in table.right else "---" for column in range(len(table.columns)))
    above = [*([f"## {table.title}"] if heading else []), *([safe(table.about, 1500)] if table.about else [])]
    head = "".join(f"{part}\n\n" for part in above)
    return Block(
        head=f"{head}{_line(table.columns)}\n| {' | '.join(rule)} |\n",
        lines=tuple(_line(row) for row in table.rows),
        rank=_RANKS[importance],
        share=_SHARES[importance],
        what=what,
    )


def _bullets(texts: Sequence[str], *, head: str, limit: int, what: str, rank: int) -> Block:
    """Return texts as a list, each up to a limit."""
    lines = tuple(f"- {safe(text, limit)}" for text in texts)
    return Block(head=head, lines=lines, rank=rank, share=_SIDE, what=what)


def _fold(block: Block, title: str) -> Block:
    """Return the block behind a line that opens it."""
    head = f"<details><summary>{html(title, 120)}</summary>\n\n{block.head}"
    return evolve(block, head=head, tail=f"{block.tail}\n\n</details>")


def _line(cells: Iterable[str]) -> str:
    # A line break or a bare bar would end the cell; `markdown_text` leaves neither.
    return f"| {' | '.join(safe(cell, _CELL) for cell in cells)} |"


def _omission_notice(left_out: tuple[str, ...], limit: int) -> Iterator[str]:
    yield "---"
    named: list[str] = []
    parts = list(dict.fromkeys(left_out))
    for what in parts:
        # The notice itself has to fit the room that was kept for it.
        if comment_length("; ".join([*named, what])) > _NOTICE:
            break
        named.append(what)
    unnamed = len(parts) - len(named)
    more = [f"{unnamed:,} more parts"] if unnamed else []
    omissions = f" Left out as a whole: {'; '.join([*named, *more])}." if left_out else ""
    yield f"Shortened to stay within {limit:,} characters; all measures are in report.json.{omissions}"
