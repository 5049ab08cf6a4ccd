"""Read the rows of a benchmark's files, whatever their format, as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError, Json

from jrh_sources.options import CsvOptions, JsonlOptions, ParquetOptions
from jrh_sources.parquet_rows import parquet_rows
from jrh_sources.rows import Problems, Row
from jrh_sources.text_rows import csv_rows, jsonl_rows, parsed

LARGEST_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of one JSON document, which is held in memory at once."""
MOST_FILES: Final = 1000
"""Files of one benchmark; a folder with more is another folder."""


@frozen(kw_only=True)
class Found:
    """One row of a benchmark's file."""

    file: Path
    line: int
    problems: Problems
    values: dict[str, Json]

    def text(self, name: str) -> str:
        """Return a value as text, empty if there is none."""
        value = self.values.get(name)
        return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def wrong(self, message: str) -> None:
        """Record a mistake of this row."""
        self.problems.add(message, line=self.line)


def files_of(path: Path, shown: str, names: Iterable[str], apart: Iterable[str]) -> list[Path]:
    """Return the file itself, or those of a folder that have one of the names and lie in no folder of `apart`.

    Raises:
        JrhError: there is no such file or folder, or nothing in it has one of the names.
    """
    if path.is_file():
        return [path]
    if path.exists() and not path.is_dir():
        raise JrhError(f"{shown} is not a regular file")  # a device or a pipe may never end
    if not path.is_dir():
        raise JrhError(f"{shown}: no such file or folder; a relative path is relative to the suite's directory")
    wanted, left_out = tuple(names), frozenset(apart)
    found: list[Path] = []
    for each in sorted(path.rglob("*")):
        inside = each.relative_to(path)
        if (
            left_out.isdisjoint(inside.parts)
            and any(fnmatchcase(each.name, name) for name in wanted)
            and each.is_file()
        ):
            found.append(each)
        if len(found) > MOST_FILES:
            raise JrhError(f"{shown} has more than {MOST_FILES} files of this kind; name one file")
    if not found:
        raise JrhError(f"{shown} has no file called {' or '.join(wanted)}; name the file itself")
    return found


def rows_of(file: Path, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a csv, JSON, JSON Lines or Parquet file; its ending says which it is."""
    read = _READERS.get(file.suffix.lower())
    if read is None:
        problems.add(f"the file ending '{file.suffix}' is not one of {', '.join(_READERS)}")
        return
    yield from read(file, problems)


def _document(file: Path, problems: Problems) -> Iterator[Row]:
    """Yield the objects of a JSON document: a list of them, or an object with one list of them."""
    if file.stat().st_size > LARGEST_DOCUMENT:
        problems.add(f"has more than {LARGEST_DOCUMENT:,} bytes, the limit for a JSON document")
        return
    try:
        value = parsed(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        problems.add(f"unusable JSON: {'nested too deeply' if isinstance(error, RecursionError) else error}")
        return
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = lists[0] if len(lists) == 1 else value
    if not isinstance(value, list):
        problems.add("must be a list of objects, or an object with one list of objects")
        return
    for number, each in enumerate(value, start=1):
        if isinstance(each, dict):
            yield Row(line=number, values=each)
        else:
            problems.add("must be an object", line=number)


_READERS: Final[dict[str, Callable[[Path, Problems], Iterator[Row]]]] = {
    ".csv": lambda file, problems: csv_rows(file, CsvOptions(path=file), problems),
    ".jsonl": lambda file, problems: jsonl_rows(file, JsonlOptions(path=file), problems),
    ".json": _document,
    ".parquet": lambda file, problems: parquet_rows(file, ParquetOptions(path=file), problems),
}
