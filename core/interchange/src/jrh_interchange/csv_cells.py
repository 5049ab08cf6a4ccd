"""Read csv rows whose cells may be long: a cell often holds a whole transcript."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _csv import Reader

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
