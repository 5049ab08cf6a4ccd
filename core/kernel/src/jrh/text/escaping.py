"""Escape untrusted text for display in a terminal, in Markdown or in a spreadsheet."""

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
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK: Final = re.compile(r"^(?:[#=]|[-+](?=[\s+-]|$)|\d+(?=[.)](?:\s|$)))")
"""Starts of a line that Markdown turns into a heading, a list or a rule."""
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK: Final = "\u200b"
"""A zero-width space, which splits a word invisibly. `clean_text` removes those in the original text."""
_ACTIVE: Final = re.compile(
    r"@(?=\w)"  # mentions, which notify people, and addresses
    r"|#(?=\d)|\bGH-(?=\d)"  # references to issues
    r"|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)"  # addresses that become links by themselves
    r"|:(?=[\w+-]+:)",  # names of emoji
    re.IGNORECASE,
)
"""Text that GitHub links or replaces after resolving entities and backslashes, so escaping does not stop it."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that act on a terminal, and those that reorder text."""
_FORMULA: Final = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n")
"""Characters at the start of a cell that make (or may make) a spreadsheet treat it as a formula."""


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


def markdown_text(text: str, limit: int = 200) -> str:
    """Escape the text so that GitHub shows it literally, even in a table cell: no markup, no HTML, one line.

    A zero-width space breaks mentions, issue references and bare addresses.
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
    """Escape the text for HTML within Markdown, where backslashes do not escape."""
    return _inert(clean_text(text, limit))


def _inert(line: str) -> str:
    broken = _ACTIVE.sub(lambda found: found[0] + _BREAK, line)
    return "".join(_ENTITIES.get(character, character) for character in broken)


def formula_safe(text: str) -> str:
    """Escape the text for a CSV cell: prefix an apostrophe if a spreadsheet would treat the text as a formula.

    Lone surrogates become U+FFFD and control characters escapes (`escape_controls`); the CSV writer does the quoting.
    For text, not for numbers.
    """
    storable = escape_controls(text).encode("utf-8", "replace").decode("utf-8")
    return f"'{storable}" if storable.lstrip(" ").startswith(_FORMULA) else storable


def escape_controls(text: str) -> str:
    r"""Return the text with control characters as visible escapes, such as `\x1b` and `\u202e`, for tables of text.

    Tabs and line breaks stay. Texts that differ still differ, and a terminal that shows the table obeys none of them.
    """
    return _CONTROLS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - the escapes of Python and JSON


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
