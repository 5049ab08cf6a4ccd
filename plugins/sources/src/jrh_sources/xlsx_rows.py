"""Read the rows of a sheet of an Excel workbook."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from jrh import Json

from jrh_sources.options import XlsxOptions
from jrh_sources.rows import Problems, Row

LARGEST_WORKBOOK: Final = 1024 * 1024 * 1024
"""Unpacked bytes of a workbook, which is held in memory at once."""


def xlsx_rows(path: Path, options: XlsxOptions, problems: Problems) -> Iterator[Row]:
    """Yield the rows below the header, the first row that is not empty; `line` is the row's number in the sheet.

    Texts stay as they are, whole numbers are written without a fraction, dates as ISO 8601. Empty rows are skipped, and
    so are cells under an empty heading. Formulas count as the values that the program which saved the file computed.
    """
    rows = _numbered(path, options.sheet, problems)
    _, header = next(rows, (0, []))
    names = [str(name) for name in header]
    if not any(names):
        if not problems:
            problems.add("the sheet is empty; it must start with a header row")
        return
    for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
        problems.add(f"column '{name}' appears {names.count(name)} times in the header; names must be unique")
    if problems:
        return
    line = 0
    for line, cells in rows:
        yield Row(line=line, values={name: cell for name, cell in zip(names, cells, strict=True) if name})
    if not line:
        problems.add("the sheet has a header but no rows")


def _numbered(path: Path, sheet: str, problems: Problems) -> Iterator[tuple[int, list[Json]]]:
    from python_calamine import CalamineError, load_workbook

    try:
        with ZipFile(path) as packed:
            size = sum(each.file_size for each in packed.infolist())
        if size > LARGEST_WORKBOOK:
            problems.add(f"unpacks to {size:,} bytes; a workbook has at most {LARGEST_WORKBOOK:,}")
            return
        workbook = load_workbook(str(path))
        name = sheet or next(iter(workbook.sheet_names), "")
        if name not in workbook.sheet_names:
            problems.add(f"has no sheet '{name}'; its sheets: {', '.join(workbook.sheet_names)}")
            return
        rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (BadZipFile, CalamineError) as error:
        problems.add(f"not a readable Excel workbook (.xlsx): {error}")
        return
    for number, row in enumerate(rows, start=1):
        cells = [_plain(cell) for cell in row]
        if any(cell != "" for cell in cells):
            yield number, cells


def _plain(cell: Any) -> Json:
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else cell
    if isinstance(cell, str | bool):
        return cell
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
