"""The run as a workbook: a sheet of measures with everything they rest on, the report's tables, and the records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from jrh import JrhError, RunReport
from jrh_measuring import MEASURE_COLUMNS, measure_rows, served_note

from jrh_report.options import XlsxOptions
from jrh_report.record_tables import chunks, names, neutral, storable
from jrh_report.sections import section_texts
from jrh_report.tables import finite, run_tables

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

ROWS: Final = 1_048_576
"""Rows of a sheet, by the file format; the header is one of them."""
CHARACTERS: Final = 32_767
"""Characters of a cell, by the file format, in UTF-16 units."""
_DIGITS: Final = 3
_CUT: Final = " [cut]"


def build(options: XlsxOptions) -> XlsxReporter:
    """Build the reporter; a missing library shows here, before anything is written.

    Raises:
        JrhError: xlsxwriter is not installed.
    """
    try:
        import xlsxwriter  # noqa: F401
    except ImportError as error:
        raise JrhError(f"xlsxwriter is not installed ({error}): pip install 'jrh-report[xlsx]'") from None
    return XlsxReporter(options)


@frozen
class XlsxReporter:
    """Writes a workbook; no text of a run is ever a formula or a link.

    Its first sheet says what the run is, which judges are simulated, and what did not fit.
    """

    options: XlsxOptions

    def render(self, report: RunReport) -> bytes:
        """Return the workbook; the same report gives the same bytes with the same version of xlsxwriter."""
        from datetime import UTC, datetime

        import xlsxwriter

        target = BytesIO()
        # Rows go to a temporary file as they are written: a million records fit.
        book = xlsxwriter.Workbook(target, {"constant_memory": True, "strings_to_urls": False})
        book.set_properties({"created": datetime(1980, 1, 1, tzinfo=UTC)})  # the time would differ between equal runs
        sheets = _Sheets(self.options.neutralise)
        # "About" is the first sheet and is written last, as it says what did not fit.
        about, measures = book.add_worksheet("About"), book.add_worksheet("Measures")
        columns = tuple(name.replace("_", " ") for name in MEASURE_COLUMNS)
        sheets.fill(measures, columns, _measures(finite(report)))
        for table in run_tables(report):
            sheets.fill(book.add_worksheet(table.title), table.columns, table.rows)
        sections = list(_section_rows(report))
        if sections:
            sheets.fill(book.add_worksheet("Sections"), ("section", "table"), sections)
        if self.options.records:
            columns = names(report.records)
            sheets.fill(book.add_worksheet("Records"), columns, _records(report, columns))
        sheets.fill(about, ("jrh", ""), [*_about(report), *(("Note", line) for line in sheets.omissions())])
        book.close()
        return target.getvalue()


class _Sheets:
    """Fills sheets within the limits of the format, and remembers what did not fit."""

    def __init__(self, neutralise: bool) -> None:
        self._neutralise = neutralise
        self._left: dict[str, int] = {}
        self._cut: dict[str, int] = {}

    def fill(self, sheet: Worksheet, columns: Sequence[str], rows: Any) -> None:
        name = sheet.get_name()
        for place, cell in enumerate(columns):
            sheet.write_string(0, place, cell)
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(rows, start=1):
            # Counting goes on, since the first sheet says how many rows are missing.
            if number >= ROWS:
                self._left[name] = self._left.get(name, 0) + 1
                continue
            for place, cell in enumerate(row):
                self._write(sheet, number, place, cell)

    def _write(self, sheet: Worksheet, row: int, column: int, cell: Any) -> None:
        if isinstance(cell, bool):
            sheet.write_boolean(row, column, cell)
        elif isinstance(cell, int | float):
            # The format has no NaN: xlsxwriter would raise.
            if math.isfinite(cell):
                sheet.write_number(row, column, cell)
        elif cell:
            # Every text is written as text. The apostrophe is for the day somebody saves the sheet as CSV.
            text = neutral(cell) if self._neutralise else storable(cell)
            if _units(text) > CHARACTERS:
                text = _cut_text(text)
                self._cut[sheet.get_name()] = self._cut.get(sheet.get_name(), 0) + 1
            sheet.write_string(row, column, text)

    def omissions(self) -> Iterator[str]:
        """Yield a sentence on each sheet that does not hold everything."""
        elsewhere = "records.csv, records.parquet and report.json hold everything"
        for name, count in self._left.items():
            yield f"{name}: {count:,} rows do not fit into the {ROWS:,} rows of a sheet; {elsewhere}"
        for name, count in self._cut.items():
            yield f"{name}: {count:,} cells are cut to the {CHARACTERS:,} characters of a cell; {elsewhere}"


def _units(text: str) -> int:
    # A character takes at most two units, so that short texts need no encoding.
    return len(text) if len(text) * 2 <= CHARACTERS else len(text.encode("utf-16-le")) // 2


def _cut_text(text: str) -> str:
    room = (CHARACTERS - len(_CUT)) * 2
    return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + _CUT


def _measures(report: RunReport) -> Iterator[Sequence[Any]]:
    for row in measure_rows(report):
        yield list((row | {"estimate": "not estimable"} if row["estimate"] is None else row).values())


def _section_rows(report: RunReport) -> Iterator[tuple[str, ...]]:
    """Yield the tables of all sections, each with a row of headings, one below the other."""
    for section in section_texts(report, _DIGITS):
        for table in section.tables:
            yield from ((section.title, table.title, *row) for row in (table.columns, *table.rows))


def _records(report: RunReport, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for part in chunks(report.records):
        yield from zip(*(part[name] for name in columns), strict=True)


def _about(report: RunReport) -> Iterator[tuple[str, Any]]:
    yield "Suite", report.suite
    yield "Run", report.run_id
    yield "Version", report.version
    yield "Seed", report.seed
    yield "Level of the intervals", report.level
    yield "Judges", ", ".join(report.judges)
    yield "Simulated judges (planted behaviour, no model)", ", ".join(sorted(report.simulated)) or "none"
    if served := served_note(report.served, report.judges):
        yield "Served", served
    yield "Trials", report.totals
    for finding in report.findings:
        yield "Finding", finding.sentence
    for note in report.notes:
        yield "Note", note
