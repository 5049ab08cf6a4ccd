"""Render a comparison for the terminal and as Markdown and JSON."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Final

import attrs
from jrh.text import clean_text
from jrh_measuring import LONGEST_COMMENT, lines_that_fit, markdown_text

from jrh_compare.document import Lines, Section, Table, document
from jrh_compare.results import Comparison

_SHORTENED: Final = f"Shortened to stay within {LONGEST_COMMENT:,} characters; jrh compare --format json has all of it."
_WIDTH: Final = 160
_LINE: Final = 600
_CELL: Final = 120


def terminal(comparison: Comparison) -> str:
    """Return the comparison for the terminal, without control sequences from untrusted text."""
    from rich.console import Console
    from rich.table import Table as Grid

    tty = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    out = io.StringIO()
    width = shutil.get_terminal_size().columns if tty else _WIDTH
    console = Console(
        file=out, force_jupyter=False, width=width, highlight=False, markup=False, emoji=False, no_color=True
    )
    for section in document(comparison):
        if section.title:
            console.print(f"== {clean_text(section.title, _LINE)} ==\n", soft_wrap=True)
        for block in section.blocks:
            match block:
                case Lines(lines=lines):
                    for line in lines:
                        console.print(clean_text(line, _LINE), soft_wrap=True)
                case Table(columns=columns, rows=rows):
                    grid = Grid(*columns, box=None, pad_edge=False)
                    for row in rows:
                        grid.add_row(*(clean_text(cell, _CELL) for cell in row))
                    console.print(grid)
            console.print()
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).rstrip("\n") + "\n"


def markdown(comparison: Comparison) -> str:
    """Return the comparison as Markdown with untrusted text escaped; never longer than a GitHub comment may be.

    Where it is too long, the comparisons are cut at the end, and what concerns all of them stays.
    """
    sections = tuple(document(comparison))
    own = [line for section in sections if not section.of_all for line in _lines(section)]
    closing = [line for section in sections if section.of_all for line in _lines(section)]

    def text_of(kept: int) -> str:
        note = [] if kept == len(own) + len(closing) else ["", "---", "", _SHORTENED]
        return "\n".join([*own[: max(kept - len(closing), 0)], *closing[:kept], *note]).rstrip("\n") + "\n"

    return text_of(lines_that_fit(text_of, len(own) + len(closing), LONGEST_COMMENT))


def _lines(section: Section) -> Iterator[str]:
    """Yield the lines of a section, an empty one after each of its parts."""
    if section.title:
        yield from (f"## {markdown_text(section.title, _LINE)}", "")
    for block in section.blocks:
        match block:
            case Lines(lines=lines):
                yield from (f"- {markdown_text(line.removeprefix('- '), _LINE)}" for line in lines)
            case Table(columns=columns, rows=rows):
                yield from (_line(columns), f"|{' --- |' * len(columns)}", *(_line(row) for row in rows))
        yield ""


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell, _CELL) for cell in cells)} |"


def as_json(comparison: Comparison) -> str:
    """Return all numbers in full, as in `schemas/comparison.schema.json`; ASCII, `null` for unknown values."""
    return json.dumps(_plain(comparison), indent=2, allow_nan=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    kind: type = type(value)
    if attrs.has(kind):
        return {each.name: _plain(getattr(value, each.name)) for each in attrs.fields(kind)}
    return value
