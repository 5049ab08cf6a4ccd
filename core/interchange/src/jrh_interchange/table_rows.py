"""Read the rows of a table, whatever its format, with cells exactly as the file writes them.

Every reader is bounded (no line, row group, document or workbook takes all memory), and none stops at the first
mistake: they are collected, each with its line and column.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from math import isfinite, isinf, isnan
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast
from zipfile import BadZipFile, ZipFile

from attrs import frozen
from jrh import Json, SuiteError
from jrh.document.positions import UTF16
from jrh.errors import Problem
from jrh.hashing import distinct_keys

if TYPE_CHECKING:
    from _csv import Reader

LARGEST_TABLE: Final = 1024 * 1024 * 1024
"""Bytes of a table that is held in memory at once; of a workbook they are counted when unpacked."""
LARGEST_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of one JSON document, which becomes several times as many in memory."""
LONGEST_LINE: Final = 64 * 1024 * 1024
"""Characters: no item is as long, and a line without an end would take all memory."""
MOST_LEVELS: Final = 100
"""Levels of nesting, as in a suite: what works on a value recurses into it."""
_MOST_CELLS: Final = 20_000_000
"""Of a sheet of a workbook, empty ones included."""
_PLACE: Final = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)0*(\d+)["']""")
"""Where a cell or row of a workbook says it is. In a text that looks like one, it is only one place more."""
MOST_COLUMNS: Final = 16_384
"""Columns of a table, and keys of one JSON object; as many as a workbook can have."""
TOO_WIDE: Final = f"the table has {{:,}} columns, and at most {MOST_COLUMNS:,} are read; drop those that are not used"
SHOWN: Final = 20
"""Problems listed per file; the rest are only counted."""


@frozen(kw_only=True)
class Row:
    """One row of a table, by column name."""

    line: int
    """1-based line where the row starts; in formats without lines, the 1-based row."""
    values: Mapping[str, Json]
    source: str = ""

    def __getitem__(self, column: str) -> str:
        """Return a cell as text: JSON of a list or an object, empty if there is none."""
        value = self.values.get(column)
        return json.dumps(value, ensure_ascii=False) if is_nested(value) else as_text(value) or ""

    @property
    def place(self) -> str:
        """Return `file:line`."""
        return f"{self.source}:{self.line}"


class Problems:
    """The mistakes of one file, or of several places."""

    def __init__(self, source: str = "") -> None:
        """Start without problems; `source` is the file's name as the user wrote it."""
        self.source = source
        self.count = 0
        self._first: list[Problem] = []

    def __bool__(self) -> bool:
        """Return whether there is any problem."""
        return self.count > 0

    def add(self, message: str, *, source: str = "", line: int | None = None, column: int | None = None) -> None:
        """Record a problem, of another place than the file's where `source` names it; after 20 only the count grows."""
        self.count += 1
        if len(self._first) < SHOWN:
            self._first.append(Problem(message=message, source=source or self.source, line=line, column=column))

    def raise_any(self) -> None:
        """Raise a `SuiteError` with all problems in the order of the file, if there are any."""
        if not self:
            return
        shown = sorted(self._first, key=lambda problem: problem.line or 0)
        if self.count > len(shown):
            more = f"and {self.count - len(shown)} more problems of these kinds"
            shown.append(Problem(message=more, source=self.source))
        raise SuiteError(shown)


class Written(float):
    """A number that remembers its spelling in the file: label `1.0` is not label `1`."""

    literal: str

    def __new__(cls, literal: str) -> Written:
        """Read a number; raise `ValueError` if it is too large."""
        number = super().__new__(cls, literal)
        if isinf(number):
            raise ValueError(f"number {literal[:40]} is too large")
        number.literal = literal
        return number


def is_nested(value: Json) -> bool:
    """Return whether a value is a list or an object."""
    return value is not None and not isinstance(value, str | int | float)


def as_text(value: Json) -> str | None:
    """Return a single value as the file writes it: text as it is, numbers by their digits, `true`, None for null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Written):
        return value.literal
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError("lists and objects are not single values")


def label_text(value: Json) -> str | None:
    """Return a single value as a label: text as it is, whole numbers without a decimal point; None for all else."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if is_nested(value) else as_text(value)


def plain(value: Json) -> Json:
    """Return the value with plain Python numbers, as components expect them."""
    if isinstance(value, Written):
        return float(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


BYTES: Final = cast("Json", object())
"""A value that no item can hold."""
_MISSING: Final = ("NAType", "NaTType")
"""What pandas writes for no value; other libraries write None."""


def json_value(value: Any) -> Json:
    """Return a value of Python, NumPy, pandas or Arrow as JSON: NaN is null, what JSON does not know is text."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of numpy
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None if isnan(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return BYTES
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return [json_value(inner) for inner in value]
    return None if type(value).__name__ in _MISSING else str(value)


def table_rows(
    path: Path,
    kind: str,
    problems: Problems,
    *,
    columns: Mapping[str, str | None] = MappingProxyType({}),
    **settings: Any,
) -> Iterator[Row]:
    """Yield the rows of a file: csv and workbooks have a header, JSON Lines one object per line.

    Texts stay as they are. Dates, times and decimals of typed formats become text, whole numbers of a workbook lose
    their fraction, NaN is null. Empty rows are skipped. Binary columns are left out.

    Args:
        path: the file.
        kind: `csv`, `tsv`, `jsonl`, `json` (a list of objects, or an object with one list), `parquet`, `arrow`, `xlsx`.
        problems: where mistakes are noted; rows go on where the structure allows it.
        columns: target -> column that the user names; naming a binary column is a mistake.
        settings: `delimiter` and `encoding` of csv, `encoding` of JSON Lines, `sheet` of a workbook.
    """
    if kind in ("parquet", "arrow"):
        from jrh_interchange.arrow_rows import arrow_rows

        yield from arrow_rows(path, problems, columns, stream=kind == "arrow")
    else:
        yield from _READERS[kind](path, problems, **settings)


# Undecodable bytes arrive as lone surrogates ("surrogateescape"), which valid text never contains. One pass finds them
# all with line and column; a strict decoder would stop at the first and give neither.
_BAD: Final = re.compile("[\0\udc80-\udcff]")


def _text_lines(path: Path, *, encoding: str, newline: str, problems: Problems) -> Iterator[str]:
    """Yield the lines with their line ends; record NUL bytes and bytes that are invalid in the encoding."""
    # Excel begins UTF-8 with a byte order mark, which would become part of the first name.
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    with path.open(encoding=codec, errors="surrogateescape", newline=newline) as file:
        number = 0
        try:
            # Not `for line in file`: that reads a line without an end into memory as a whole.
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), ""), start=1):
                if len(line) == LONGEST_LINE:
                    problems.add(f"this line has more than {LONGEST_LINE - 1:,} characters", line=number)
                    return
                bad = _BAD.search(line)
                if bad:
                    problems.add(_explain(bad[0], encoding, path), line=number, column=bad.start() + 1)
                yield line
        except UnicodeError as error:
            problems.add(f"not readable as {encoding} from here on: {error}", line=number + 1)


def _explain(character: str, encoding: str, path: Path) -> str:
    with path.open("rb") as file:
        wide = file.read(2) in UTF16
    hint = "; the file is UTF-16: save it as UTF-8, or set `encoding: utf-16` of a data source" if wide else ""
    if character == "\0":
        return f"contains a NUL byte, so it is not plain {encoding} text{hint}"
    hint = hint or "; save the file as UTF-8, or set `encoding: cp1252` of a data source if Windows or Excel wrote it"
    return f"byte 0x{ord(character) - 0xDC00:02x} is not valid {encoding}{hint}"


_SEPARATOR: Final = re.compile(r"sep=([^\r\n\"\w])\r?\n?", re.IGNORECASE)
"""The first line of a csv file that names its delimiter, for Excel."""
_OTHER_DELIMITERS: Final = ";\t|,"
_GUESSED: Final = (",", "\t", ";", "|")
"""Delimiters that a header may show; of two that are equally frequent, the first is taken."""
_LARGEST_CELL: Final = 2**31 - 1
"""The largest field size limit that every platform's C long can hold; Python's default is 131,072 characters."""
_lock: Final = Lock()


def guess_delimiter(path: Path) -> str:
    """Return the delimiter that the first line of a csv file has most of; a comma where it has none.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        # Bounded: a file without line ends has no header to look at.
        header = file.readline(100_000).decode("utf-8-sig", errors="replace")
    return max(_GUESSED, key=header.count)


def next_csv_row(reader: Reader) -> list[str] | None:
    """Return the next row, even if its cells are large; None at the end.

    Raises:
        csv.Error: the row is not valid csv.
    """
    # The limit on a cell's size belongs to the process, not to the reader. It is lifted for one row at a time, under a
    # lock, and restored: other users of csv keep their limit, even if a reader is abandoned half-way.
    with _lock:
        before = csv.field_size_limit(_LARGEST_CELL)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


def csv_rows(reader: Reader) -> Iterator[list[str]]:
    """Yield the remaining rows, even if their cells are large."""
    while (row := next_csv_row(reader)) is not None:
        yield row


def _csv(path: Path, problems: Problems, *, delimiter: str = ",", encoding: str = "utf-8") -> Iterator[Row]:
    """Yield the rows below the header; reading stops where the structure is lost, as after an open quote."""
    lines = _text_lines(path, encoding=encoding, newline="", problems=problems)
    first = next(lines, "")
    if first.count(delimiter) > MOST_COLUMNS:  # not split: a list of them may be larger than memory
        problems.add(TOO_WIDE.format(first.count(delimiter) + 1), line=1)
        return
    named = _SEPARATOR.fullmatch(first)
    delimiter = named[1] if named else delimiter
    # Strict: otherwise a quote that is never closed swallows the rest of the file without an error.
    reader = csv.reader(lines if named else chain([first], lines), delimiter=delimiter, strict=True)
    yield from _below_header(_csv_lines(reader, problems, above=1 if named else 0), problems, delimiter)


def _csv_lines(reader: Reader, problems: Problems, above: int) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1 + above
        try:
            cells = next_csv_row(reader)
        except csv.Error as error:
            problems.add(_structure(str(error)), line=line)
            return
        if cells is None:
            return
        if cells:
            yield line, cells


def _below_header(rows: Iterator[tuple[int, Sequence[Json]]], problems: Problems, delimiter: str) -> Iterator[Row]:
    """Yield the rows by column name; cells under an empty heading are left out."""
    line, header = next(rows, (0, ()))
    names, before = [str(name) for name in header], problems.count
    if not any(names):
        if not problems:
            problems.add("the file is empty; a table must start with a header row")
        return
    _check_header(names, line, problems, delimiter)
    # Below a wrong header every row would be the same mistake once more.
    if problems.count > before:
        return
    empty = True
    for line, cells in rows:
        empty = False
        if len(cells) != len(names):
            problems.add(
                f"too {'many' if len(cells) > len(names) else 'few'} cells: {len(cells)}, but the header has "
                f"{len(names)}; put double quotes around a cell that contains the delimiter or a line break",
                line=line,
            )
            continue
        values = {name: cell for name, cell in zip(names, cells, strict=True) if name}
        yield Row(line=line, values=values, source=problems.source)
    if empty and not problems:
        problems.add("the file has a header but no rows")


def _check_header(names: Sequence[str], line: int, problems: Problems, delimiter: str) -> None:
    if len(names) > MOST_COLUMNS:
        problems.add(TOO_WIDE.format(len(names)), line=line)
    for name, times in Counter(filter(None, names)).items():
        if times > 1:
            problems.add(f"column '{name}' appears {times} times in the header; names must be unique", line=line)
    # A single column whose name holds another delimiter: the file is separated by that one.
    other = next((mark for mark in _OTHER_DELIMITERS if len(names) == 1 and mark != delimiter and mark in names[0]), "")
    if other and delimiter:
        written = "\\t" if other == "\t" else other
        problems.add(
            f"the header is a single column, '{names[0][:60]}'; if '{written}' separates the cells, "
            f'set `delimiter: "{written}"`',
            line=line,
        )


def _structure(error: str) -> str:
    if "unexpected end of data" in error:
        return "a double quote in the row that starts here is never closed"
    if "expected after" in error:
        return 'text after a closing quote in the row that starts here; write "" for a quote inside a quoted cell'
    return f"the row that starts here is not valid csv: {error}"


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class LimitError(ValueError):
    """Report JSON beyond a limit, or that holds what no file can."""


def read_json_text(text: str, **settings: Any) -> Any:
    """Return a JSON value.

    Args:
        text: the JSON.
        settings: as for Python's `json.loads`.

    Raises:
        ValueError: it is no JSON, has a key twice in one object, or holds half of a character.
        LimitError: it is nested too deeply, or an object has too many keys.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object_of, **settings)
    except RecursionError:
        raise LimitError(_DEEP) from None
    # Few texts have as many brackets, and most have no escapes: both checks cost time.
    if text.count("[") + text.count("{") > MOST_LEVELS:
        _check_levels(value)
    if _SURROGATE.search(text):
        _check_characters(value)
    return value


_DEEP: Final = f"nested too deeply: more than {MOST_LEVELS} levels"


def _object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_COLUMNS:
        raise LimitError(f"an object has {len(pairs):,} keys, and at most {MOST_COLUMNS:,} are read")
    return distinct_keys(pairs)


def _check_levels(value: Any) -> None:
    level = [value]
    # Level by level, without recursion.
    for _ in range(MOST_LEVELS + 1):
        level = [part for inner in level for part in _parts(inner)]
        if not level:
            return
    raise LimitError(_DEEP)


def _parts(value: Any) -> Any:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()


def _check_characters(value: Any) -> None:
    try:
        # Python reads half a pair, but no file or request in UTF-8 can hold it.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = "contains half of a surrogate pair (\\ud800 to \\udfff), which is not a character"
        raise LimitError(message) from None


_ONE_DOCUMENT: Final = (
    "JSON Lines has one complete object per line; this looks like one JSON document over several lines"
)


def _jsonl(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Iterator[Row]:
    """Yield one row per JSON object; skip blank lines; record every line that is not an object."""
    count = 0
    names: set[str] = set()
    lines = _text_lines(path, encoding=encoding, newline="\n", problems=problems)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        count += 1
        row = _object(line, number, problems)
        if row is not None:
            names.update(row.values)
            yield row
        elif count == 1 and _is_document(line):
            return  # every further line would be a mistake of the same kind
        if len(names) > MOST_COLUMNS:  # few in each row, and others in the next
            problems.add(TOO_WIDE.format(len(names)), line=number)
            return
    if not count and not problems:
        problems.add("the file is empty; a JSON Lines file has one JSON object per line")


def _object(line: str, number: int, problems: Problems) -> Row | None:
    try:
        # JSON allows only these four as white space around a value; plain `strip()` would accept others too.
        value = _parse_json(line.strip(" \t\r\n"))
    except json.JSONDecodeError as error:
        indent = len(line) - len(line.lstrip(" \t\r\n"))
        message = _ONE_DOCUMENT if _is_document(line) else f"invalid JSON: {error.msg}"
        problems.add(message, line=number, column=indent + error.pos + 1)
        return None
    except ValueError as error:
        problems.add(f"unusable JSON: {error}", line=number)
        return None
    if not isinstance(value, dict):
        kind = {list: "an array", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
        problems.add(f'a line must be one JSON object such as {{"response": "..."}}, not {kind}', line=number)
        return None
    return Row(line=number, values=value, source=problems.source)


def _parse_json(text: str) -> Json:
    """Return a JSON value whose numbers remember their spelling; raise `ValueError` where it is none, or ambiguous."""
    value: Json = read_json_text(text, parse_float=Written, parse_constant=_constant)
    return value


def _is_document(line: str) -> bool:
    return line.strip() == "{" or line.lstrip().startswith("[")


def _constant(written: str) -> None:
    """Read `NaN`, which is no JSON but is what Python writes where there is no number, as null."""
    if written != "NaN":
        raise ValueError(f"{written} is not allowed in JSON; write null or text")


def _json(path: Path, problems: Problems) -> Iterator[Row]:
    """Yield the objects of a JSON document: a list of them, or an object with one list of them."""
    if path.stat().st_size > LARGEST_DOCUMENT:
        problems.add(f"has more than {LARGEST_DOCUMENT:,} bytes, the limit for a JSON document")
        return
    try:
        value = _parse_json(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        problems.add(f"unusable JSON: {error}")
        return
    if isinstance(value, dict):
        # With several lists there is no telling which one holds the rows.
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list):
        problems.add("must be a list of objects, or an object with one list of objects")
        return
    for number, entry in enumerate(value, start=1):
        if isinstance(entry, dict):
            yield Row(line=number, values=entry, source=problems.source)
        else:
            problems.add("must be an object", line=number)


def _sheet(path: Path, problems: Problems, sheet: str = "") -> Iterator[tuple[int, list[Json]]]:
    """Yield the rows of a sheet, the first one by default; formulas count as the values that were saved."""
    from python_calamine import CalamineError, load_workbook

    try:
        # A workbook is a zip archive: a small file can unpack to any size.
        with ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
            if size > LARGEST_TABLE:
                problems.add(f"unpacks to {size:,} bytes; a workbook has at most {LARGEST_TABLE:,}")
                return
            spanned = max((_spanned_cells(packed.read(member)) for member in packed.infolist()), default=0)
        if spanned > _MOST_CELLS:
            problems.add(f"has a sheet that spans {spanned:,} cells, and at most {_MOST_CELLS:,} are read")
            return
        workbook = load_workbook(str(path))
        name = sheet or next(iter(workbook.sheet_names), "")
        if name not in workbook.sheet_names:
            problems.add(f"has no sheet '{name}'; its sheets: {', '.join(workbook.sheet_names)}")
            return
        rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (BadZipFile, CalamineError, EOFError, RuntimeError, zlib.error) as error:
        problems.add(f"not a readable Excel workbook (.xlsx): {error}")
        return
    for number, row in enumerate(rows, start=1):
        cells = [_cell(cell) for cell in row]
        if any(cell != "" for cell in cells):
            yield number, cells


def _spanned_cells(text: bytes) -> int:
    """Return how many cells a member of a workbook spans: its reader makes room for each, also between two far ones."""
    places = [(len(letters), letters.upper(), int(row[:12])) for letters, row in _PLACE.findall(text)]
    _, letters, _ = max(places, default=(0, b"", 0))
    width = reduce(lambda column, letter: column * 26 + (letter & 31), letters[:12], 0)
    return max(width, 1) * max((row for *_, row in places), default=0)


def sheet_names(path: Path) -> Sequence[str]:
    """Return the names of the sheets of a workbook, in their order, once `table_rows` has read and so checked it."""
    from python_calamine import load_workbook

    return load_workbook(str(path)).sheet_names


def _cell(cell: Any) -> Json:
    if isinstance(cell, float):
        # Excel stores every number as a float: 4 is read as 4.0.
        return int(cell) if cell.is_integer() else cell
    if isinstance(cell, str | bool):
        return cell
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


_READERS: Final[Mapping[str, Callable[..., Iterator[Row]]]] = {
    "csv": _csv,
    "tsv": lambda path, problems, **_: _csv(path, problems, delimiter="\t"),
    "jsonl": _jsonl,
    "json": _json,
    "xlsx": lambda path, problems, **settings: _below_header(_sheet(path, problems, **settings), problems, ""),
}
"""Format -> what reads it without Arrow."""
