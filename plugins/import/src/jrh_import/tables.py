"""Read a table of verdicts whole, with its columns."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen
from jrh_interchange import Row
from jrh_interchange import read_table as read_table_rows

from jrh_import.mapping import Format


@frozen(kw_only=True)
class Table:
    """A whole table."""

    columns: tuple[str, ...]
    """By first appearance."""
    rows: tuple[Row, ...]


def read_table(
    path: Path,
    kind: Format,
    delimiter: str = ",",
    *,
    neutralised: bool = False,
    most: int | None = None,
    shown: str = "",
) -> Table:
    """Read a table whole; cells are text exactly as the file writes them.

    Args:
        path: the file.
        kind: its format.
        delimiter: the character that separates the cells of a csv file.
        neutralised: remove the apostrophe at the start of a cell, which keeps spreadsheets from reading it as a
            formula.
        most: refuse a table with more rows; None: no limit.
        shown: the file's name for messages.

    Raises:
        JrhError: The file does not exist or is not a table of the format; the text says where.
    """
    settings = {"delimiter": delimiter} if kind is Format.CSV else {}
    rows = read_table_rows(path, shown or str(path), kind.value, most=most, **settings)
    if neutralised:
        rows = tuple(
            Row(line=row.line, source=row.source, values={name: row[name].removeprefix("'") for name in row.values})
            for row in rows
        )
    return Table(columns=tuple(dict.fromkeys(name for row in rows for name in row.values)), rows=rows)
