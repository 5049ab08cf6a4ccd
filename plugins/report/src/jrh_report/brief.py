"""The findings on one screen: judge by judge, in the order of the report, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase
from textwrap import wrap
from typing import Final

from attrs import frozen
from jrh import REFERENCE, RunReport
from jrh.text import clean_text as clean
from jrh.text import count_noun, format_dollars
from jrh.values import Basis, Cell, Finding, Importance, MeasureRef, Severity, TablePart, TextPart, total_spending
from jrh_measuring import content_text, figure_with_flags, format_counts, mark_simulated, shown_flags
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from jrh_report import tables
from jrh_report.findings import DATA
from jrh_report.sections import mark_of, note_served

_LINES_OF_ALL: Final = 15
_LINES_PER_TASK: Final = 5
_MOST_LINES: Final = 35
"""With the lines that the command adds, 25 for one task and 40 for four or more; the tables add half of theirs."""
_LEAST_LINES: Final = 10
"""Lines of findings below the tables, however many judges these have."""
_FOOTER: Final = 2
"""Lines kept for counting what is not shown."""
_WARNED: Final = 3
"""Lines of warnings: what failed in the run comes before what it found."""
_ENTRY: Final = 2
"""Lines of one finding."""
_TEXT: Final = 300
"""Characters of a statement or a figure."""
_PARAGRAPH: Final = 600
_NAME: Final = 60
_AT_WORST: Final = "at worst"
_DIGITS: Final = 2
_LABEL: Final = 12
_COLUMN: Final = 12
"""Letters of a column of texts that are not folded."""
_ROWS: Final = 15
"""Rows of a further table of the answer."""
_STYLES: Final = {
    Severity.BAD: "bold red",
    Severity.WARNING: "yellow",
    Severity.INCONCLUSIVE: "",
    Severity.INFO: "dim",
    Severity.GOOD: "green",
}


@frozen(kw_only=True, eq=False)
class _Block:
    """One judge, or the data: a heading and entries."""

    heading: str
    entries: Sequence[RenderableType]
    sizes: Sequence[int]
    """Lines of each entry."""
    head: int
    """Lines of the heading, with the count of further findings."""


def brief(report: RunReport, console: Console) -> Iterator[RenderableType]:
    """Yield the findings so that they fit on a screen; what does not fit is counted."""
    head: list[RenderableType] = [Text(_headline(report), style="bold")]
    if report.incomplete:
        head.append(Text(report.totals, style="yellow"))
    family = report.family
    foot = [Text(""), Text(family.sentence, style="dim")] if family is not None and family.tests else []
    blocks = [block for judge in ("", *report.judges) if (block := _block(report, judge, console)) is not None]
    # What failed in the run decides how far the findings below can be believed.
    head += _warnings(report, console)
    answer = list(_first_sections(report, console))
    notes = [_row(None, clean(note, _TEXT)) for note in report.notes if note not in report.warnings]
    most = min(_LINES_OF_ALL + _LINES_PER_TASK * max(len(report.tasks), 1), _MOST_LINES)
    # The tables say in a line what several findings say: they take half of the room that they need from them.
    room = most - sum(_lines(part, console) for part in (*head, *foot)) - _FOOTER
    room = max(room - sum(_lines(part, console) for part in answer) // 2, _LEAST_LINES)
    shown = _fit_blocks(blocks, room)
    room -= sum(_size(block, entries) for block, entries in shown)
    # A judge is worth more than a note: notes get room only once every judge has its heading.
    shown_notes = _rows_that_fit(notes, console, room - 2) if len(shown) == len(blocks) else []
    yield from (*head, *answer)
    for block, entries in shown:
        yield Text("")
        left = len(block.entries) - entries
        yield Text.assemble((block.heading, "bold cyan"), (_more(left) if left else "", "dim"))
        yield from block.entries[:entries]
    if shown_notes:
        yield Text("")
        yield Text("Notes", style="bold cyan")
        yield from shown_notes
    hidden = (len(blocks) - len(shown), "judge"), (len(notes) - len(shown_notes), "note")
    counts = " and ".join(count_noun(number, f"more {what}") for number, what in hidden if number)
    if counts:
        yield Text("")
        yield Text(f"{counts} in the report", style="dim")
    yield from foot


def _first_sections(report: RunReport, console: Console) -> Iterator[RenderableType]:
    """Yield the first sections: texts, and tables with their notes, which are not cut, for they have every judge."""
    first, more = True, list[str]()
    for section in report.sections:
        for part in section.parts if section.importance is Importance.FIRST else ():
            if isinstance(part, TextPart):
                yield Text(clean(part.text, _PARAGRAPH))
            for table in part.tables():
                # The first table of all is the answer; a longer one is left to the files.
                if not first and len(table.rows) > _ROWS:
                    more.append(table.caption)
                    continue
                first = False
                yield Text("")
                yield _answer_grid(report, table, console)
                for note in filter(None, (table.note, note_served(report, table))):
                    yield Text(clean(note, _TEXT), style="dim")
    if more:
        yield Text(f"In the report: {clean('; '.join(more), _TEXT)}", style="dim")


def _answer_grid(report: RunReport, table: TablePart, console: Console) -> RenderableType:
    """Return a table with all columns and intervals; where it is too wide, a block of lines per row."""
    cells = [cell for row in table.rows for cell in row.cells if isinstance(cell, MeasureRef)]
    flags = dict.fromkeys(flag for cell in cells for flag in shown_flags(report.measures[cell.measure]))
    # Names of flags in cells take the room of two columns: letters, as below tables of journals.
    marks = dict(zip(flags, ascii_lowercase, strict=False))
    # Intervals move below their estimates before the table is given up.
    for gap in (" ", "\n"):
        rows = _rows_of_text(report, table, gap, marks)
        widths = _column_widths(table, rows, console.width)
        if widths:
            grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
            for heading, width in zip(_headings(table), widths, strict=True):
                grid.add_column(heading, width=width, overflow="fold")
            for row in rows:
                grid.add_row(*map(_fold, row, widths))
            legend = ", ".join(f"{mark}: {flag}" for flag, mark in marks.items())
            if any(_AT_WORST in cell for row in rows for cell in row):
                legend = f"{_AT_WORST}: whatever the missing verdicts would have been; {legend}"
            return Group(grid, *([Text(legend, style="dim")] if legend else []))
    return Group(*_blocks_of_rows(table, _rows_of_text(report, table, " ", {})))


def _fold(text: str, width: int) -> Text:
    """Fold a cell at spaces and hyphens, which rich does not know, and words that are too long for the column."""
    lines = [part for line in text.split("\n") for part in wrap(line, width, break_long_words=False)]
    return Text("\n".join(line[at : at + width] for line in lines for at in range(0, len(line), width)))


def _headings(table: TablePart) -> list[str]:
    return [clean(name, _TEXT) for name in (*table.heads, *(column.heading for column in table.columns))]


def _rows_of_text(report: RunReport, table: TablePart, gap: str, marks: Mapping[str, str]) -> list[list[str]]:
    return [
        [
            *(clean(name, _TEXT) for name in (_name_with_mark(row.heads[0], mark_of(report, row)), *row.heads[1:])),
            *(_brief_cell(report, cell, gap, marks) for cell in row.cells),
        ]
        for row in table.rows
    ]


def _column_widths(table: TablePart, rows: Sequence[Sequence[str]], room: int) -> Sequence[int]:
    """Return the widths at which no number is cut; empty where these do not fit."""
    # Rich reduces columns below their least width when a table does not fit, so it gets fixed widths.
    widths, least = [], []
    for place, heading in enumerate(_headings(table)):
        lines = [line for row in rows for line in row[place].split("\n")]
        words = max(map(cell_len, heading.split()), default=1)
        widths.append(max(words, *map(cell_len, lines), 1))
        cells = [row.cells[place - len(table.heads)] for row in table.rows] if place >= len(table.heads) else []
        # Texts may fold, numbers may not: a number in two pieces is read as two.
        is_number = any(isinstance(cell, MeasureRef) for cell in cells)
        least.append(widths[-1] if is_number else min(widths[-1], max(_COLUMN, words)))
    room -= len(widths) - 1
    while sum(widths) > room:
        width, place = max((width, place) for place, width in enumerate(widths) if width > least[place] or not place)
        if width <= least[place]:
            return ()
        widths[place] -= 1
    return widths


def _blocks_of_rows(table: TablePart, rows: Sequence[Sequence[str]]) -> Iterator[RenderableType]:
    """Yield each row as its heads and a line per cell."""
    headings = _headings(table)[len(table.heads) :]
    label = max(map(cell_len, headings), default=0) + 2
    for row in rows:
        yield Text(", ".join(name for name in row[: len(table.heads)] if name), style="bold", overflow="fold")
        for heading, cell in zip(headings, row[len(table.heads) :], strict=True):
            if cell:
                yield entry_grid(Text(f"  {heading}", style="dim"), Text(cell), width=label)


def _name_with_mark(name: str, mark: str) -> str:
    return f"{name} ({mark})" if mark else name


def _brief_cell(report: RunReport, cell: Cell, gap: str, marks: Mapping[str, str]) -> str:
    if not isinstance(cell, MeasureRef):
        return clean(content_text(report, cell, _DIGITS), _TEXT)
    measure, digits = report.measures[cell.measure], _DIGITS if cell.digits is None else cell.digits
    figure, *more = figure_with_flags(measure, digits, note=cell.note, marks=marks)
    # An interval stays whole, with its marks behind it; the one that allows for missing verdicts has a line of its own.
    text = gap.join(filter(None, (figure, " ".join(more))))
    return text.replace("], missing at worst", f"],\n{_AT_WORST}") if marks else text


def _more(findings: int) -> str:
    return f"; {count_noun(findings, 'more finding')} in the report"


def _warnings(report: RunReport, console: Console) -> Iterator[RenderableType]:
    """Yield the warnings in at most three lines, the first one cut if need be; of the others, their number."""
    most = _WARNED * (console.width - 2 * _LABEL)  # a line loses some width where a word does not fit
    shown: Sequence[Grid] = ()
    # Words that do not fit move to a further line: if the first warning then takes too many lines, half of it is tried.
    for limit in (most, most // 2):
        shown = shown or _rows_that_fit(
            [_row(Severity.WARNING, clean(text, limit)) for text in report.warnings], console, _WARNED
        )
    yield from shown
    left = len(report.warnings) - len(shown)
    if left:
        yield Text(f"  {left} more {'note' if left == 1 else 'notes'} in the report", style="yellow")


def _rows_that_fit(parts: Sequence[Grid], console: Console, room: int) -> Sequence[Grid]:
    """Return the first parts, as many as have room."""
    used = 0
    for place, row in enumerate(parts):
        used += _lines(row, console)
        if used > room:
            return parts[:place]
    return parts


def _headline(report: RunReport) -> str:
    items = sum(summary.items for summary in report.tasks)
    labelled = sum(summary.labelled for summary in report.tasks)
    of = f"{count_noun(len(report.judges), 'judge')} on {count_noun(len(report.tasks), 'task')}"
    return f"{clean(report.suite, _NAME)}: {of}, {count_noun(items, 'item')} ({labelled:,} with gold)"


def _block(report: RunReport, judge: str, console: Console) -> _Block | None:
    findings = [finding for finding in report.findings if finding.judge == judge]
    if not judge:
        findings = [finding for finding in findings if finding.severity.rank <= Severity.WARNING.rank]
        if not findings:
            return None
    entries = [_entry(group, len(report.tasks) > 1, console) for group in _merge_findings(findings)]
    if not entries:
        entries = [Text(f"  {tables.no_finding(report, judge)}")]
    heading = _about(report, judge) if judge else DATA
    return _Block(
        heading=heading,
        head=_lines(Text(heading + _more(len(entries))), console),
        entries=entries,
        sizes=[_lines(entry, console) for entry in entries],
    )


def _merge_findings(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings with the same statement, or of the same kind where sentences say all."""
    merged: dict[tuple[Severity, str, int], list[Finding]] = {}
    sentences: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        key = finding.severity, finding.statement, 0
        if not _has_figures(finding):  # the statement has the numbers of its task
            key = finding.severity, finding.kind, sentences[finding.kind, finding.task]
            sentences[finding.kind, finding.task] += 1
        merged.setdefault(key, []).append(finding)
    # Of equal severity, what has figures first: missing verdicts are in the heading as well.
    return sorted(merged.values(), key=lambda group: (group[0].severity.rank, not any(map(_has_figures, group))))


def _has_figures(finding: Finding) -> bool:
    return any(basis.value for basis in finding.basis)


def _about(report: RunReport, judge: str) -> str:
    cost = total_spending(line for line in report.spending if (line.role, line.name) == ("judge", judge))
    parts = [_verdict_counts(report, judge)]
    if cost.replies:
        dollars = format_dollars(cost.cost, cost.unknown, cost.replies)
        # "unknown" alone would leave open what is unknown.
        parts.append(f"cost {dollars}" if cost.unknown >= cost.replies else dollars)
    name = clean(mark_simulated(report, judge), _TEXT)
    about = ", ".join(part for part in parts if part)
    return f"{name}: {about}" if about else name


def _verdict_counts(report: RunReport, judge: str) -> str:
    records = report.records
    if not len(records) or not {"judge", "status"} <= set(records.columns):
        return ""
    of_judge = records.where(records.equals("judge", judge))
    if not len(of_judge):
        return ""
    lost = {status: len(rows) for (status,), rows in of_judge.split("status") if status != "ok"}
    reasons = f" ({clean(format_counts(lost), _TEXT)})" if lost else ""
    total = sum(lost.values())
    # Said of every judge: no verdict is dropped without being counted.
    return f"{f'{total:,}' if total else 'none'} of {count_noun(len(of_judge), 'verdict')} missing{reasons}"


def _entry(group: Sequence[Finding], several: bool, console: Console) -> RenderableType:
    """Render merged findings with as many figures as two lines hold, or with one figure on three."""
    figures, severity = list(_figures(group, several)), group[0].severity
    statement = clean(group[0].statement, _TEXT)
    further = len({finding.statement for finding in group}) - 1
    statement = f"{statement}; {further} more" if further else statement
    # Figures come with the largest effect first, so that the ones that are cut matter least.
    for shown in range(len(figures), 0, -1):
        left = len(figures) - shown
        more = f"; {left} more" if left else ""
        row = _row(severity, f"{statement}: {'; '.join(figures[:shown])}{more}")
        if _lines(row, console) <= (_ENTRY if shown > 1 else _ENTRY + 1):
            return row
    return _row(severity, statement)


def _figures(findings: Iterable[Finding], several: bool) -> Iterator[str]:
    """Yield the figures: the largest of every task with its interval, then the others with their estimate."""
    parts = [[basis for basis in finding.basis if basis.value] for finding in findings if _has_figures(finding)]
    parts.sort(key=lambda bases: -bases[0].effect)
    # The reference is named only where a test is named next to it.
    named = any(basis.test not in ("", REFERENCE) for bases in parts for basis in bases)
    for basis in (bases[0] for bases in parts):
        needs = f" ({basis.decide})" if basis.decide else ""
        numbers = " ".join(part for part in (basis.value, basis.interval, basis.aside) if part)
        # "60 items in 6 clusters" stays whole: 60 would promise more than the data hold.
        size = basis.size if " in " in basis.size else basis.size.split(" ")[0]
        yield clean(f"{_where(basis, several, named)}{numbers}{f' n={size}' if size else ''}{needs}", _TEXT)
    for basis in (basis for bases in parts for basis in bases[1:]):
        yield clean(f"{_where(basis, several, named)}{basis.value}", _TEXT)


def _where(basis: Basis, several: bool, named: bool) -> str:
    test = "" if basis.test == REFERENCE and not named else basis.test
    return "".join(f"{part} " for part in (basis.task if several else "", test) if part)


def _row(severity: Severity | None, text: str) -> Grid:
    label = Text(f"  {severity.value}", style=_STYLES[severity]) if severity else Text("  note", style="dim")
    return entry_grid(label, Text(text), width=_LABEL + 2)


def entry_grid(label: Text, text: Text, *, width: int) -> Grid:
    """Return a label with a text whose further lines stay to the right of the label."""
    grid = Grid(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_header=False)
    grid.add_column("", width=width, no_wrap=True)
    grid.add_column("", overflow="fold")
    grid.add_row(label, text)
    return grid


def _size(block: _Block, entries: int) -> int:
    """Return the lines of a block with so many entries, the blank one before it included."""
    return 1 + block.head + sum(block.sizes[:entries])


def _lines(part: RenderableType, console: Console) -> int:
    # Rich wraps by words and by the width of wide characters, so lines are counted after rendering.
    return len(console.render_lines(part, pad=False))


def _fit_blocks(blocks: Sequence[_Block], room: int) -> list[tuple[_Block, int]]:
    """Give every judge a heading and its worst finding and then, in turn, its next one, as long as there is room."""
    shown = 0
    used = 0
    # No block is skipped for a shorter one behind it: judges stay in the suite's order.
    while shown < len(blocks) and used + _size(blocks[shown], 1) <= room:
        used += _size(blocks[shown], 1)
        shown += 1
    # The worst finding of every judge before the second of any: one bad judge must not hide the others.
    counts = [min(1, len(block.sizes)) for block in blocks[:shown]]
    open_ones = list(range(shown))
    while open_ones:
        for place in tuple(open_ones):
            sizes, at = blocks[place].sizes, counts[place]
            if at >= len(sizes) or used + sizes[at] > room:
                open_ones.remove(place)
                continue
            used += sizes[at]
            counts[place] += 1
    return [(blocks[place], counts[place]) for place in range(shown)]
