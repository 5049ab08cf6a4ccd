"""Protect characters, code spans, links, emphasis and bidirectional runs from layout changes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import regex

from jrh_format.places import Place

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

    def admitted(self, places: Iterable[Place]) -> list[Place]:
        """Return the places of which every edit is between whole characters and outside protected spans."""
        return list(places) if self._free else [place for place in places if self._admits(place)]

    def _admits(self, place: Place) -> bool:
        return not any(self._no_start[start] or self._no_end[end] for start, end, _ in place)


def starts_block(text: str, start: int) -> bool:
    """Return whether the text from `start` on, if it started a line, would be read as a list, heading or the like."""
    # No block starts with a letter.
    return not text[start : start + 1].isalpha() and _BLOCK_START.match(text, start) is not None
