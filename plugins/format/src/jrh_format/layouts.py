"""Find the places of a text that each layout can change: between sentences, and outside of protected text.

Errors cost little: a missed or extra boundary moves the layout change but never changes a word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Final, TypeAlias

import regex

from jrh_format.blocks import Document, Kind, Paragraph, read
from jrh_format.options import Layout, Typo

Edit: TypeAlias = tuple[int, int, str]
"""Start, end and text: the characters between are replaced with the text; of layouts, they are white space."""
Place: TypeAlias = tuple[Edit, ...]
"""One place that changes as a whole: one or more edits, in text order."""


class Draws:
    """Draw reproducibly from a seed.

    Uses only `Random.random`, the one method whose sequence Python guarantees across versions.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 -- a seeded choice of places, no secret

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
        return int(self._random.random() * n)

    def order(self, n: int) -> list[int]:
        """Draw an order of the numbers from 0 to n - 1."""
        keys = [self._random.random() for _ in range(n)]
        return sorted(range(n), key=keys.__getitem__)


_OPENS: Final = re.compile("[`\\[*_<\u202a-\u202e\u2066-\u2068]")
"""What every span that is kept whole begins with, or has behind a `!`."""
# The lengths are limited so that a text full of openers without closers stays cheap.
_KEPT_WHOLE: Final = regex.compile(
    r"""
      (?<!`)(?P<ticks>`+)(?!`) (?:[^\n\r]|\r?\n(?!\s*\n)){1,400}? (?<!`)(?P=ticks)(?!`)    # code span
    | !?\[ [^\[\]\n\r]{0,400} \] (?: \( [^()\n\r]{0,400} \) | \[ [^\[\]\n\r]{0,400} \] )    # link, image
    | (?P<strong>\*{1,3}|_{1,3}) (?![\s*_]) (?:[^\n\r]|\r?\n(?!\s*\n)){1,400}? (?<!\s)(?P=strong)  # emphasis
    | < [A-Za-z/!?] [^<>\n\r]{0,400} >                                                       # tag, autolink
    | [\u202A-\u202E\u2066-\u2068] [^\n\r]{0,400} [\u202C\u2069]                             # directed text
    """,
    regex.VERBOSE,
)
# Edits are next to white space or at an end of the text. By Unicode's rules (UAX 29), only these can merge with what is
# inserted there: marks and joiners after it, and the few signs that attach to what follows.
_CLINGS_BEFORE: Final = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]")
_CLINGS_AFTER: Final = regex.compile(r"[\p{GCB=Prepend}\\]")

_BLOCK_START: Final = regex.compile(
    r"""
      [-+*] (?=\s|$) | \#{1,6} (?=\s|$) | > | \d{1,9}[.)] (?=\s|$)    # list, heading, quotation
    | `{3} | ~{3} | [-=:|]+ (?=\s|$|[-=:|]) | \| | <[A-Za-z/!?] | \[[^\]]*\]:
    | (?:[-*_][ \t]*){3}                                               # rule
    """,
    regex.VERBOSE,
)


class Guard:
    """Decides where in one text an edit would change more than layout."""

    def __init__(self, text: str) -> None:
        self._no_start = bytearray(len(text) + 1)
        """1 at every offset where no edit may begin."""
        self._no_end = bytearray(len(text) + 1)
        """1 at every offset where none may end."""
        for match in _KEPT_WHOLE.finditer(text) if _OPENS.search(text) else ():
            start, end = match.span()
            self._no_start[start + 1 : end] = self._no_end[start + 1 : end] = b"\1" * (end - start - 1)
        ascii_only = text.isascii()
        # A combining mark at the start of a line has no base; after a space it would get one and look different.
        for match in () if ascii_only else _CLINGS_BEFORE.finditer(text):
            self._no_end[match.start()] = 1
        # A backslash before a space or a line break gives it a meaning in Markdown and in LaTeX.
        for match in () if ascii_only and "\\" not in text else _CLINGS_AFTER.finditer(text):
            self._no_start[match.end()] = 1
        self._free = 1 not in self._no_start and 1 not in self._no_end

    def admit(self, places: Iterable[Place]) -> list[Place]:
        """Return the places of which every edit is between whole characters and outside protected spans."""
        return list(places) if self._free else [place for place in places if self._admits(place)]

    def _admits(self, place: Place) -> bool:
        return not any(self._no_start[start] or self._no_end[end] for start, end, _ in place)


def starts_block(text: str, start: int) -> bool:
    """Return whether the text from `start` on, if it started a line, would be read as a list, heading or the like."""
    # No block starts with a letter.
    return not text[start : start + 1].isalpha() and _BLOCK_START.match(text, start) is not None


# Abbreviations that are also ordinary last words of a sentence (no, art, may, sun) are left out.
_ABBREVIATIONS: Final = """
    adm al apr approx assn aug ave blvd bros ca capt cf ch cmdr co col corp dec dept dr eds eq est fig figs feb gen gov
    hon inc jan jr lt ltd maj mr mrs ms mt mx nos nov nr oct pp pres prof rep rev sec sen sept sgt sr st vol vols vs
"""
_ABBREVIATES: Final = frozenset(_ABBREVIATIONS.split())

# Possessive throughout, and tried only where a word or a run of marks begins: the time grows linearly with the text.
_BOUNDARY: Final = regex.compile(
    r"""
    (?:
        (?<! [\p{L}\p{N}] ) (?<! [\p{L}\p{N}]\. )
        (?P<word> (?: [\p{L}\p{N}] | \.(?=[\p{L}\p{N}]) )++ )        # the last word, with the dots inside it
      | (?<! [\p{L}\p{N}.!?\u2026\u061F\u06D4\u0964\u3002\uFF01\uFF1F] )
    )
    (?P<mark> [.!?\u2026\u061F\u06D4\u0964\u3002\uFF01\uFF1F]++ )   # what ends the sentence
    [\p{Pe}\p{Pf}"'*_]*+                                            # closing brackets and quotes
    (?P<gap> [ \t\r\n]++ )
    (?= [\p{Ps}\p{Pi}"'*_]*+ [\p{Lu}\p{Lt}\p{Lo}\p{N}] )            # a sentence starts; some letters have no case
    """,
    regex.VERBOSE,
)
# The same without the word before the mark, which few marks need: for any text, and faster for ASCII.
_MARKED: Final = regex.compile(
    r"""
    (?<! [.!?\u2026\u061F\u06D4\u0964\u3002\uFF01\uFF1F] )
    (?P<mark> [.!?\u2026\u061F\u06D4\u0964\u3002\uFF01\uFF1F]++ )
    [\p{Pe}\p{Pf}"'*_]*+ (?P<gap> [ \t\r\n]++ ) (?= [\p{Ps}\p{Pi}"'*_]*+ [\p{Lu}\p{Lt}\p{Lo}\p{N}] )
    """,
    regex.VERBOSE,
)
_MARKED_ASCII: Final = re.compile(
    r"""(?<![.!?])(?P<mark>[.!?]++)["'*_)\]}]*+(?P<gap>[ \t\r\n]++)(?=["'*_(\[{]*+[A-Z0-9])"""
)
_INITIALS: Final = regex.compile(r"(?:\p{L}\.)+\p{L}|(?!I$)\p{L}")


def sentence_gaps(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the runs of white space between the sentences of `text[start:end]`.

    Abbreviations, initials, numbers of a list and decimals do not end a sentence; a sentence that starts in lower case
    is not seen. Texts that put no white space between sentences have no gaps. `start` is the text's or behind white
    space.
    """
    return list(_gaps(text, start, end))


def _gaps(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    sentence = done = start
    for match in (_MARKED_ASCII if text.isascii() else _MARKED).finditer(text, start, end):
        gap = match.span("gap")
        if match["mark"] == ".":
            begin, word = _last_word(text, done, match.start(), end)
            if (begin == sentence and word.isdigit()) or _abbreviates(word):
                done = gap[1]
                continue
        sentence = done = gap[1]
        yield gap


def _last_word(text: str, start: int, mark: int, end: int) -> tuple[int, str]:
    """Return where the word before a mark begins, and the word; empty if there is none."""
    begin = max(text.rfind(" ", start, mark) + 1, start)
    word = text[begin:mark]
    if word.isascii() and word.isalnum():
        return begin, word
    begin = max(begin, *(text.rfind(space, start, mark) + 1 for space in "\t\r\n"))
    boundary = _BOUNDARY.search(text, begin, end)
    assert boundary is not None
    return boundary.start(), boundary["word"] or ""


def _abbreviates(word: str) -> bool:
    initials = len(word) == 1 or "." in word
    return word.lower() in _ABBREVIATES or (initials and _INITIALS.fullmatch(word) is not None)


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

NO_PLACE: Final[Mapping[Layout | Typo, str]] = {
    Layout.BLANK_LINES: "no sentence or paragraph end to put a blank line after",
    Layout.SPACES: "no space between words on a line",
    Layout.INDENT: "no line of prose to indent",
    Layout.TRAILING: "no line that may get trailing spaces",
    Layout.CRLF: "no line break to change",
    Layout.WRAP: "no line of prose longer than the width",
    Layout.BULLETS: "no prose to turn into a list",
    Layout.HEADING: "no paragraph with a first sentence short enough for a heading",
    Layout.CODE_FENCE: "no text outside code to fence",
    **dict.fromkeys(Typo, "no word of prose with four letters or more"),
}
"""Why a text is skipped."""


class Source:
    """A text to change, read once for all layouts."""

    def __init__(self, text: str) -> None:
        """Read the lines and paragraphs of a text, and what is protected in it."""
        self.text = text
        self.document: Document = read(text)
        self._guard = Guard(text)

    def places(self, layout: Layout | Typo, *, seed: int, width: int = 0) -> list[Place]:
        """Return the places of the text that the layout or typing error can change, in text order.

        The seed decides what is inserted (how many spaces, which indentation); the caller chooses which places change.
        """
        if isinstance(layout, Typo):
            # Here: layouts alone do not need it.
            from jrh_format.typos import typo_places

            return self._guard.admit(typo_places(layout, self.text, self.document.lines, Draws(seed)))
        return self._guard.admit(_FINDERS[layout](self, Draws(seed), width))

    def opens(self, gap: Gap) -> bool:
        """Return whether what follows a gap may start a line without becoming another block."""
        return not starts_block(self.text, gap[1])

    @cached_property
    def sentences(self) -> list[list[Gap]]:
        """Return the gaps between the sentences of each paragraph."""
        return [sentence_gaps(self.text, paragraph.start, paragraph.end) for paragraph in self.document.paragraphs]

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


def _trailing_space(source: Source, _draws: Draws, _width: int) -> Iterator[Place]:
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
    Layout.TRAILING: _trailing_space,
    Layout.CRLF: _crlf,
    Layout.WRAP: _wrap,
    Layout.BULLETS: _bullets,
    Layout.HEADING: _heading,
    Layout.CODE_FENCE: _code_fence,
}


# Plain tuples: a text has hundreds of places.
def count(strength: float, possible: int) -> int:
    """Return how many places a strength changes: its share, rounded half up, and at least one."""
    return max(1, int(strength * possible + 0.5))


def choose(places: Sequence[Place], changed: int, seed: int) -> list[Place]:
    """Choose places by seed; the choice of fewer places is always a part of the choice of more."""
    if changed >= len(places):
        return list(places)
    return [places[index] for index in sorted(Draws(seed).order(len(places))[:changed])]


def apply(text: str, places: Iterable[Place]) -> str:
    """Return the text with all edits of the places applied."""
    pieces = []
    done = 0
    for start, end, new in sorted(chain.from_iterable(places), key=itemgetter(0)):
        pieces.append(text[done:start])
        pieces.append(new)
        done = end
    return "".join([*pieces, text[done:]])
