"""Find sentence boundaries by rule.

Errors cost little: a missed or extra boundary moves the layout change but never changes a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import regex

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
    found = _BOUNDARY.search(text, begin, end)
    assert found is not None
    return found.start(), found["word"] or ""


def _abbreviates(word: str) -> bool:
    initials = len(word) == 1 or "." in word
    return word.lower() in _ABBREVIATES or (initials and _INITIALS.fullmatch(word) is not None)
