"""The records as plain columns, some thousands at a time: what the tables of records are written from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, Final, get_args, get_type_hints

import attrs
import numpy as np
from jrh import Record, RecordTable


def _of_type(kind: type) -> tuple[str, ...]:
    """Return the columns whose values are of a type, or None."""
    return tuple(name for name, hint in get_type_hints(Record).items() if kind in (hint, *get_args(hint)))


WHOLE: Final = _of_type(int)
"""Columns of whole numbers."""
REAL: Final = _of_type(float)
"""Columns of real numbers."""
TRUTH: Final = _of_type(bool)
"""Columns of yes and no."""
_KINDS: Final[Mapping[Callable[[float], Any], tuple[str, ...]]] = {int: WHOLE, float: REAL, bool: TRUTH}
ROWS: Final = 2000
"""Records that are held as plain values at a time."""


def names(records: RecordTable) -> tuple[str, ...]:
    """Return the columns to write: those the table has, or all where it has none."""
    return records.columns or tuple(attribute.name for attribute in attrs.fields(Record))


def chunks(records: RecordTable, rows: int = ROWS) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of so many records after the other, in plan order; what is not known is None."""
    for start in range(0, len(records), rows):
        part = records.where(np.arange(start, min(start + rows, len(records))))
        yield {name: _values(part, name) for name in records.columns}


def _values(records: RecordTable, name: str) -> list[Any]:
    kind = next((kind for kind, names in _KINDS.items() if name in names), None)
    if kind is None:
        return records.text(name)
    return [kind(value) if isfinite(value) else None for value in records.number(name).tolist()]


def storable(text: str) -> str:
    """Return the text as UTF-8 can hold it: half of a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
