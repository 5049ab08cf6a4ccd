"""Protect characters, code spans, links, emphasis and bidirectional runs from layout changes."""

from __future__ import annotations

from typing import Final

import regex

from jrh_format.places import Edit, Place

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
        self._text = text
        self._held = bytearray(len(text) + 1)
        """1 at every offset where nothing may be inserted."""
        for match in _KEPT_WHOLE.finditer(text):
            start, end = match.span()
            self._held[start + 1 : end] = b"\1" * (end - start - 1)

    def admits(self, place: Place) -> bool:
        """Return whether every edit of the place is between whole characters and outside protected spans."""
        return all(self._admits(edit) for edit in place.edits)

    def _admits(self, edit: Edit) -> bool:
        if self._held[edit.start] or self._held[edit.end]:
            return False
        # A combining mark at the start of a line has no base; after a space it would get one and look different.
        if _CLINGS_BEFORE.match(self._text, edit.end):
            return False
        # A backslash before a space or a line break gives it a meaning in Markdown and in LaTeX.
        return not (edit.start and _CLINGS_AFTER.match(self._text, edit.start - 1))


def starts_block(text: str, start: int) -> bool:
    """Return whether the text from `start` on, if it started a line, would be read as a list, heading or the like."""
    return _BLOCK_START.match(text, start) is not None
