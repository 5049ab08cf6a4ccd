"""Makes text that came from somewhere else harmless where it is shown: terminal, Markdown, spreadsheet."""

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
_ALIVE: Final = re.compile(r"@(?=\w)|:(?=//)|\.(?<=\bwww\.)|#(?=\d)", re.IGNORECASE)
"""What GitHub makes mentions, links and references of."""
_PARTED: Final = "\u2060"
"""The word joiner: invisible, and it parts what would become a mention or a link."""
_FORMULA: Final = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n")
"""What makes a formula of a spreadsheet's cell that starts with it, or may."""


def clean_text(text: str, limit: int = 200) -> str:
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


def markdown_text(text: str, limit: int = 200) -> str:
    """Return the text so that Markdown shows it literally, also in a table cell: no markup, HTML, mention or link."""
    parted = _ALIVE.sub(lambda found: found[0] + _PARTED, clean_text(text, limit))
    bare = "".join(_ENTITIES.get(character, character) for character in parted)
    marked = _MARKUP.sub(r"\\\1", bare)
    start = _BLOCK.match(marked)
    if start is None:
        return marked
    return f"{start[0]}\\{marked[start.end() :]}" if start[0].isdigit() else f"\\{marked}"


def formula_safe(text: str) -> str:
    """Return the text for a cell of a CSV file, led by an apostrophe where a spreadsheet would take it for a formula.

    Lone surrogates become U+FFFD and NUL is removed; quoting is the CSV writer's. For text, not for numbers.
    """
    storable = text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return f"'{storable}" if storable.lstrip(" ").startswith(_FORMULA) else storable


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\t\n\v\f\r\x85":
        return " "
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf") and character not in _JOINERS:
        return ""
    return character
