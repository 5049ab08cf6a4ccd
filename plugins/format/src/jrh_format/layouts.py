"""Find the places of a text that each layout can change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final, TypeAlias

from jrh_format.blocks import Document, Kind, Paragraph, read
from jrh_format.guard import Guard, starts_block
from jrh_format.options import Layout
from jrh_format.places import Draws, Place
from jrh_format.sentences import sentence_gaps

Gap: TypeAlias = tuple[int, int]
"""Start and end of a run of white space."""

LONGEST_HEADING: Final = 120
"""Longer sentences do not become headings."""
_INDENTS: Final = ("    ", "        ", "\t")
_RUNS: Final = tuple(" " * n for n in range(2, 6))
_LINE_GAP: Final = re.compile(r"(?<![ \t])[ \t]*(?:\r\n?|\n)[ \t]*")
# Begins with a space, which is found faster than what must stand before it.
_INNER_SPACES: Final = re.compile(r" (?<=[^ \t] ) *+(?=[^ \t])")
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


class Source:
    """A text to change, read once for all layouts."""

    def __init__(self, text: str) -> None:
        """Read the lines and paragraphs of a text, and what is protected in it."""
        self.text = text
        self.document: Document = read(text)
        self._guard = Guard(text)

    def places(self, layout: Layout, *, seed: int, width: int) -> list[Place]:
        """Return the places of the text that the layout can change, in text order.

        The seed decides what is inserted (how many spaces, which indentation); the caller chooses which places change.
        """
        return self._guard.admitted(_FINDERS[layout](self, Draws(seed), width))

    def opens(self, gap: Gap) -> bool:
        """Return whether what follows a gap may start a line without becoming another block."""
        return not starts_block(self.text, gap[1])

    @cached_property
    def sentences(self) -> list[list[Gap]]:
        """Return the gaps between the sentences of each paragraph."""
        return [sentence_gaps(self.text, own.start, own.end) for own in self.document.paragraphs]

    @cached_property
    def units(self) -> list[list[Gap]]:
        """Return what parts the sentences of each paragraph, or its lines where every line starts as a unit does."""
        paragraphs = zip(self.document.paragraphs, self.sentences, strict=True)
        return [self._own_lines(paragraph) or sentences for paragraph, sentences in paragraphs]

    def _own_lines(self, paragraph: Paragraph) -> list[Gap]:
        if len(paragraph.lines) == 1:
            return []
        gaps = [gap.span() for gap in _LINE_GAP.finditer(self.text, paragraph.start, paragraph.end)]
        # Lines broken at a width go on in lower case; lines of their own seldom do.
        return [] if any(self.text[end : end + 1].islower() for _, end in gaps) else gaps


Finder: TypeAlias = Callable[[Source, Draws, int], Iterable[Place]]


def _blank_lines(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    newline = source.document.newline
    for paragraph, gaps in zip(source.document.paragraphs, source.sentences, strict=True):
        yield from (((*gap, newline * 2),) for gap in gaps if source.opens(gap))
        if paragraph.followed:
            stop = paragraph.lines[-1].stop
            yield ((stop, stop, newline),)


def _spaces(source: Source, draws: Draws, _width: int) -> Iterator[Place]:
    below = draws.below
    for line in source.document.lines:
        start = line.start
        if line.kind is Kind.STRUCTURED:
            markers = _MARKERS.match(source.text, line.start, line.end)
            start = markers.end() if markers else line.start
        if line.kind in (Kind.PROSE, Kind.STRUCTURED):
            for gap in _INNER_SPACES.finditer(source.text, start, line.end):
                at = gap.start()
                yield ((at, at, _RUNS[below(4)]),)


def _indent(source: Source, draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph in source.document.paragraphs:
        if not paragraph.after_list:
            for line in paragraph.lines:
                yield ((line.start, line.start, _INDENTS[draws.below(len(_INDENTS))]),)


def _trailing(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    for line in source.document.lines:
        if line.kind in (Kind.PROSE, Kind.STRUCTURED):
            yield ((line.end, line.end, "  "),)


def _crlf(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    for line in source.document.lines:
        if line.kind is not Kind.VERBATIM and source.text[line.end : line.stop] == "\n":
            yield ((line.end, line.end, "\r"),)


def _wrap(source: Source, _draws: Draws, width: int) -> Iterator[Place]:
    text, newline = source.text, source.document.newline
    for paragraph in source.document.paragraphs:
        for line in paragraph.lines:
            first = _WORD.search(text, line.start, line.end)
            begin, done = line.start, first.end() if first else line.end
            # From line to line: the words between that do not reach the width need not be looked at.
            while (reached := max(begin + width, done)) < line.end:
                space = max(text.rfind(" ", done, reached + 1), text.rfind("\t", done, reached + 1))
                word = _WORD.search(text, space, line.end)
                if word is None:
                    break
                start, done = word.span()
                if not starts_block(text, start):
                    before = len(text[begin:start].rstrip(" \t")) + begin
                    yield ((before, start, newline),)
                    begin = start


def _bullets(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    newline = source.document.newline
    for paragraph, gaps in zip(source.document.paragraphs, source.units, strict=True):
        if not paragraph.before_code:
            yield ((paragraph.start, paragraph.start, "- "),)
            yield from (((*gap, newline + "- "),) for gap in gaps if source.opens(gap))


def _heading(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    for paragraph, gaps in zip(source.document.paragraphs, source.units, strict=True):
        gap = gaps[0] if gaps else (paragraph.end, paragraph.end)
        title = source.text[paragraph.start : gap[0]]
        if len(title) > LONGEST_HEADING or "\n" in title or "\r" in title or title.endswith("#"):
            continue
        mark = (paragraph.start, paragraph.start, "# ")
        if not gaps:
            yield (mark,)
        elif source.opens(gap):
            yield (mark, (*gap, source.document.newline * 2))


def _code_fence(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
    text, newline = source.text, source.document.newline
    if any(line.kind in (Kind.PROSE, Kind.STRUCTURED) for line in source.document.lines):
        fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
        closing = fence if text.endswith(("\n", "\r")) else newline + fence
        yield ((0, 0, fence + newline), (len(text), len(text), closing))


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
