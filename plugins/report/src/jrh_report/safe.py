"""Makes text that came from somewhere else harmless: in a terminal, and in a Markdown table."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)
_JOINERS: Final = "\u200c\u200d"
"""Invisible, but needed to write Persian, Hindi and many emoji."""
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK: Final = re.compile(r"^(?:[#=]|[-+](?=[\s+-]|$)|\d+(?=[.)](?:\s|$)))")
"""What makes a heading, a list or a rule of a line that starts with it."""
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def clean(text: str, limit: int = 200) -> str:
    """Return the text on one line without anything that a terminal would obey.

    Escape sequences and control characters are removed, also the invisible ones that reorder text (bidirectional
    overrides); white space becomes single spaces; lone surrogates become U+FFFD.

    Args:
        text: any text.
        limit: characters kept; a longer text ends in an ellipsis.
    """
    # Cut before and after: the first bounds the work, the second the result.
    visible = "".join(_shown(character) for character in _ESCAPES.sub("", text[: 10 * limit]))
    line = " ".join(visible.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown(text: str, limit: int = 300) -> str:
    """Return the text so that Markdown shows it literally, also in a table cell: no markup, no HTML, one line."""
    bare = "".join(_ENTITIES.get(character, character) for character in clean(text, limit))
    marked = _MARKUP.sub(r"\\\1", bare)
    start = _BLOCK.match(marked)
    if start is None:
        return marked
    return f"{start[0]}\\{marked[start.end() :]}" if start[0].isdigit() else f"\\{marked}"


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\t\n\v\f\r\x85":
        return " "
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf") and character not in _JOINERS:
        return ""
    return character
