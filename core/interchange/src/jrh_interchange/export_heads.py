"""Cut the beginning out of a large export, so that telling whose it is does not read it whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from jrh.document.plain_files import check_plain

from jrh_interchange.export_files import has_lines
from jrh_interchange.row_files import LARGEST_TABLE

HEAD: Final = 1_000_000
"""Bytes that are looked at."""
_DEEPEST: Final = 8
"""Brackets within which the entries of an export lie, at most."""
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)|[][{},]', re.DOTALL)


@contextmanager
def head_of(path: Path) -> Iterator[tuple[Path, bool]]:
    """Yield a file of the same name with the first entries of an export, and whether it may lack what tells whose.

    JSON Lines are cut at the end of a line and lack nothing. One JSON document is cut between two entries of the
    outermost list that is still open there, and every open bracket is closed; keys after that list are not in it. A
    small file is yielded itself.
    """
    start, lacks = _start(path)
    if not start:
        yield path, False
        return
    with TemporaryDirectory(prefix="jrh-import-") as folder:
        head = Path(folder) / path.name
        head.write_bytes(start)
        yield head, lacks


def _start(path: Path) -> tuple[bytes, bool]:
    """Return the first entries of a file; nothing where it is small, no JSON, or its first entry is long."""
    try:
        check_plain(path, LARGEST_TABLE)
        if path.stat().st_size <= HEAD:
            return b"", False
        with path.open("rb") as file:
            start = file.read(HEAD)
    except OSError:  # the importers say what it is
        return b"", False
    if has_lines(BytesIO(start), start):
        return start[: start.rfind(b"\n") + 1], False
    return _document(start), True


def _document(start: bytes) -> bytes:
    """Return the beginning of a document, cut and closed; nothing where no list is open at its end."""
    closing: list[bytes] = []
    cuts: dict[int, int] = {}
    for token in _TOKEN.finditer(start):
        mark = token[0]
        if mark in b"[{":
            closing.append(b"]" if mark == b"[" else b"}")
        elif mark in b"]}":
            cuts.pop(len(closing), None)
            if not closing or closing.pop() != mark:
                return b""
        elif mark == b"," and len(closing) <= _DEEPEST and closing and closing[-1] == b"]":
            cuts[len(closing)] = token.start()
    if not cuts:
        return b""
    depth = min(cuts)
    return start[: cuts[depth]] + b"".join(reversed(closing[:depth]))
