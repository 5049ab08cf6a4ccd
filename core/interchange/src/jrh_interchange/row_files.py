"""Read the rows of a JSON Lines or csv file as text, and report all mistakes of the file at once."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from attrs import frozen
from jrh.document.plain_files import check_plain, read_plain
from jrh.errors import JrhError, Problem, SuiteError

if TYPE_CHECKING:
    from _csv import Reader


_SHOWN: Final = 20
LARGEST_TABLE: Final = 1024 * 1024 * 1024
"""Maximum size in bytes of a table of verdicts, which jrh reads whole."""


@frozen(kw_only=True)
class Row:
    """One row; every value is text, empty if missing."""

    line: int
    values: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        """Return the text of a column; empty if the file has no such column."""
        return self.values.get(column, "")


class Mistakes:
    """Collect the mistakes of one file."""

    def __init__(self, source: str) -> None:
        """Start without mistakes."""
        self.source = source
        self.found: list[Problem] = []

    def add(self, line: int | None, message: str) -> None:
        """Add a mistake."""
        self.found.append(Problem(message=message, source=self.source, line=line))

    def raise_any(self) -> None:
        """Raise a `SuiteError` if there are mistakes: the first 20, and the number of the rest."""
        shown: list[Problem | str] = list(self.found[:_SHOWN])
        if len(self.found) > _SHOWN:
            shown.append(f"{self.source}: and {len(self.found) - _SHOWN} more mistakes")
        if shown:
            raise SuiteError(shown)


def check_table_file(path: Path, most: int = LARGEST_TABLE) -> None:
    """Check that a table can be read to its end, without reading it.

    Raises:
        OSError: it does not exist, is a device, a pipe or a directory, or is larger than `most` bytes.
    """
    check_plain(path, most)


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
    mistakes = Mistakes(shown)
    try:
        text = read_plain(path, LARGEST_TABLE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JrhError(f"{shown}: not UTF-8 text (byte {error.start + 1}); save the file as UTF-8") from error
    except OSError as error:
        raise JrhError(f"{shown}: cannot be read: {error.strerror or error}") from error
    found = list((_csv if path.suffix.lower() == ".csv" else _jsonl)(text, mistakes))
    mistakes.raise_any()
    if not found:
        raise JrhError(f"{shown}: the file has no rows")
    _check_columns(found, columns, needed, mistakes)
    mistakes.raise_any()
    return tuple(_renamed(row, columns) for row in found)


def _jsonl(text: str, mistakes: Mistakes) -> Iterator[Row]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except ValueError as error:
            mistakes.add(line, f"not JSON: {error}")
            continue
        except RecursionError:
            mistakes.add(line, "not JSON that can be read: nested too deeply")
            continue
        if isinstance(value, dict):
            yield Row(line=line, values={str(name): _text(cell) for name, cell in value.items()})
        else:
            mistakes.add(line, f"expected one JSON object per line, got {type(value).__name__}")


def _csv(text: str, mistakes: Mistakes) -> Iterator[Row]:
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        header = next_csv_row(reader) or []
        line = reader.line_num + 1
        for cells in csv_rows(reader):
            if cells and len(cells) != len(header):
                mistakes.add(line, f"{len(cells)} cells, but the header has {len(header)}")
            elif cells:
                yield Row(line=line, values=dict(zip(header, cells, strict=True)))
            line = reader.line_num + 1
    except csv.Error as error:
        mistakes.add(reader.line_num, f"not csv: {error}")


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check_columns(rows: Sequence[Row], columns: Mapping[str, str], needed: Sequence[str], mistakes: Mistakes) -> None:
    there = list(dict.fromkeys(name for row in rows for name in row.values))
    for standard in needed:
        name = columns.get(standard, standard)
        without = [row.line for row in rows if name not in row.values]
        if len(without) == len(rows):
            close = get_close_matches(name, there, n=1)
            hint = f"; did you mean '{close[0]}'? If so, write `columns: {{{standard}: {close[0]}}}`" if close else ""
            mistakes.add(None, f"no column '{name}'{hint}. Columns: {', '.join(there)}")
        else:
            for line in without:
                mistakes.add(line, f"the row has no '{name}'")


def _renamed(row: Row, columns: Mapping[str, str]) -> Row:
    own = {column: standard for standard, column in columns.items()}
    return Row(line=row.line, values={own.get(name, name): value for name, value in row.values.items()})


_LARGEST: Final = 2**31 - 1
"""The largest field size limit that every platform's C long can hold; Python's default is 131,072 characters."""
_lock: Final = Lock()


def next_csv_row(reader: Reader) -> list[str] | None:
    """Return the next row, even if its cells are large; None at the end.

    Raises:
        csv.Error: the row is not valid csv.
    """
    # The limit on a cell's size belongs to the process, not to the reader. It is lifted for one row at a time, under a
    # lock, and restored: other users of csv keep their limit, even if a reader is abandoned half-way.
    with _lock:
        before = csv.field_size_limit(_LARGEST)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


def csv_rows(reader: Reader) -> Iterator[list[str]]:
    """Yield the remaining rows, even if their cells are large."""
    while (row := next_csv_row(reader)) is not None:
        yield row
