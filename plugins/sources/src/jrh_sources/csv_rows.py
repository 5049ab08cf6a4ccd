"""Read the rows of a csv file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jrh.text import next_csv_row

from jrh_sources.options import CsvOptions
from jrh_sources.problems import Problems
from jrh_sources.textfile import text_lines
from jrh_sources.values import Row

if TYPE_CHECKING:
    from _csv import Reader

_OTHER_DELIMITERS: Final = ";\t|,"


def csv_rows(path: Path, options: CsvOptions, problems: Problems) -> Iterator[Row]:
    """Yield the rows below the header, cells as text; record ragged rows, open quotes and repeated columns.

    A row's line is the one it starts on. Blank lines are skipped. Reading stops where the structure is
    lost, for example after an open quote.
    """
    lines = text_lines(path, encoding=options.encoding, newline="", problems=problems)
    rows = _numbered(csv.reader(lines, delimiter=options.delimiter, strict=True), problems)
    line, header = next(rows, (0, []))
    if not header:
        if not problems:
            problems.add("the file is empty; a csv file must start with a header row")
        return
    if not _check_header(header, line, options.delimiter, problems):
        return
    count = 0
    for line, cells in rows:
        count += 1
        if len(cells) == len(header):
            yield Row(line=line, values={name: cell for name, cell in zip(header, cells, strict=True) if name})
        else:
            problems.add(_ragged(len(cells), len(header)), line=line)
    if not count and not problems:
        problems.add("the file has a header but no rows")


def _numbered(reader: Reader, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next_csv_row(reader)
        except csv.Error as error:
            problems.add(_structure(str(error)), line=line)
            return
        if cells is None:
            return
        if cells:
            yield line, cells


def _check_header(header: list[str], line: int, delimiter: str, problems: Problems) -> bool:
    repeated = [name for position, name in enumerate(header) if name in header[:position]]
    for name in dict.fromkeys(repeated):
        problems.add(
            f"column '{name}' appears {header.count(name)} times in the header; names must be unique", line=line
        )
    if len(header) == 1:
        other = next((mark for mark in _OTHER_DELIMITERS if mark != delimiter and mark in header[0]), None)
        if other is not None:
            written = "\\t" if other == "\t" else other
            problems.add(
                f"the header is a single column, '{header[0][:60]}'; if '{written}' separates the cells, "
                f'set `delimiter: "{written}"`',
                line=line,
            )
            return False
    return not repeated


def _ragged(cells: int, columns: int) -> str:
    difference = "too many" if cells > columns else "too few"
    return (
        f"{difference} cells: {cells}, but the header has {columns}; "
        "put double quotes around a cell that contains the delimiter or a line break"
    )


def _structure(error: str) -> str:
    if "unexpected end of data" in error:
        return "a double quote in the row that starts here is never closed"
    if "expected after" in error:
        return 'text after a closing quote in the row that starts here; write "" for a quote inside a quoted cell'
    return f"the row that starts here is not valid csv: {error}"
