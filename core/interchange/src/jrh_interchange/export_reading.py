"""Read the export of another tool: its beginning tells whose it is, and the importer of a plugin reads it whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

from jrh import JrhError, Json
from jrh.document.positions import check_plain, not_utf8, read_plain
from jrh.errors import RAISED, OtherToolError, PluginError
from jrh.hashing import RepeatedKeyError, distinct_keys
from jrh.plugins import ImporterSpec
from jrh.plugins.factories import make
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry, Registry
from jrh.text import clean_text
from jrh.text.redact import error_line
from jrh.values import ImportedLog

from jrh_interchange.settings import component_options
from jrh_interchange.table_rows import LARGEST_DOCUMENT, LARGEST_TABLE, LONGEST_LINE, LimitError, read_json_text

# Enough for every magic number below and, past white space, for the first character.
_START: Final = 4096
# "Not JSON" would be true of these files, and would not help whoever named the database instead of its export.
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
            yield from _lines(file, shown) if _has_lines(file, start) else _document(path, shown, within)
    except OSError as error:
        raise JrhError(f"'{shown}' cannot be read: {error.strerror or error}") from error


def _check_start(start: bytes, shown: str) -> None:
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise OtherToolError(f"'{shown}' is {what}; expected JSON or JSON Lines")
    if not start.strip():
        raise OtherToolError(f"'{shown}' is empty")


def _has_lines(file: IO[bytes], start: bytes) -> bool:
    """Tell whether the first line is a JSON object of its own and not the beginning of a document."""
    # A list is always a document: in JSON Lines every line is an object.
    if not start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    first = b""
    # Blank lines may come first. This ends, as `start` holds a brace.
    while not first.strip():
        first = file.readline(LONGEST_LINE)
    # An object on the only line is a document: the list may be inside it.
    following = file.read(1)
    file.seek(0)
    try:
        json.loads(first.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        # Only a line that ends the object can be one of several: a document's first line is `{`.
        return bool(following) and first.rstrip().endswith(b"}")
    return bool(following)


def _lines(file: IO[bytes], shown: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    number = 0
    # One byte more than allowed tells a line that is too long from one that just fits.
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise JrhError(f"{shown}:{number}: the line is longer than {LONGEST_LINE // 1_000_000} MB")
        if line.strip():
            yield f"{shown}:{number}", _object(_parse_json(line, f"{shown}:{number}"), f"{shown}:{number}")


def _document(path: Path, shown: str, within: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    document = _parse_json(read_plain(path, LARGEST_DOCUMENT), shown)
    for key in within:
        entries = value_at(document, *key.split("."))
        if isinstance(entries, list):
            document = entries
            break
    if not isinstance(document, list):
        yield shown, _object(document, shown)
        return
    for number, entry in enumerate(document, start=1):
        yield f"{shown}: entry {number}", _object(entry, f"{shown}: entry {number}")


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise OtherToolError(f"{place}: expected a JSON object, got {type(value).__name__}")


def _parse_json(content: bytes, place: str) -> Any:
    try:
        return read_json_text(content.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise OtherToolError(f"{place}: {not_utf8(content)} (byte {error.start + 1})") from None
    except LimitError as error:
        raise JrhError(f"{place}: {error}") from None
    except json.JSONDecodeError as error:
        # The place of a line has its number already; a document needs the line of the mistake.
        where = place if b"\n" not in content.rstrip() else f"{place}:{error.lineno}"
        # A mistake at the very end is most likely a copy that stopped half-way.
        cut = "; the file ends too early" if error.pos >= len(error.doc.rstrip()) else ""
        raise OtherToolError(f"{where}: not JSON: {error.msg} (column {error.colno}){cut}") from None
    except RepeatedKeyError as error:
        at = place if b"\n" not in content.rstrip() and ":" in place else f"{place}:{_line_of_repeated(content)}"
        raise JrhError(f"{at}: {clean_text(str(error))}; the file is ambiguous") from None
    except ValueError as error:  # such as a number of more digits than Python converts
        raise OtherToolError(f"{place}: not JSON: {clean_text(str(error), 200)}") from None


def _line_of_repeated(content: bytes) -> int:
    """Return the line where the first object with a key twice begins; slow, as only Python's own scanner tells."""
    text, starts = content.decode("utf-8-sig"), list[int]()

    def parse_object(start: tuple[str, int], *rest: Any) -> Any:
        try:
            return JSONObject(start, *rest)
        except RepeatedKeyError:
            starts.append(start[1])
            raise

    decoder: Any = json.JSONDecoder(object_pairs_hook=distinct_keys)
    decoder.parse_object = parse_object
    with suppress(RepeatedKeyError):
        py_make_scanner(decoder)(text, len(text) - len(text.lstrip()))
    return text.count("\n", 0, starts[0]) + 1


def _no_number(_text: str) -> None:
    """Read `NaN` and infinities, which are no JSON, as null: the tool had no number."""


def value_at(value: Any, *keys: str) -> Any:
    """Return what is under keys of mappings, each below the one before; None where one is missing.

    A text that holds a JSON object is read as one: models answer with such texts.
    """
    for key in keys:
        value = _parse_object(value)
        if isinstance(value, Sequence) and not isinstance(value, str) and key.isdecimal():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _parse_object(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return read_json_text(value)
        except ValueError:
            return None
    return value


HEAD: Final = 1_000_000
"""Bytes of JSON Lines that are looked at."""
LARGEST_LOOKED_AT: Final = 16 * 1024 * 1024
"""Bytes of a JSON document that every importer may read: for a larger one, the user names the tool."""


@contextmanager
def _head_of(path: Path) -> Iterator[Path | None]:
    """Yield a file of the same name with the first lines of an export; None for a document that is too large."""
    try:
        check_plain(path, LARGEST_TABLE)
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(HEAD)
    except OSError:  # the importers say what it is
        yield path
        return
    # The beginning of a document is no document: it is read whole or not at all.
    if size <= HEAD or not _has_lines(BytesIO(start), start):
        yield path if size <= LARGEST_LOOKED_AT else None
        return
    # Importers take a path, and some look at its ending: the first lines become a file of the same name.
    with TemporaryDirectory(prefix="jrh-import-") as folder:
        head = Path(folder) / path.name
        # The last line is cut off in the middle.
        head.write_bytes(start[: start.rfind(b"\n") + 1])
        yield head


def read_export(path: Path, importer: str, options: Mapping[str, Json], plugins: Sequence[str] = ()) -> ImportedLog:
    """Read an export of another tool.

    Args:
        path: the file or folder.
        importer: name of the importer, such as `promptfoo`.
        options: its options, as they are written; unknown ones are errors.
        plugins: as `--plugins`; importers are looked up among all installed plugins, and the local ones named here.

    Raises:
        JrhError: there is no such importer or option, or the file is not what the tool writes.
        PluginError: the importer raised or returned something else.
    """
    return _read(path, _importers(plugins).find(importer), options)


def _read(path: Path, entry: Entry[ImporterSpec], options: Mapping[str, Json]) -> ImportedLog:
    settings = component_options(entry, options, "--from")
    try:
        log = make(entry, settings, None).read(path)
    except JrhError:
        raise
    except RAISED as error:
        raise PluginError(f"importer '{entry.qualified}' failed on '{path}': {error_line(error)}") from error
    if not isinstance(log, ImportedLog):
        raise PluginError(f"importer '{entry.qualified}' returns {type(log).__name__}, not ImportedLog")
    return log


def tools_of(path: Path, options: Mapping[str, Json], plugins: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the importers that recognise a file or folder as an export of their tool, by reading it.

    Of many JSON Lines the first decide; a JSON document of more than 16 MB is not looked at. An importer that reads the
    file takes it for its tool's. Where none does, those do that fail for another reason than
    `OtherToolError`, such as a metric that has to be named.

    Args:
        path: the file or folder.
        options: options of the import; an importer that does not have them is left out.
        plugins: as for `read_export`.
    """
    with _head_of(path) as head:
        if head is not None and head.is_file():
            with suppress(OtherToolError):  # what is beyond a limit is so for every importer
                next(read_objects(head), None)
        return () if head is None else _takers(head, _importers(plugins), options)


def _takers(path: Path, importers: Registry[ImporterSpec], options: Mapping[str, Json]) -> tuple[str, ...]:
    takers: dict[str, bool] = {}
    for entry in importers:
        try:
            takers[entry.spec.name] = bool(_read(path, entry, options).records)
        # A broken importer of another plugin must not hide the tool that did write the file.
        except (OtherToolError, PluginError):
            continue
        except JrhError:
            # It knows the format and lacks a choice, such as --metric: it counts only where no importer reads the file.
            takers[entry.spec.name] = False
    read = tuple(name for name, was_read in takers.items() if was_read)
    # A file that most take, such as an empty list, is of none.
    return read or (tuple(takers) if 2 * len(takers) <= len(importers) else ())


def _importers(plugins: Sequence[str]) -> Registry[ImporterSpec]:
    # `--plugins` narrows the metrics of an import. What can be read does not depend on it, but local plugins are added.
    return load_plugins([name for name in plugins if name.endswith(".py") or ":" in name]).plugins.importers
