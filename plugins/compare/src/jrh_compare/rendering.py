"""Render a comparison for the terminal and as Markdown, JSON and CSV, cut to a number of characters if asked."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final

import attrs
from attrs import frozen
from jrh.text import clean_text
from jrh_measuring import LONGEST_COMMENT, comment_length, formula_safe, lines_that_fit, markdown_text

from jrh_compare.document import Block, Lines, Section, Table, document
from jrh_compare.results import Comparison, Pair, Row, SideName

_RESERVE: Final = 400
"""Characters reserved for the note about what was left out."""
_LEAST: Final = 4_000
"""Minimum characters for a chapter, unless it is shorter; longer than any title."""
_REST: Final = "; jrh compare --format json has all of it."
_GAP: Final = "\n\n"


@frozen(kw_only=True)
class Part:
    """Lines that can be cut at the end: a list, or a table with its head."""

    lines: tuple[str, ...]
    head: str = ""
    """Text directly before the first line."""

    def text(self, kept: int | None = None) -> str:
        """Return the part with its first lines and the number of further ones; empty if none is kept."""
        shown = self.lines[:kept]
        more = len(self.lines) - len(shown)
        note = f"{_GAP}{more:,} more{_REST}" if more else ""
        return f"{self.head}{chr(10).join(shown)}{note}" if shown else ""

    def cut(self, room: int) -> str:
        """Return as many lines as fit."""
        return self.text(lines_that_fit(self.text, len(self.lines), room))


@frozen(kw_only=True)
class Chapter:
    """A title and its content."""

    title: str
    """Empty: no title."""
    parts: tuple[Part, ...]
    last: bool = False
    """Whether it is a final chapter about all others; it gets its room first."""

    def text(self, room: int | None = None) -> str:
        """Return the chapter with its full title and as much of its parts as fits, short parts first."""
        whole = [part.text() for part in self.parts]
        if room is not None:
            gaps = len(self.parts) - (not self.title)
            left = room - comment_length(self.title) - len(_GAP) * gaps
            shares = _shares([comment_length(text) for text in whole], left)
            whole = [part.cut(share) for part, share in zip(self.parts, shares, strict=True)]
        return _GAP.join(text for text in (self.title, *whole) if text)


def fit(chapters: Sequence[Chapter], limit: int = LONGEST_COMMENT) -> str:
    """Return the document; if it exceeds the limit, shorten it and say so in the last line.

    Final chapters get up to a third. Of the others, as many as fit are shown from the first; remaining room is shared
    evenly between those that need more.

    Args:
        chapters: in the order of the document.
        limit: characters of the whole, counted by `comment_length`.
    """
    whole = _GAP.join(chapter.text() for chapter in chapters) + "\n"
    if comment_length(whole) <= limit:
        return whole
    room = limit - _RESERVE
    closing = _fitted([chapter for chapter in chapters if chapter.last], room // 3)
    others = [chapter for chapter in chapters if not chapter.last]
    room -= sum(comment_length(text) + len(_GAP) for text in closing)
    shown = _fitted(_first(others, room), room)
    left = len(others) - len(shown)
    pairs = f"; {left:,} of {len(others):,} comparisons are left out entirely" if left else ""
    notice = f"Shortened to stay within {limit:,} characters{pairs}{_REST}"
    return _GAP.join(text for text in (*shown, *closing, "---", notice) if text) + "\n"


def _first(chapters: Sequence[Chapter], room: int) -> Sequence[Chapter]:
    for place, chapter in enumerate(chapters):
        room -= min(_LEAST, comment_length(chapter.text())) + len(_GAP)
        if room < 0:
            return chapters[:place]
    return chapters


def _fitted(chapters: Sequence[Chapter], room: int) -> list[str]:
    sizes = [comment_length(chapter.text()) for chapter in chapters]
    shares = _shares(sizes, room - len(_GAP) * len(chapters))
    return [chapter.text(share) for chapter, share in zip(chapters, shares, strict=True)]


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divide the room: small parts get what they need, the others share the rest evenly."""
    shares = [0] * len(sizes)
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = max(0, min(sizes[place], room // (len(sizes) - done)))
        room -= shares[place]
    return shares


_WIDTH: Final = 160
_LINE: Final = 600
_CELL: Final = 120
_ROW: Final = tuple(attribute.name for attribute in attrs.fields(Row))


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
    """Return the comparison as Markdown with untrusted text escaped; never longer than a GitHub comment may be."""
    return fit([_chapter(section) for section in document(comparison)])


def _chapter(section: Section) -> Chapter:
    title = f"## {markdown_text(section.title, _LINE)}" if section.title else ""
    return Chapter(title=title, parts=tuple(_part(block) for block in section.blocks), last=section.of_all)


def _part(block: Block) -> Part:
    match block:
        case Lines(lines=lines):
            return Part(lines=tuple(f"- {markdown_text(line.removeprefix('- '), _LINE)}" for line in lines))
        case Table(columns=columns, rows=rows):
            head = f"{_line(columns)}\n|{' --- |' * len(columns)}\n"
            return Part(head=head, lines=tuple(_line(row) for row in rows))


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


def as_csv(comparison: Comparison) -> str:
    """Return a line per pair, test and measure; cells are protected against spreadsheet formulas."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = ("label", "run", "judge", "simulated")
    writer.writerow([*(f"{which}_{name}" for which in ("first", "second") for name in names), *_ROW])
    for pair in comparison.pairs:
        for row in pair.rows:
            writer.writerow([*_sides(pair, names), *(_cell(getattr(row, name)) for name in _ROW)])
    return out.getvalue()


def _sides(pair: Pair, names: Iterable[str]) -> list[str]:
    sides: tuple[SideName, SideName] = (pair.first, pair.second)
    return [_cell(getattr(each, name)) for each in sides for name in names]


def _cell(value: object) -> str:
    plain = _plain(value)
    if plain is None:
        return ""
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, int | float):
        return repr(plain)
    if isinstance(plain, dict):
        return formula_safe(", ".join(f"{name} {count}" for name, count in plain.items()))
    return formula_safe(str(plain))
