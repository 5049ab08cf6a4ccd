"""Compute length, sentence and vocabulary statistics of a text; line breaks and runs of spaces do not affect them."""

from __future__ import annotations

import math
import re
from typing import Final

from jrh_baseline.documents import Document

NAMES: Final = (
    "log words",
    "log sentences",
    "words per sentence",
    "type-token ratio",
    "root type-token ratio",
    "share of long words",
    "characters per word",
    "punctuation per word",
    "commas per word",
    "share of the request's words used",
    "share of words from the request",
)
"""Names of the statistics, in order."""

_LONG_WORD: Final = 7
_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]+")
"""Full stops and the like, also the ellipsis and the full-width marks of Chinese and Japanese."""
_PUNCTUATION: Final = re.compile(r"[^\w\s]")


def style(document: Document) -> tuple[float, ...]:
    """Return the statistics named in `NAMES`; all are 0 for a text without words.

    The type-token ratio is distinct words / words; its root variant, distinct words / sqrt(words), is Guiraud's index,
    which depends less on length. Long words have seven characters or more.
    """
    words = _words(document.text)
    n = len(words)
    if not n:
        return (0.0,) * len(NAMES)
    kinds, asked = set(words), set(_words(document.request))
    sentences = sum(1 for part in _SENTENCE_END.split(document.text) if _WORD.search(part))
    return (
        math.log1p(n),
        math.log1p(sentences),
        n / sentences,
        len(kinds) / n,
        len(kinds) / math.sqrt(n),
        sum(len(word) >= _LONG_WORD for word in words) / n,
        sum(map(len, words)) / n,
        len(_PUNCTUATION.findall(document.text)) / n,
        document.text.count(",") / n,
        len(kinds & asked) / len(asked) if asked else 0.0,
        sum(word in asked for word in words) / n,
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
