"""Makes text that came from somewhere else harmless where it is shown: terminal, Markdown, spreadsheet."""

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
"""Texts whose safe form is kept: names stand in many rows."""
_CHARACTERS: Final = 8192
_JOINERS: Final = "\u200c\u200d"
"""Invisible, but needed to write Persian, Hindi and many emoji."""
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK: Final = re.compile(r"^(?:[#=]|[-+](?=[\s+-]|$)|\d+(?=[.)](?:\s|$)))")
"""What makes a heading, a list or a rule of a line that starts with it."""
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK: Final = "\u200b"
"""A space without width: what it parts is no longer one word. `clean_text` removes those of the text."""
_ACTIVE: Final = re.compile(
    r"@(?=\w)"  # mentions, which notify people, and addresses
    r"|#(?=\d)|\bGH-(?=\d)"  # references to issues
    r"|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)"  # addresses that become links by themselves
    r"|:(?=[\w+-]+:)",  # names of emoji
    re.IGNORECASE,
)
"""What GitHub makes something of though it is no markup; it does so after entities and backslashes are resolved."""
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
    return _cleaned(text[: 10 * limit], limit)


@lru_cache(maxsize=_REMEMBERED)
def _cleaned(text: str, limit: int) -> str:
    visible = "".join(map(_shown, _ESCAPES.sub("", text)))
    line = " ".join(visible.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown_text(text: str, limit: int = 200) -> str:
    """Return the text so that GitHub shows it literally, also in a table cell: no markup, no HTML, one line.

    Mentions, references to issues and bare addresses are broken by a space without width.
    """
    return _marked(clean_text(text, limit))


@lru_cache(maxsize=_REMEMBERED)
def _marked(line: str) -> str:
    marked = _MARKUP.sub(r"\\\1", _inert(line))
    start = _BLOCK.match(marked)
    if start is None:
        return marked
    return f"{start[0]}\\{marked[start.end() :]}" if start[0].isdigit() else f"\\{marked}"


def html_text(text: str, limit: int = 200) -> str:
    """Return the text for HTML within Markdown, where backslashes escape nothing."""
    return _inert(clean_text(text, limit))


def _inert(line: str) -> str:
    broken = _ACTIVE.sub(lambda found: found[0] + _BREAK, line)
    return "".join(_ENTITIES.get(character, character) for character in broken)


def formula_safe(text: str) -> str:
    """Return the text for a cell of a CSV file, led by an apostrophe where a spreadsheet would take it for a formula.

    Lone surrogates become U+FFFD and NUL is removed; quoting is the CSV writer's. For text, not for numbers.
    """
    storable = text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return f"'{storable}" if storable.lstrip(" ").startswith(_FORMULA) else storable


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
