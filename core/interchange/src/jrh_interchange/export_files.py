"""Read the JSON that other tools export, whole or as JSON Lines: bounded, and with the place of every mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from jrh.document.plain_files import check_plain, not_utf8, read_plain
from jrh.errors import JrhError, OtherToolError
from jrh.text.escaping import clean_text

from jrh_interchange.row_files import LARGEST_TABLE

LARGEST_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of one JSON document, which becomes several times as many in memory."""
LONGEST_LINE: Final = 64 * 1024 * 1024
_START: Final = 4096
_MAGIC: Final[Mapping[bytes, str]] = {
    b"SQLite format 3\0": "a SQLite database",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"PAR1": "a Parquet table",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}


def read_objects(path: Path, *within: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the JSON objects of an export, each with its place, such as `log.jsonl:12`.

    JSON Lines are read line by line. Of one document, the objects are those of its list, or of the list under the first
    of `within` that it has; a document without one is itself the only object. `NaN` and infinities are null.

    Args:
        path: the file.
        within: keys of a document that may hold the list, such as `data`; `a.b` is a key of a key.

    Raises:
        OtherToolError: it is not UTF-8, is not JSON, or holds something else than objects.
        JrhError: it cannot be read or is too large.
    """
    shown = str(path)
    try:
        check_plain(path, LARGEST_TABLE)
        with path.open("rb") as file:
            start = file.read(_START)
            _check_start(start, shown)
            file.seek(0)
            found = _lines(file, shown) if has_lines(file, start) else _document(path, shown, within)
            yield from found
    except OSError as error:
        raise JrhError(f"'{shown}' cannot be read: {error.strerror or error}") from error


def _check_start(start: bytes, shown: str) -> None:
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise OtherToolError(f"'{shown}' is {what}; expected JSON or JSON Lines")
    if not start.strip():
        raise OtherToolError(f"'{shown}' is empty")


def has_lines(file: IO[bytes], start: bytes) -> bool:
    """Tell whether the first line is a JSON object of its own and not the beginning of a document."""
    if not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    first = b""
    while not first.strip():
        first = file.readline(LONGEST_LINE)
    rest = file.read(1)
    file.seek(0)
    try:
        json.loads(first.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        # Only a line that ends the object can be one of several: a document's first line is `{`.
        return bool(rest) and first.rstrip().endswith(b"}")
    return bool(rest)


def _lines(file: IO[bytes], shown: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise JrhError(f"{shown}:{number}: the line is longer than {LONGEST_LINE // 1_000_000} MB")
        if line.strip():
            yield f"{shown}:{number}", _object(_parsed(line, f"{shown}:{number}"), f"{shown}:{number}")


def _document(path: Path, shown: str, within: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    whole = _parsed(read_plain(path, LARGEST_DOCUMENT), shown)
    for key in within:
        found = whole
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        if isinstance(found, list):
            whole = found
            break
    if not isinstance(whole, list):
        yield shown, _object(whole, shown)
        return
    for number, each in enumerate(whole, start=1):
        yield f"{shown}: entry {number}", _object(each, f"{shown}: entry {number}")


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise OtherToolError(f"{place}: expected a JSON object, got {type(value).__name__}")


def _parsed(content: bytes, place: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise OtherToolError(f"{place}: {not_utf8(content)} (byte {error.start + 1})") from None
    except RecursionError:
        raise OtherToolError(f"{place}: the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        _refuse(error, place, content)
    except ValueError as error:  # such as a number of more digits than Python converts
        raise OtherToolError(f"{place}: not JSON: {clean_text(str(error), 200)}") from None


def _refuse(error: json.JSONDecodeError, place: str, content: bytes) -> NoReturn:
    where = place if b"\n" not in content.rstrip() else f"{place}:{error.lineno}"
    cut = "; the file ends too early" if error.pos >= len(error.doc.rstrip()) else ""
    raise OtherToolError(f"{where}: not JSON: {error.msg} (column {error.colno}){cut}") from None


def _no_number(_text: str) -> None:
    """Read `NaN` and infinities, which are no JSON, as null: the tool had no number."""
