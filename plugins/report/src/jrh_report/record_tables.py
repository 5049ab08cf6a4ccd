"""The records as tables: CSV for spreadsheets, which must not take a text for a formula, and Parquet for programs."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from io import BytesIO, StringIO
from math import isfinite
from typing import Any, Final, get_args, get_type_hints

import attrs
import numpy as np
from attrs import frozen
from jrh import Record, RecordTable, RunReport
from jrh_measuring import escape_controls

from jrh_report.options import CsvOptions


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
GROUP_ROWS: Final = 20_000
"""Records of one row group."""
_STARTS: Final = frozenset("=+-@＝＋－＠")  # noqa: RUF001 - spreadsheets read the wide ones like the narrow ones
_FIRST: Final = frozenset("\t\r\n'")
_NUMBER: Final = re.compile(r"-\d+(\.\d+)?")
_REMEMBERED: Final = 4096


def names(records: RecordTable) -> tuple[str, ...]:
    """Return the columns to write: those the table has, or all where it has none."""
    return records.columns or tuple(attribute.name for attribute in attrs.fields(Record))


def chunks(records: RecordTable, rows: int = ROWS) -> Iterator[dict[str, list[Any]]]:
    """Yield the columns of so many records after the other, in plan order; what is not known is None."""
    for start in range(0, len(records), rows):
        # As Python values records take far more memory than in the table.
        part = records.where(np.arange(start, min(start + rows, len(records))))
        yield {name: _values(part, name) for name in records.columns}


def _values(records: RecordTable, name: str) -> list[Any]:
    kind = next((kind for kind, names in _KINDS.items() if name in names), None)
    if kind is None:
        return records.text(name)
    return [kind(value) if isfinite(value) else None for value in records.number(name).tolist()]


def storable(text: str) -> str:
    """Return the text as UTF-8 can hold it: half of a surrogate pair becomes U+FFFD."""
    # By way of UTF-16, in which two halves of a pair that stand next to each other become one character.
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@frozen
class CsvReporter:
    """Writes one row per record, in plan order, UTF-8 with a header; what is not known is an empty cell.

    Text is in quotes, numbers do not. A text that a spreadsheet would compute is preceded by an apostrophe, and
    control characters are written as escapes.
    """

    options: CsvOptions

    def render(self, report: RunReport) -> Iterator[bytes]:
        """Yield the file in chunks; the same records give the same bytes."""
        columns = names(report.records)
        yield csv_bytes([columns])
        for part in chunks(report.records):
            yield csv_bytes(zip(*[map(self._cell, part[name]) for name in columns], strict=True))

    def _cell(self, value: Any) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            return value
        return neutral(value) if self.options.neutralise else storable(value)


@lru_cache(maxsize=_REMEMBERED)
def neutral(text: str) -> str:
    r"""Return the text so that no spreadsheet takes it for a formula, and no terminal for a command.

    A text whose first visible character is one of = + - @, wide or not, or that begins with a tab, a line break or an
    apostrophe, is preceded by an apostrophe. Removing one apostrophe from the front of a cell restores the text. A
    negative number stays as it is: it computes nothing. Control characters become escapes, such as `\x1b`.
    """
    stored = escape_controls(storable(text))
    begins = stored.lstrip()[:1]
    if (begins in _STARTS or stored[:1] in _FIRST) and begins and not _NUMBER.fullmatch(stored):
        return f"'{stored}"
    return stored


def csv_bytes(rows: Iterable[Iterable[Any]]) -> bytes:
    """Return rows as CSV: text in quotes, numbers without."""
    target = StringIO(newline="")
    csv.writer(target, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    return target.getvalue().encode("utf-8")


def build_parquet() -> ParquetReporter:
    """Build the reporter; a missing pyarrow shows here, before anything is written."""
    import pyarrow.parquet  # noqa: F401

    return ParquetReporter()


@frozen
class ParquetReporter:
    """Writes one row per record, in plan order; what is not known is null."""

    def render(self, report: RunReport) -> Iterator[bytes]:
        """Yield the file in chunks, one for each row group; the same records give the same bytes."""
        import pyarrow
        from pyarrow import parquet

        types = {
            **dict.fromkeys(WHOLE, pyarrow.int64()),
            **dict.fromkeys(REAL, pyarrow.float64()),
            **dict.fromkeys(TRUTH, pyarrow.bool_()),
        }
        schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in names(report.records)])
        target = BytesIO()
        with parquet.ParquetWriter(target, schema, compression="zstd") as writer:
            for part in chunks(report.records, GROUP_ROWS):
                arrays = [pyarrow.array(_storable(part[field.name]), field.type) for field in schema]
                writer.write_table(pyarrow.table(arrays, schema=schema))
                yield _take(target)
        yield _take(target)


def _take(target: BytesIO) -> bytes:
    """Return what was written since the last call; pyarrow counts the bytes itself and does not look at the file."""
    written = target.getvalue()
    target.seek(0)
    target.truncate()
    return written


def _storable(values: list[Any]) -> list[Any]:
    return [storable(value) if isinstance(value, str) else value for value in values]
