"""Find out what kind of table a file is, and read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from attrs import frozen
from jrh import JrhError
from jrh_interchange import LARGEST_TABLE, check_table_file

from jrh_import.mapping import Format
from jrh_import.tables import Table, read_table

MOST_ROWS: Final = 1_000_000
"""Rows beyond this would not fit into the memory of a small machine."""
_BLOCK: Final = 1024 * 1024
_DELIMITERS: Final = (",", "\t", ";")
_SUFFIXES: Final = {
    **{f".{each.value}": each for each in Format},
    ".txt": Format.CSV,
    ".tab": Format.TSV,
    ".ndjson": Format.JSONL,
}


@frozen(kw_only=True)
class Source:
    """A table with how it was read."""

    table: Table
    format: Format
    delimiter: str = ","


def read_source(path: Path, kind: Format | None = None) -> Source:
    """Read a table, `-` for standard input; the format follows from the suffix, the delimiter from the header.

    Raises:
        JrhError: it is no table, or has more than `MOST_ROWS` rows.
    """
    with _file(path) as (file, shown):
        try:
            check_table_file(file)
            found = kind or _SUFFIXES.get(path.suffix.lower()) or _guessed(file)
            delimiter = _delimiter(file) if found is Format.CSV else ","
        except OSError as error:
            raise JrhError(f"{shown}: cannot be read: {error.strerror or error}") from error
        table = read_table(file, found, delimiter, most=MOST_ROWS, shown=shown)
        return Source(table=table, format=found, delimiter=delimiter)


@contextmanager
def _file(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file to read and its name for messages; standard input is kept in a temporary file."""
    if str(path) != "-":
        yield path, str(path)
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "stdin"
        with file.open("wb") as copy:
            _copy(sys.stdin.buffer, copy)
        yield file, "standard input"


def _copy(stream: BinaryIO, file: BinaryIO) -> None:
    """Copy standard input, which may never end, in blocks."""
    size = 0
    while block := stream.read(_BLOCK):
        size += len(block)
        if size > LARGEST_TABLE:
            raise JrhError(
                f"standard input is larger than {LARGEST_TABLE // 1_000_000:,} MB; take a sample of the rows"
            )
        file.write(block)


def _guessed(path: Path) -> Format:
    with path.open("rb") as file:
        start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return Format.PARQUET
    return Format.JSONL if start.startswith(b"{") else Format.CSV


def _delimiter(path: Path) -> str:
    """Return the delimiter that the first line has most of; a comma where it has none."""
    with path.open("rb") as file:
        header = file.readline(100_000).decode("utf-8-sig", errors="replace")
    return max(_DELIMITERS, key=header.count)
