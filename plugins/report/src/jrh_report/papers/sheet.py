"""A table of measures, texts and numbers, written as CSV, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import field, frozen
from jrh import Measure
from jrh_measuring import format_measure, format_number, markdown_text

from jrh_report.latex import latex_tabular
from jrh_report.latex import latex_text as latex
from jrh_report.record_tables import csv_bytes, neutral

Cell: TypeAlias = "str | int | float | Measure | None"
_PARTS: Final = ("", " low", " high", " trials", " items", " missing", " flags")
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
    heads: int = 1
    """Columns that name a row, the judge first."""
    better: Mapping[str, str] = field(factory=dict)
    """Name of a measure -> which values are better, `higher` or `lower`: the best of a column is bold."""

    def csv(self) -> bytes:
        """Return every number in full; a measure has columns for interval, sizes, missing verdicts and flags."""
        # By column: a measure in one row makes seven columns, which the other rows fill up.
        wide = [any(isinstance(row[place], Measure) for row in self.rows) for place in range(len(self.columns))]
        heads = [
            f"{column}{part}"
            for column, measured in zip(self.columns, wide, strict=True)
            for part in (_PARTS if measured else ("",))
        ]
        rows = (
            [part for cell, measured in zip(row, wide, strict=True) for part in _plain(cell, measured)]
            for row in self.rows
        )
        return csv_bytes([map(neutral, heads), *rows])

    def tex(self, digits: int) -> str:
        """Return a LaTeX table; needs `booktabs`, and `adjustbox` where it is wider than the page."""
        best = self._best()
        rows = [
            [
                rf"\textbf{{{text}}}" if (at, place) in best else text
                for place, cell in enumerate(row)
                for text in [latex(_cell_text(cell, digits), _TEXT)]
            ]
            for at, row in enumerate(self.rows[:_SHOWN])
        ]
        lines = [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{latex(self.title, 400)}. {latex(self.note, 800)}}}",
            rf"\label{{tab:{self.name}}}",
            r"\begin{adjustbox}{max width=\textwidth}",
            *latex_tabular("l" * len(self.columns), [latex(column) for column in self.columns], rows),
            r"\end{adjustbox}",
            *(f"% {line}" for line in self._omission()),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def markdown(self, digits: int) -> str:
        """Return the title, the table and the note."""
        lines = [f"## {markdown_text(self.title, _TEXT)}", "", f"`{self.name}.csv`", ""]
        lines += [_line(self.columns), f"|{' --- |' * len(self.columns)}"]
        best = self._best()
        for at, row in enumerate(self.rows[:_SHOWN]):
            cells = (markdown_text(_cell_text(cell, digits), _TEXT) for cell in row)
            lines.append(_row(f"**{cell}**" if (at, place) in best else cell for place, cell in enumerate(cells)))
        for line in self._omission():
            lines += ["", line]
        if self.note:
            lines += ["", markdown_text(self.note, 4 * _TEXT)]
        return "\n".join(lines) + "\n"

    def _best(self) -> set[tuple[int, int]]:
        """Return row and column of the best estimates of each measure, among the judges of the same test."""
        groups: dict[tuple[Cell, ...], list[tuple[float, int, int]]] = {}
        for at, row in enumerate(self.rows):
            for place, cell in enumerate(row):
                sign = (
                    {"higher": 1, "lower": -1}.get(self.better.get(cell.name, ""), 0)
                    if isinstance(cell, Measure)
                    else 0
                )
                if isinstance(cell, Measure) and sign and cell.judge and cell.estimate is not None:
                    groups.setdefault((place, *row[1 : self.heads]), []).append((sign * cell.estimate, at, place))
        # Of one judge alone nothing is the best.
        return {
            (at, place)
            for cells in groups.values()
            if len(cells) > 1
            for value, at, place in cells
            if value == max(cells)[0]
        }

    def _omission(self) -> list[str]:
        """Return the sentence on rows that only the CSV file has; nothing where there are none."""
        more = len(self.rows) - _SHOWN
        return [f"{more:,} more rows are in {self.name}.csv."] if more > 0 else []


def _cell_text(cell: Cell, digits: int) -> str:
    if isinstance(cell, Measure):
        return format_measure(cell, digits)
    if isinstance(cell, float):
        return format_number(cell, digits, proportion=False)
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def _plain(cell: Cell, measured: bool) -> Sequence[object]:
    """Return the CSV cells of a cell: as many as `_PARTS` in a column with measures; None is written as empty."""
    if isinstance(cell, Measure):
        interval = cell.interval
        ends = (None, None) if interval is None else (interval.low, interval.high)
        sizes = cell.n_trials, cell.n_items, sum(cell.missing.values())
        # Full precision: whoever computes with the file must not inherit our rounding.
        return [cell.estimate, *ends, *sizes, neutral(" ".join(cell.flags))]
    value = neutral(cell) if isinstance(cell, str) else cell
    return [value, *([""] * (len(_PARTS) - 1 if measured else 0))]


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return _row(markdown_text(cell, _TEXT) for cell in cells)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
