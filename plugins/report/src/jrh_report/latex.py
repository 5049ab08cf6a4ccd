"""Tables for papers: judges by tests, as LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen
from jrh import Measure, RunReport
from jrh_measuring import format_estimate, format_interval, format_sizes

from jrh_report.asked import check_measures
from jrh_report.by_test import Grid, grid
from jrh_report.latex_text import latex as safe
from jrh_report.options import LatexOptions
from jrh_report.sections import section_texts
from jrh_report.tables import Table

_NEEDED = (
    r"% Needs \usepackage{booktabs}. The text is UTF-8; letters beyond those of the font need XeLaTeX or LuaLaTeX."
)


@frozen
class LatexReporter:
    r"""Writes one table for each task and measure: judges by tests, estimate with interval, n and missing below.

    All text is escaped; nothing of it is a command. The file is a fragment for `\input`.
    """

    options: LatexOptions

    def render(self, report: RunReport) -> str:
        """Return the tables; the same report gives the same text.

        Raises:
            JrhError: a measure is asked for that the run does not have.
        """
        check_measures(report, "latex", self.options.measures, LatexOptions().measures)
        lines = [f"% Written by jrh {safe(report.version, 40)}: suite {safe(report.suite)}, run {safe(report.run_id)}."]
        lines.append(_NEEDED)
        grids = [
            found
            for summary in report.tasks
            for name in self.options.measures
            if (found := grid(report, summary.task.name, name)) is not None
        ]
        if not grids:
            asked = ", ".join(safe(name) for name in self.options.measures)
            lines.append(f"% Nothing to tabulate: the run has no measure named {asked}.")
        for number, found in enumerate(grids, start=1):
            lines += ["", *self._table(report, found, number)]
        for section in section_texts(report, self.options.digits):
            for table in section.tables:
                lines += ["", *_section_table(section.title, table)]
        return "\n".join(lines) + "\n"

    def _table(self, report: RunReport, found: Grid, number: int) -> Iterator[str]:
        yield r"\begin{table}[htbp]"
        yield r"\centering"
        yield rf"\caption{{{_caption(report, found)}}}"
        yield rf"\label{{tab:jrh-{number}}}"
        for start in range(0, len(found.tests), self.options.tests):
            tests = range(start, min(start + self.options.tests, len(found.tests)))
            if start:
                yield r"\par\medskip"
            yield from self._tabular(found, tests)
        yield r"\end{table}"

    def _tabular(self, found: Grid, tests: Sequence[int]) -> Iterator[str]:
        yield rf"\begin{{tabular}}{{l{'c' * len(tests)}}}"
        yield r"\toprule"
        yield _row(["Judge", *(safe(found.tests[place]) for place in tests)])
        yield r"\midrule"
        for place, row in enumerate(found.rows):
            cells = [row.measures[test] for test in tests]
            if place:
                yield r"\addlinespace"
            yield _row([safe(row.label), *(self._estimate(cell) for cell in cells)])
            yield _row(["", *(_small(self._interval(cell)) for cell in cells)])
            yield _row(["", *(_small(_sizes(cell)) for cell in cells)])
        yield r"\bottomrule"
        yield r"\end{tabular}"

    def _estimate(self, measure: Measure | None) -> str:
        return "---" if measure is None else _number(format_estimate(measure, self.options.digits))

    def _interval(self, measure: Measure | None) -> str:
        return "" if measure is None else _number(format_interval(measure, self.options.digits))


def _section_table(title: str, table: Table) -> Iterator[str]:
    """Yield the lines of a table that a plugin shows."""
    yield r"\begin{table}[htbp]"
    yield r"\centering"
    yield rf"\caption{{{safe(title)}: {safe(table.title)}}}"
    yield rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}"
    yield r"\toprule"
    yield _row([safe(heading) for heading in table.columns])
    yield r"\midrule"
    yield from (_row([safe(cell) for cell in row]) for row in table.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _caption(report: RunReport, found: Grid) -> str:
    level = f"{report.level:.0%}".replace("%", r"\,\%")
    text = f"{safe(found.title)}, task {safe(found.task)}: estimates with {level} intervals."
    text += r" $n$: trials; intervals are by cluster of items."
    if any(row.simulated for row in found.rows):
        text += " Simulated judges have planted behaviour and call no model."
    return text


def _sizes(measure: Measure | None) -> str:
    return "" if measure is None else safe(format_sizes(measure)).replace("n=", "$n$ = ", 1)


def _small(text: str) -> str:
    return rf"\footnotesize {text}" if text else ""


def _number(text: str) -> str:
    """Escape a written number; its minus sign is one."""
    return safe(text).replace("-", "$-$") if any(figure in text for figure in "0123456789") else safe(text)


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} " + r"\\"
