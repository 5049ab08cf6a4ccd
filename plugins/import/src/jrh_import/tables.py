"""Read a table of verdicts whole, of a stated kind or of one that its suffix and its beginning tell."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from jrh import JrhError
from jrh_interchange import Row, check_table_file, guess_delimiter
from jrh_interchange import read_table as read_table_rows

from jrh_import.mapping import Format

MOST_ROWS: Final = 1_000_000
"""Rows beyond this would not fit into the memory of a small machine."""
_SUFFIXES: Final = {
    **{f".{kind.value}": kind for kind in Format},
    ".txt": Format.CSV,
    ".tab": Format.TSV,
    ".ndjson": Format.JSONL,
}


@frozen(kw_only=True)
class Table:
    """A whole table."""

    columns: tuple[str, ...]
    """By first appearance."""
    rows: tuple[Row, ...]
    format: Format
    delimiter: str


def read_table(
    path: Path,
    kind: Format,
    delimiter: str = ",",
    *,
    neutralised: bool = False,
    most: int | None = None,
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
    settings = {"delimiter": delimiter} if kind is Format.CSV else {}
    rows = read_table_rows(path, str(path), kind.value, most=most, **settings)
    if neutralised:
        # Once: a text that begins with two apostrophes had one of its own.
        rows = tuple(evolve(row, values={name: row[name].removeprefix("'") for name in row.values}) for row in rows)
    columns = tuple(dict.fromkeys(name for row in rows for name in row.values))
    return Table(columns=columns, rows=rows, format=kind, delimiter=delimiter)


def read_any_table(path: Path) -> Table:
    """Read a table; the format follows from the suffix or the content, the delimiter from the header.

    Raises:
        JrhError: it is no table, or has more than `MOST_ROWS` rows.
    """
    try:
        check_table_file(path)
        kind = _SUFFIXES.get(path.suffix.lower()) or _guess_format(path)
        delimiter = guess_delimiter(path) if kind is Format.CSV else ","
    except OSError as error:
        raise JrhError(f"{path}: cannot be read: {error.strerror or error}") from error
    return read_table(path, kind, delimiter, most=MOST_ROWS)


def _guess_format(path: Path) -> Format:
    with path.open("rb") as file:
        # Enough for a magic number, or for the first character past white space.
        start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return Format.PARQUET
    return Format.JSONL if start.startswith(b"{") else Format.CSV
