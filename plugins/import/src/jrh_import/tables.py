"""Read a table of verdicts whole, of a stated kind or of one that its suffix and its beginning tell."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, frozen
from jrh_interchange import MOST_ROWS, Row, guess_format
from jrh_interchange import read_table as read_table_rows

from jrh_import.mapping import Format


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
    kind, delimiter = guess_format(path)
    return read_table(path, Format(kind), delimiter, most=MOST_ROWS)
