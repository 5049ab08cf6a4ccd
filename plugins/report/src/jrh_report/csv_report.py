"""The records as CSV: for spreadsheets, which must not take a text for a formula, and for programs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import StringIO
from typing import Any, Final

from attrs import frozen
from jrh import RunReport
from jrh_measuring import escape_controls

from jrh_report.columns import chunks, names, storable
from jrh_report.options import CsvOptions

_STARTS: Final = frozenset("=+-@＝＋－＠")  # noqa: RUF001 - spreadsheets read the wide ones like the narrow ones
_FIRST: Final = frozenset("\t\r\n'")
_NUMBER: Final = re.compile(r"-\d+(\.\d+)?")
_REMEMBERED: Final = 4096


@frozen
class CsvReporter:
    """Writes one row per record, in plan order, UTF-8 with a header; what is not known is an empty cell.

    Text stands in quotes, numbers do not. A text that a spreadsheet would compute is preceded by an apostrophe, and
    control characters are written as escapes.
    """

    options: CsvOptions

    def render(self, report: RunReport) -> Iterator[bytes]:
        """Yield the file in chunks; the same records give the same bytes."""
        columns = names(report.records)
        yield csv_bytes([columns])
        for part in chunks(report.records):
            cells = [map(self._cell, part[name]) for name in columns]
            yield csv_bytes(zip(*cells, strict=True))

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
