"""Tables that people fill in with a spreadsheet: a text that it would compute is marked as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.text import counted
from jrh_interchange import read_table
from jrh_measuring import formula_safe

_MOST: Final = 10
"""Mistakes that are listed."""


def write_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out).writerows([formula_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def plain_cell(cell: str) -> str:
    """Take the apostrophe away that keeps a spreadsheet from computing a text."""
    return cell[1:] if cell.startswith("'") and formula_safe(cell[1:]) == cell else cell


def read_filled_in(path: Path, *needed: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line and cells of every row that is not empty.

    Raises:
        JrhError: the file cannot be read, is not CSV, or lacks one of the needed columns.
    """
    rows = read_table(path, path.name, "csv")
    if missing := [name for name in needed if name not in rows[0].values]:
        names = f"{', '.join(needed[:-1])} and {needed[-1]}"
        raise JrhError(f"{path.name}:1: the table needs the columns {names}; missing: {missing[0]}")
    for row in rows:
        if any(row.values.values()):
            yield row.line, {name: row[name] for name in row.values}


def refuse_mistakes(mistakes: Sequence[str], unit: str) -> None:
    """Raise an error that names the first mistakes of a table, one of each unit; none: nothing happens."""
    if mistakes:
        count = counted(len(mistakes), unit)
        raise JrhError("\n".join([*mistakes[:_MOST], f"Nothing was imported: mistakes in {count}."]))
