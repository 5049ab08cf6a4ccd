"""Find the places of a text that each layout can change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from jrh_format.blocks import Document, Kind, Paragraph
from jrh_format.guard import Guard, starts_block
from jrh_format.options import Layout
from jrh_format.places import Draws, Edit, Place
from jrh_format.sentences import sentence_gaps

Finder: TypeAlias = Callable[[Document, Draws, int], Iterable[Place]]

LONGEST_HEADING: Final = 120
"""Longer sentences do not become headings."""
_INDENTS: Final = ("    ", "        ", "\t")
_LINE_GAP: Final = re.compile(r"(?<![ \t])[ \t]*(?:\r\n?|\n)[ \t]*")
_INNER_SPACES: Final = re.compile(r"(?<=[^ \t]) +(?=[^ \t])")
_WORD: Final = re.compile(r"[^ \t\r\n]+")
_MARKERS: Final = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|$)|>[ \t]*)*(?:\[[ xX]\][ \t]+)?")
_BACKTICKS: Final = re.compile("`+")

NO_PLACE: Final = {
    Layout.BLANK_LINES: "no sentence or paragraph end to put a blank line after",
    Layout.SPACES: "no space between words on a line",
    Layout.INDENT: "no line of prose to indent",
    Layout.TRAILING: "no line that may get trailing spaces",
    Layout.CRLF: "no line break to change",
    Layout.WRAP: "no line of prose longer than the width",
    Layout.BULLETS: "no prose to turn into a list",
    Layout.HEADING: "no paragraph with a first sentence short enough for a heading",
    Layout.CODE_FENCE: "no text outside code to fence",
}
"""Why a text is skipped."""


def places(layout: Layout, document: Document, guard: Guard, *, seed: int, width: int) -> list[Place]:
    """Return the places of the text that the layout can change, in text order.

    The seed decides what is inserted (how many spaces, which indentation); the caller chooses which places change.
    """
    return [place for place in _FINDERS[layout](document, Draws(seed), width) if guard.admits(place)]


def _blank_lines(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph in document.paragraphs:
        for start, end in sentence_gaps(document.text, paragraph.start, paragraph.end):
            if not starts_block(document.text, end):
                yield Place.of(start, end, document.newline * 2)
        if paragraph.followed:
            stop = paragraph.lines[-1].stop
            yield Place.of(stop, stop, document.newline)


def _spaces(document: Document, draws: Draws, _width: int) -> Iterator[Place]:
    for line in document.lines:
        start = line.start
        if line.kind is Kind.STRUCTURED:
            markers = _MARKERS.match(document.text, line.start, line.end)
            start = markers.end() if markers else line.start
        if line.kind in (Kind.PROSE, Kind.STRUCTURED):
            for gap in _INNER_SPACES.finditer(document.text, start, line.end):
                yield Place.of(gap.start(), gap.start(), " " * (2 + draws.below(4)))


def _indent(document: Document, draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph in document.paragraphs:
        if not paragraph.after_list:
            for line in paragraph.lines:
                yield Place.of(line.start, line.start, _INDENTS[draws.below(len(_INDENTS))])


def _trailing(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    for line in document.lines:
        if line.kind in (Kind.PROSE, Kind.STRUCTURED):
            yield Place.of(line.end, line.end, "  ")


def _crlf(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    for line in document.lines:
        if line.kind is not Kind.VERBATIM and document.text[line.end : line.stop] == "\n":
            yield Place.of(line.end, line.end, "\r")


def _wrap(document: Document, _draws: Draws, width: int) -> Iterator[Place]:
    for paragraph in document.paragraphs:
        for line in paragraph.lines:
            begin = line.start
            words = _WORD.finditer(document.text, line.start, line.end)
            for before, word in pairwise(words):
                if word.end() - begin > width and not starts_block(document.text, word.start()):
                    yield Place.of(before.end(), word.start(), document.newline)
                    begin = word.start()


def _bullets(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph in document.paragraphs:
        if paragraph.before_code:
            continue
        yield Place.of(paragraph.start, paragraph.start, "- ")
        for start, end in _unit_gaps(document, paragraph):
            if not starts_block(document.text, end):
                yield Place.of(start, end, document.newline + "- ")


def _heading(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph in document.paragraphs:
        gap, after = next(iter(_unit_gaps(document, paragraph)), (paragraph.end, paragraph.end))
        title = document.text[paragraph.start : gap]
        if len(title) > LONGEST_HEADING or "\n" in title or "\r" in title or title.endswith("#"):
            continue
        mark = Edit(paragraph.start, paragraph.start, "# ")
        if gap == after:
            yield Place((mark,))
        elif not starts_block(document.text, after):
            yield Place((mark, Edit(gap, after, document.newline * 2)))


def _code_fence(document: Document, _draws: Draws, _width: int) -> Iterator[Place]:
    text, newline = document.text, document.newline
    if any(line.kind in (Kind.PROSE, Kind.STRUCTURED) for line in document.lines):
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
        closing = fence if text.endswith(("\n", "\r")) else newline + fence
        yield Place((Edit(0, 0, fence + newline), Edit(len(text), len(text), closing)))


def _unit_gaps(document: Document, paragraph: Paragraph) -> list[tuple[int, int]]:
    """Return what parts the sentences of a paragraph, or its lines where every line starts as a unit does."""
    line_gaps = [gap.span() for gap in _LINE_GAP.finditer(document.text, paragraph.start, paragraph.end)]
    starts = [document.text[end : end + 1] for _, end in line_gaps]
    # Lines broken at a width go on in lower case; lines of their own seldom do.
    if starts and not any(start.islower() for start in starts):
        return line_gaps
    return sentence_gaps(document.text, paragraph.start, paragraph.end)


_FINDERS: Final[dict[Layout, Finder]] = {
    Layout.BLANK_LINES: _blank_lines,
    Layout.SPACES: _spaces,
    Layout.INDENT: _indent,
    Layout.TRAILING: _trailing,
    Layout.CRLF: _crlf,
    Layout.WRAP: _wrap,
    Layout.BULLETS: _bullets,
    Layout.HEADING: _heading,
    Layout.CODE_FENCE: _code_fence,
}
