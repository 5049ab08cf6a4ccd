"""Read a table whole, as rows of text, and report all its mistakes at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from attrs import evolve
from jrh import JrhError
from jrh.document.positions import check_plain
from jrh.text import clean_text

from jrh_interchange.table_rows import LARGEST_TABLE, Problems, Row, guess_delimiter, table_rows

MOST_ROWS: Final = 1_000_000
"""Rows beyond this would not fit into the memory of a small machine."""
_SUFFIXES: Final = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".xlsx": "xlsx",
}  # fmt: skip
_LISTED: Final = 1000
"""Characters of a list of columns in a message."""


def check_table_file(path: Path, most: int = LARGEST_TABLE) -> None:
    """Check that a table can be read to its end, without reading it.

    Raises:
        OSError: it does not exist, is a device, a pipe or a directory, or is larger than `most` bytes.
    """
    check_plain(path, most)


def guess_format(path: Path) -> tuple[str, str]:
    """Return the format of a table, by its suffix or its content, and the delimiter of its cells, by its header.

    Raises:
        JrhError: it cannot be read.
    """
    try:
        check_table_file(path)
        kind = _SUFFIXES.get(path.suffix.lower()) or _guess_by_content(path)
        return kind, guess_delimiter(path) if kind == "csv" else ","
    except OSError as error:
        raise JrhError(f"{path}: cannot be read: {error.strerror or error}") from error


def _guess_by_content(path: Path) -> str:
    with path.open("rb") as file:
        # Enough for a magic number, or for the first character past white space.
        start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.startswith(b"{") else "csv"


def check_columns(named: Iterable[tuple[str, str]], columns: Sequence[str]) -> None:
    """Check that a table has some columns.

    Args:
        named: where a column is named, such as `--judge`, and the column.
        columns: those of the table.

    Raises:
        JrhError: lists all that are missing, each with the nearest one.
    """
    # For the hint only: a column has to be named as the file writes it.
    folded = {column.strip().casefold(): column for column in columns}
    absent = []
    for where, column in named:
        if column not in columns:
            close = get_close_matches(column.strip().casefold(), folded, n=1)
            hint = f"; did you mean '{clean_text(folded[close[0]])}'?" if close else ""
            absent.append(f"there is no column '{clean_text(column)}' ({where}){hint}")
    if absent:
        listed = ", ".join(clean_text(column) for column in columns)
        raise JrhError("\n".join([*absent, f"Columns: {clean_text(listed, _LISTED)}"]))


def read_table(path: Path, shown: str, kind: str, *, most: int | None = None, **settings: Any) -> tuple[Row, ...]:
    """Read a table whole; every cell is text, empty if there is none.

    Args:
        path: the file.
        shown: its name for messages.
        kind: its format, as for `table_rows`.
        most: refuse a table with more rows; None: no limit.
        settings: as for `table_rows`.

    Raises:
        SuiteError: with every mistake of the file.
        JrhError: it cannot be read, or has too many rows.
    """
    problems = Problems(shown)
    rows: list[Row] = []
    try:
        check_table_file(path)  # a device or a pipe may never end
        for row in table_rows(path, kind, problems, **settings):
            if len(rows) == most:
                raise JrhError(f"'{shown}' has more than {most:,} rows; take a sample of them")
            rows.append(Row(line=row.line, source=shown, values={name: row[name] for name in row.values}))
    except OSError as error:
        raise JrhError(f"{shown}: cannot be read: {error.strerror or error}") from error
    problems.raise_any()
    return tuple(rows)


def rows_by(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    """Return the rows of each text of a column, in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def read_rows(path: Path, shown: str, columns: Mapping[str, str], needed: Sequence[str]) -> tuple[Row, ...]:
    """Read a JSON Lines or csv file whole.

    Args:
        path: the file; `.csv` is csv, anything else JSON Lines.
        shown: its name for messages.
        columns: standard column -> column of this file, where they differ.
        needed: the standard columns it must have.

    Raises:
        SuiteError: with every mistake of the file.
        JrhError: it cannot be read.
    """
    rows = read_table(path, shown, "csv" if path.suffix.lower() == ".csv" else "jsonl")
    problems = Problems(shown)
    available = list(dict.fromkeys(name for row in rows for name in row.values))
    for standard in needed:
        name = columns.get(standard, standard)
        without = [row.line for row in rows if name not in row.values]
        # A column that no row has is one mistake, not one per row.
        if len(without) == len(rows):
            close = get_close_matches(name, available, n=1)
            hint = f"; did you mean '{close[0]}'? If so, write `columns: {{{standard}: {close[0]}}}`" if close else ""
            problems.add(f"no column '{name}'{hint}. Columns: {', '.join(available)}")
        else:
            for line in without:
                problems.add(f"the row has no '{name}'", line=line)
    problems.raise_any()
    standard_names = {column: standard for standard, column in columns.items()}
    return tuple(evolve(row, values={standard_names.get(name, name): row[name] for name in row.values}) for row in rows)
