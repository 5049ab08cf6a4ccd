"""Read the first sheet of an Excel workbook as rows of text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from jrh import JrhError
from jrh_interchange import LARGEST_TABLE


def sheet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first sheet that are not empty, each with its number in the sheet, from 1.

    Numbers without a fraction are written without one, truth values as `true` and `false`.

    Raises:
        JrhError: it is no workbook, or it unpacks to more than a table may have.
    """
    from python_calamine import CalamineError, load_workbook

    _check_size(path)
    try:
        workbook = load_workbook(str(path))
        rows = workbook.get_sheet_by_index(0).to_python(skip_empty_area=False) if workbook.sheet_names else []
    except CalamineError as error:
        raise JrhError(f"'{path}' is not a workbook that can be read: {error}") from error
    for number, row in enumerate(rows, start=1):
        cells = [_text(cell) for cell in row]
        if any(cells):
            yield number, cells


def _check_size(path: Path) -> None:
    try:
        with ZipFile(path) as packed:
            size = sum(each.file_size for each in packed.infolist())
    except BadZipFile as error:
        raise JrhError(f"'{path}' is not an Excel workbook (.xlsx)") from error
    if size > LARGEST_TABLE:
        raise JrhError(f"'{path}' unpacks to {size:,} bytes; a table has at most {LARGEST_TABLE:,}")


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
