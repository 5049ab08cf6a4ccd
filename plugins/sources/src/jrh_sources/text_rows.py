"""Read the rows of csv and JSON Lines files, and locate invalid bytes."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from jrh import Json
from jrh_interchange import next_csv_row

from jrh_sources.options import CsvOptions, JsonlOptions
from jrh_sources.rows import Problems, Row, Written

if TYPE_CHECKING:
    from _csv import Reader

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Characters: no item is as long, and a line without an end would take all memory."""

# Undecodable bytes arrive as lone surrogates ("surrogateescape"), which valid text never contains. One pass finds them
# all with line and column; a strict decoder would stop at the first and give neither.
_BAD: Final = re.compile("[\0\udc80-\udcff]")


def text_lines(path: Path, *, encoding: str, newline: str, problems: Problems) -> Iterator[str]:
    """Yield the lines with their line ends; record NUL bytes and bytes that are invalid in the encoding.

    Args:
        path: the file.
        encoding: its encoding; a byte order mark of UTF-8 is dropped.
        newline: as for `open`: empty for any line end, kept as it is, or the one that ends a line.
        problems: where mistakes are noted.
    """
    codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    with path.open(encoding=codec, errors="surrogateescape", newline=newline) as file:
        number = 0
        try:
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
    if character == "\0":
        return f"contains a NUL byte, so it is not plain {encoding} text{_utf16_hint(path)}"
    byte = ord(character) - 0xDC00
    hint = _utf16_hint(path) or "; save the file as UTF-8, or set `encoding: cp1252` if Windows or Excel wrote it"
    return f"byte 0x{byte:02x} is not valid {encoding}{hint}"


def _utf16_hint(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(2)
    return "; the file is UTF-16, set `encoding: utf-16`" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""


_OTHER_DELIMITERS: Final = ";\t|,"


def csv_rows(path: Path, options: CsvOptions, problems: Problems) -> Iterator[Row]:
    """Yield the rows below the header, cells as text; record ragged rows, open quotes and repeated columns.

    A row's line is the one it starts on. Blank lines are skipped. Reading stops where the structure is
    lost, for example after an open quote.
    """
    lines = text_lines(path, encoding=options.encoding, newline="", problems=problems)
    rows = _numbered(csv.reader(lines, delimiter=options.delimiter, strict=True), problems)
    line, header = next(rows, (0, []))
    if not header:
        if not problems:
            problems.add("the file is empty; a csv file must start with a header row")
        return
    if not _check_header(header, line, options.delimiter, problems):
        return
    count = 0
    for line, cells in rows:
        count += 1
        if len(cells) == len(header):
            yield Row(line=line, values={name: cell for name, cell in zip(header, cells, strict=True) if name})
        else:
            problems.add(_ragged(len(cells), len(header)), line=line)
    if not count and not problems:
        problems.add("the file has a header but no rows")


def _numbered(reader: Reader, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next_csv_row(reader)
        except csv.Error as error:
            problems.add(_structure(str(error)), line=line)
            return
        if cells is None:
            return
        if cells:
            yield line, cells


def _check_header(header: list[str], line: int, delimiter: str, problems: Problems) -> bool:
    repeated = [name for position, name in enumerate(header) if name in header[:position]]
    for name in dict.fromkeys(repeated):
        problems.add(
            f"column '{name}' appears {header.count(name)} times in the header; names must be unique", line=line
        )
    if len(header) == 1:
        other = next((mark for mark in _OTHER_DELIMITERS if mark != delimiter and mark in header[0]), None)
        if other is not None:
            written = "\\t" if other == "\t" else other
            problems.add(
                f"the header is a single column, '{header[0][:60]}'; if '{written}' separates the cells, "
                f'set `delimiter: "{written}"`',
                line=line,
            )
            return False
    return not repeated


def _ragged(cells: int, columns: int) -> str:
    difference = "too many" if cells > columns else "too few"
    return (
        f"{difference} cells: {cells}, but the header has {columns}; "
        "put double quotes around a cell that contains the delimiter or a line break"
    )


def _structure(error: str) -> str:
    if "unexpected end of data" in error:
        return "a double quote in the row that starts here is never closed"
    if "expected after" in error:
        return 'text after a closing quote in the row that starts here; write "" for a quote inside a quoted cell'
    return f"the row that starts here is not valid csv: {error}"


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def jsonl_rows(path: Path, options: JsonlOptions, problems: Problems) -> Iterator[Row]:
    """Yield one row per JSON object; skip blank lines; record every line that is not an object."""
    count = 0
    lines = text_lines(path, encoding=options.encoding, newline="\n", problems=problems)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        count += 1
        row = _read(line, number, problems)
        if row is not None:
            yield row
        elif count == 1 and _whole_document(line):
            return  # every further line would be a mistake of the same kind
    if not count and not problems:
        problems.add("the file is empty; a JSON Lines file has one JSON object per line")


def _read(line: str, number: int, problems: Problems) -> Row | None:
    try:
        # JSON allows only these four as white space around a value; plain `strip()` would accept others too.
        value = parsed(line.strip(" \t\r\n"))
    except json.JSONDecodeError as error:
        indent = len(line) - len(line.lstrip(" \t\r\n"))
        problems.add(_not_json(line, error.msg), line=number, column=indent + error.pos + 1)
        return None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        problems.add(f"unusable JSON: {reason}", line=number)
        return None
    if not isinstance(value, dict):
        problems.add(_not_object(value), line=number)
        return None
    if _half_a_character(line, value):
        problems.add("contains half of a surrogate pair (\\ud800 to \\udfff), which is not a character", line=number)
        return None
    return Row(line=number, values=value)


def parsed(text: str) -> Json:
    """Return a JSON value whose numbers remember their spelling; raise `ValueError` where it is none, or ambiguous."""
    value: Json = json.loads(text, parse_float=Written, parse_constant=_refuse, object_pairs_hook=_distinct)
    return value


def _not_json(line: str, message: str) -> str:
    if _whole_document(line):
        return "JSON Lines has one complete object per line; this looks like one JSON document over several lines"
    return f"invalid JSON: {message}"


def _whole_document(line: str) -> bool:
    return line.strip() in ("[", "{") or line.lstrip().startswith("[")


def _not_object(value: object) -> str:
    kind = {list: "an array", str: "text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    return f'a line must be one JSON object such as {{"response": "..."}}, not {kind}'


def _distinct(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    values = dict(pairs)
    if len(values) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key '{repeated}' appears twice in one object")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not allowed in JSON; write null or text")


def _half_a_character(line: str, value: object) -> bool:
    if not _SURROGATE.search(line):
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
