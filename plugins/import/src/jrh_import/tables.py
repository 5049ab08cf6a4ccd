"""Read the rows of a table as text, each with its location."""

from __future__ import annotations

import codecs
import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias
from zipfile import BadZipFile, ZipFile

from attrs import evolve, frozen
from jrh import JrhError
from jrh_interchange import LARGEST_TABLE, check_table_file, csv_rows, next_csv_row

from jrh_import.mapping import Format
from jrh_import.targets import restored

Cells: TypeAlias = Mapping[str, str]
"""Column -> text; columns without a value are left out."""


_SEPARATOR: Final = re.compile(r"sep=([^\r\n\"\w])\r?\n?", re.IGNORECASE)
_LONGEST_START: Final = 16


@frozen(kw_only=True)
class Row:
    """One row."""

    place: str
    """`file:line`, or `file: row n` in formats without lines."""
    cells: Cells


@frozen(kw_only=True)
class Table:
    """A whole table."""

    columns: tuple[str, ...]
    """By first appearance."""
    rows: tuple[Row, ...]


def read_table(
    path: Path, kind: Format, delimiter: str, *, neutralised: bool = False, most: int | None = None
) -> Table:
    """Read a table whole; cells are text exactly as the file writes them.

    Args:
        path: the file.
        kind: its format.
        delimiter: the character that separates the cells of a csv file.
        neutralised: remove the apostrophe at the start of a cell, which keeps spreadsheets from reading it as a
            formula.
        most: refuse a table with more rows; None: no limit.

    Raises:
        JrhError: The file does not exist or is not a table of the format; the text says where.
    """
    try:
        check_table_file(path)  # a device or a pipe may never end
        found = _rows(path, kind, delimiter, sys.maxsize if most is None else most)
        rows = tuple(_restored(row) for row in found) if neutralised else tuple(found)
    except OSError as error:
        raise JrhError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise JrhError(_not_utf8(path, error)) from error
    if not rows:
        raise JrhError(f"'{path}' has no rows")
    return Table(columns=tuple(dict.fromkeys(name for row in rows for name in row.cells)), rows=rows)


def _rows(path: Path, kind: Format, delimiter: str, most: int) -> Iterator[Row]:
    if kind is Format.PARQUET:
        found = _parquet(path)
    elif kind is Format.JSONL:
        found = _jsonl(path)
    elif kind is Format.XLSX:
        found = _xlsx(path)
    else:
        found = _csv(path, "\t" if kind is Format.TSV else delimiter)
    for number, row in enumerate(found, start=1):
        if number > most:
            raise JrhError(f"'{path}' has more than {most:,} rows; take a sample of them")
        yield row


def _not_utf8(path: Path, error: UnicodeDecodeError) -> str:
    with path.open("rb") as file:
        start = file.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return f"'{path}' is UTF-16 text; save the file as UTF-8"
    return f"'{path}' is not UTF-8 text: {error.reason} at byte {error.start + 1}; save the file as UTF-8"


def _restored(row: Row) -> Row:
    return evolve(row, cells={name: restored(text) for name, text in row.cells.items()})


def separator_line(text: str) -> str | None:
    """Return the separator that the first line of a csv file names for Excel, as in `sep=;`; None for a header."""
    found = _SEPARATOR.fullmatch(text)
    return found[1] if found else None


def _csv(path: Path, delimiter: str) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        named = separator_line(file.readline(_LONGEST_START))
        if named is None:
            file.seek(0)
        above = 0 if named is None else 1
        reader = csv.reader(file, delimiter=named or delimiter, strict=True)
        try:
            header = next_csv_row(reader) or []
            repeated = [name for place, name in enumerate(header) if name in header[:place]]
            if repeated:
                raise JrhError(f"{path}:{1 + above}: column '{repeated[0]}' appears twice in the header")
            line = reader.line_num + 1 + above
            for cells in csv_rows(reader):
                if cells and len(cells) != len(header):
                    raise JrhError(f"{path}:{line}: {len(cells)} cells, but the header has {len(header)}")
                if cells:
                    yield Row(place=f"{path}:{line}", cells=dict(zip(header, cells, strict=True)))
                line = reader.line_num + 1 + above
        except csv.Error as error:
            raise JrhError(f"{path}:{reader.line_num + above}: not csv: {error}") from error


def _xlsx(path: Path) -> Iterator[Row]:
    from jrh_import.tables import sheet_rows

    rows = sheet_rows(path)
    _, header = next(rows, (1, []))
    repeated = [name for place, name in enumerate(header) if name in header[:place]]
    if repeated:
        raise JrhError(f"{path}: column '{repeated[0]}' appears twice in the header")
    for number, cells in rows:
        yield Row(place=f"{path}: row {number}", cells=dict(zip(header, cells, strict=True)))


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                # Numbers stay as they are written: the label 1.0 is not the label 1.
                value = json.loads(line, parse_float=str, parse_int=str)
            except ValueError as error:
                raise JrhError(f"{path}:{number}: not JSON: {error}") from error
            if not isinstance(value, dict):
                raise JrhError(f"{path}:{number}: a line must be one JSON object")
            yield Row(place=f"{path}:{number}", cells=_as_text(value))


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches():
                for values in batch.to_pylist():
                    number += 1
                    # Keep empty cells, so that a column without values still counts as a column.
                    empty = {name: "" for name, value in values.items() if value is None}
                    yield Row(place=f"{path}: row {number}", cells={**empty, **_as_text(values)})
    except pyarrow.ArrowException as error:
        raise JrhError(f"'{path}' is not a readable parquet file: {error}") from error


def _as_text(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


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
        cells = [_cell_text(cell) for cell in row]
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


def _cell_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
