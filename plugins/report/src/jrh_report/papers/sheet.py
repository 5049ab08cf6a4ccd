"""A table of measures, texts and numbers, written as CSV, LaTeX and Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Final, TypeAlias

from attrs import frozen
from jrh import Measure
from jrh_measuring import format_measure, format_number, markdown_text

from jrh_report.csv_report import neutral
from jrh_report.latex import latex_text as latex

Cell: TypeAlias = "str | int | float | Measure | None"
_PARTS: Final = ("", " low", " high", " n", " items", " missing", " flags")
"""Columns of a measure in CSV, after its heading."""
_SHOWN: Final = 200
"""Rows of a table that LaTeX and Markdown show; CSV has all."""
_TEXT: Final = 160


@frozen(kw_only=True)
class Sheet:
    """A table under the name of its file."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """What has to be known to read it."""
    per_case: bool = False
    """One row per case: only in CSV."""

    def csv(self) -> bytes:
        """Return every number in full; a measure has columns for interval, sizes, missing verdicts and flags."""
        wide = [any(isinstance(row[place], Measure) for row in self.rows) for place in range(len(self.columns))]
        heads = [
            f"{column}{part}"
            for column, measured in zip(self.columns, wide, strict=True)
            for part in (_PARTS if measured else ("",))
        ]
        target = StringIO(newline="")
        writer = csv.writer(target, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(map(neutral, heads))
        for row in self.rows:
            writer.writerow([part for cell, measured in zip(row, wide, strict=True) for part in _plain(cell, measured)])
        return target.getvalue().encode("utf-8")

    def tex(self, digits: int) -> str:
        """Return a LaTeX table; needs `booktabs`, and `adjustbox` where it is wider than the page."""
        lines = [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{latex(self.title, 400)}. {latex(self.note, 800)}}}",
            rf"\label{{tab:{self.name}}}",
            r"\begin{adjustbox}{max width=\textwidth}",
            rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
            r"\toprule",
            _row(latex(column) for column in self.columns),
            r"\midrule",
            *(_row(latex(self._written(cell, digits), _TEXT) for cell in row) for row in self.rows[:_SHOWN]),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            *([f"% {self._left_out()}"] if len(self.rows) > _SHOWN else []),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def markdown(self, digits: int) -> str:
        """Return the title, the table and the note."""
        lines = [f"## {markdown_text(self.title, _TEXT)}", "", f"`{self.name}.csv`", ""]
        lines += [_line(self.columns), f"|{' --- |' * len(self.columns)}"]
        lines += [_line(self._written(cell, digits) for cell in row) for row in self.rows[:_SHOWN]]
        if len(self.rows) > _SHOWN:
            lines += ["", self._left_out()]
        if self.note:
            lines += ["", markdown_text(self.note, 4 * _TEXT)]
        return "\n".join(lines) + "\n"

    def _left_out(self) -> str:
        return f"{len(self.rows) - _SHOWN:,} more rows are in {self.name}.csv."

    @staticmethod
    def _written(cell: Cell, digits: int) -> str:
        if isinstance(cell, Measure):
            return format_measure(cell, digits)
        if isinstance(cell, float):
            return format_number(cell, digits, proportion=False)
        return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def _plain(cell: Cell, measured: bool) -> Sequence[object]:
    if isinstance(cell, Measure):
        interval = cell.interval
        ends = (None, None) if interval is None else (interval.low, interval.high)
        missing = sum(cell.missing.values())
        return [_known(each) for each in (cell.estimate, *ends, cell.n_trials, cell.n_items, missing)] + [
            neutral(" ".join(cell.flags))
        ]
    value = neutral(cell) if isinstance(cell, str) else _known(cell)
    return [value, *([""] * (len(_PARTS) - 1 if measured else 0))]


def _known(value: float | None) -> object:
    return "" if value is None else value


def _row(cells: Iterator[str]) -> str:
    return f"{' & '.join(cells)} " + r"\\"


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(markdown_text(cell, _TEXT) for cell in cells)} |"
