"""Read the lines of a text file and locate invalid bytes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from jrh_sources.problems import Problems

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
