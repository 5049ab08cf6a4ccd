"""Clean untrusted text for display in a terminal."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)
_REMEMBERED: Final = 4096
"""Size of the cache of escaped texts: the same names occur in many rows."""
_CHARACTERS: Final = 8192
_JOINERS: Final = "\u200c\u200d"
"""Invisible, but needed to write Persian, Hindi and many emoji."""


def clean_text(text: str, limit: int = 200) -> str:
    """Return the text on one line without terminal control sequences.

    Escape sequences and control characters are removed, also the invisible ones that reorder text (bidirectional
    overrides); white space becomes single spaces; lone surrogates become U+FFFD.

    Args:
        text: any text.
        limit: characters kept; a longer text ends in an ellipsis.
    """
    # Truncate twice: before cleaning to bound the work, after it to bound the result.
    return _cleaned(text[: 10 * limit], limit)


@lru_cache(maxsize=_REMEMBERED)
def _cleaned(text: str, limit: int) -> str:
    return _bounded(" ".join(visible(text).split()), limit)


def clean_lines(text: str, limit: int = 2000) -> str:
    """Return the text without terminal control sequences; line feeds and the spaces within lines are kept.

    Each line is cleaned on its own, so that an escape sequence that never ends hides no other line.

    Args:
        text: any text.
        limit: characters kept of each line; a longer line ends in an ellipsis.
    """
    return "\n".join(_bounded(visible(line[: 10 * limit]).rstrip(), limit) for line in text.split("\n"))


def visible(text: str) -> str:
    """Return a line without what acts on a terminal, as long as it is."""
    return "".join(map(_shown, _ESCAPES.sub("", text)))


def _bounded(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


@lru_cache(maxsize=_CHARACTERS)
def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\t\n\v\f\r\x85":
        return " "
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf") and character not in _JOINERS:
        return ""
    return character
