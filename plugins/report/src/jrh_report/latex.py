"""Tables for papers, as LaTeX with booktabs: judges by tests for every measure of a heat map, then all other tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport
from jrh.text import clean_text
from jrh.values import MeasureRef
from jrh_measuring import HeatPart, Layer, format_estimate, format_interval, format_sizes, mark_simulated, served_note

from jrh_report.options import LatexOptions
from jrh_report.sections import section_texts

_NEEDED: Final = (
    r"% Needs \usepackage{booktabs}. The text is UTF-8; letters beyond those of the font need XeLaTeX or LuaLaTeX."
)
_ESCAPES: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "[": "{[}",  # after a line end it would begin an optional argument
    "]": "{]}",
    "*": "{*}",  # so would this
    "`": r"\textasciigrave{}",
}
_LIGATURE: Final = re.compile(r"-(?=-)|'(?=')|[?!](?=`)")
"""What would become one sign with its successor."""


@frozen
class LatexReporter:
    r"""Writes tables: judges by tests, estimate with interval, n and missing below; then those of all sections.

    All text is escaped; nothing of it is a command. The file is a fragment for `\input`.
    """

    options: LatexOptions

    def render(self, report: RunReport) -> str:
        """Return the tables; the same report gives the same text."""
        about = f"suite {latex_text(report.suite)}, run {latex_text(report.run_id)}"
        lines = [f"% Written by jrh {latex_text(report.version, 40)}: {about}.", _NEEDED]
        label = count(1)
        for section in report.sections:
            for part in section.parts:
                if isinstance(part, HeatPart):
                    for layer in part.layers:
                        lines += ["", *self._by_tests(report, section.task, part, layer, f"tab:jrh-{next(label)}")]
        # A heat map is written above; its table form would repeat it.
        heat = {part.caption for section in report.sections for part in section.parts if isinstance(part, HeatPart)}
        for text in section_texts(report, self.options.digits):
            for table in text.tables:
                if table.title not in heat:
                    caption = f"{latex_text(text.title)}: {latex_text(table.title, 400)}"
                    caption += f". {latex_text(table.served, 800)}" if table.served else ""
                    lines += ["", *latex_table(caption, f"tab:jrh-{next(label)}", table.columns, table.rows)]
        return "\n".join(lines) + "\n"

    def _by_tests(self, report: RunReport, task: str, part: HeatPart, layer: Layer, label: str) -> Iterator[str]:
        yield r"\begin{table}[htbp]"
        yield r"\centering"
        yield rf"\caption{{{_caption(report, task, layer, part.rows)}}}"
        yield rf"\label{{{label}}}"
        # Paper has a width: a heat map of many tests is broken into tables below each other.
        for start in range(0, len(part.columns), self.options.tests):
            tests = range(start, min(start + self.options.tests, len(part.columns)))
            if start:
                yield r"\par\medskip"
            heads = [latex_text(part.heads[0]), *(latex_text(part.columns[place]) for place in tests)]
            rows = [line for row, _ in enumerate(part.rows) for line in self._row(report, part, layer, row, tests)]
            yield from latex_tabular(f"l{'c' * len(tests)}", heads, rows)
        yield r"\end{table}"

    def _row(
        self, report: RunReport, part: HeatPart, layer: Layer, row: int, tests: Sequence[int]
    ) -> Iterator[Sequence[str]]:
        """Yield the lines of a judge: estimates, intervals, sizes."""
        cells = [layer.cells[row][test] for test in tests]
        measures = [report.measures[cell.measure] if isinstance(cell, MeasureRef) else None for cell in cells]
        digits = self.options.digits
        name = latex_text(mark_simulated(report, part.rows[row]))
        estimates = ("---" if cell is None else _number(format_estimate(cell, digits)) for cell in measures)
        intervals = ("" if cell is None else _number(format_interval(cell, digits)) for cell in measures)
        yield [name, *estimates]
        yield ["", *map(_small, intervals)]
        yield ["", *(_small(_sizes(cell)) for cell in measures)]


def _caption(report: RunReport, task: str, layer: Layer, rows: Sequence[str]) -> str:
    level = f"{report.level:.0%}".replace("%", r"\,\%")
    heading = layer.heading[:1].upper() + layer.heading[1:]
    about = f", task {latex_text(task)}" if task else ""
    text = f"{latex_text(heading)}{about}: estimates with {level} intervals."
    text += r" $n$: trials; intervals are by cluster of items."
    if served := served_note(report.served, rows):
        text += f" {latex_text(served, 800)}"
    if report.simulated:
        text += " Simulated judges have planted behaviour and call no model."
    return text


def latex_table(caption: str, label: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of text; the caption is LaTeX."""
    yield r"\begin{table}[htbp]"
    yield r"\centering"
    yield rf"\caption{{{caption}}}"
    yield rf"\label{{{label}}}"
    cells = [[latex_text(cell, 160) for cell in row] for row in rows]
    yield from latex_tabular("l" * len(columns), [latex_text(heading) for heading in columns], cells)
    yield r"\end{table}"


def latex_tabular(layout: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a `tabular`; headings and cells are LaTeX."""
    lines = (rf"{' & '.join(cells)} \\" for cells in (heads, *rows))
    yield rf"\begin{{tabular}}{{{layout}}}"
    yield r"\toprule"
    yield next(lines)
    yield r"\midrule"
    yield from lines
    yield r"\bottomrule"
    yield r"\end{tabular}"


def latex_text(text: str, limit: int = 120) -> str:
    """Return the text so that LaTeX prints it: no command, no comment, no mathematics, no optional argument."""
    # Character by character in one pass: escapes contain backslashes and braces that must not be escaped again.
    escaped = "".join(_ESCAPES.get(character, character) for character in clean_text(text, limit))
    return _LIGATURE.sub(r"\g<0>{}", escaped)


def _sizes(measure: Measure | None) -> str:
    return "" if measure is None else latex_text(format_sizes(measure)).replace("n=", "$n$ = ", 1)


def _small(text: str) -> str:
    return rf"\footnotesize {text}" if text else ""


def _number(text: str) -> str:
    """Escape a written number; its minus sign is one."""
    # A hyphen is shorter than a minus sign; "not estimable" holds no number and keeps its hyphens.
    return latex_text(text).replace("-", "$-$") if any(figure.isdigit() for figure in text) else latex_text(text)
