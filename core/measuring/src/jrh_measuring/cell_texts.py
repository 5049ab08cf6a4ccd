"""Cells of tables as text, for everything that shows a section without drawing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from jrh import Measure, RunReport
from jrh.values import Cell, FindingRef, MeasureRef

from jrh_measuring.flags import shown_flags
from jrh_measuring.numbers import format_estimate, format_interval, format_number, format_sizes


def number_text(number: float, digits: int) -> str:
    """Write a number that is no measure."""
    return f"{number:,}" if isinstance(number, int) else format_number(number, digits, proportion=False)


def content_text(report: RunReport, cell: FindingRef | str | float | None, digits: int) -> str:
    """Write a cell that is no measure."""
    if isinstance(cell, FindingRef):
        return report.findings[cell.finding].sentence
    return number_text(cell, digits) if isinstance(cell, int | float) else cell or ""


def cell_text(report: RunReport, cell: Cell, digits: int, gap: str = " ") -> str:
    """Write a cell of a table; `gap` is between the parts of a measure."""
    if not isinstance(cell, MeasureRef):
        return content_text(report, cell, digits)
    measure, digits = report.measures[cell.measure], digits if cell.digits is None else cell.digits
    return gap.join(figure_with_flags(measure, digits, format_sizes(measure, f",{gap}"), note=cell.note))


def figure_with_flags(
    measure: Measure, digits: int, sizes: str = "", *, note: str = "", marks: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """Yield the parts of a cell that are there: estimate, interval, sizes, note, and the flags as on the page.

    `marks` are what is written in place of flags.
    """
    estimate = format_estimate(measure, digits)
    # A number that is not estimable says itself why.
    flags = [flag for flag in shown_flags(measure) if flag not in estimate]
    written = "".join(sorted(marks[flag] for flag in flags)) if marks else ", ".join(flags)
    note = f"({note})" if note else ""
    yield from filter(None, (estimate, format_interval(measure, digits), sizes, note, written))
