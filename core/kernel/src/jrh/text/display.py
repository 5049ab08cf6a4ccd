"""What people are shown: untrusted text made harmless, values as text, counts and amounts of money."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from jrh.values.json_values import Json

_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)
_CENTS: Final = 0.0001
"""Smaller amounts of money are written as `<`."""
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
    return _clean(text[: 10 * limit], limit)


@lru_cache(maxsize=_REMEMBERED)
def _clean(text: str, limit: int) -> str:
    return _truncate(" ".join(visible(text).split()), limit)


def clean_lines(text: str, limit: int = 2000) -> str:
    """Return the text without terminal control sequences; line feeds and the spaces within lines are kept.

    Each line is cleaned on its own, so that an escape sequence that never ends hides no other line.

    Args:
        text: any text.
        limit: characters kept of each line; a longer line ends in an ellipsis.
    """
    return "\n".join(_truncate(visible(line[: 10 * limit]).rstrip(), limit) for line in text.split("\n"))


def visible(text: str) -> str:
    """Return a line without what acts on a terminal, as long as it is."""
    return "".join(map(_show_character, _ESCAPES.sub("", text)))


def _truncate(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


@lru_cache(maxsize=_CHARACTERS)
def _show_character(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\t\n\v\f\r\x85":
        return " "
    if category == "Cs":
        return "\ufffd"
    # Cf holds the overrides that reorder text: a name could imitate another, or hide part of a line.
    if category in ("Cc", "Cf") and character not in _JOINERS:
        return ""
    return character


def utf8_text(text: str) -> str:
    """Make text encodable as UTF-8: lone surrogates, which JSON allows, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def flat_text(value: Json) -> str:
    """Return all text within a JSON value, one piece per line; text stays unchanged, null becomes the empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(flat_text(part) for part in value.values())
    if isinstance(value, Sequence):
        return "\n".join(flat_text(part) for part in value)
    return "" if value is None else str(value)


LONGEST_NAME: Final = 80
"""Characters of a person's name."""
LIMIT: Final = 4000
"""Characters of a text that are shown unless a view cuts it shorter."""
_HARMLESS: Final = frozenset("\n\t\u200c\u200d")
"""Line breaks and tabs, and the joiners that Persian, Hindi and many emoji are written with."""
_PICTURES: Final = 0x2400
_CONTROLS: Final = 0x20
_DELETE: Final = "\x7f"


def visible_text(text: str, limit: int = LIMIT) -> str:
    """Return the text with control characters as pictures and invisible ones by number, such as `⟨U+202E⟩`.

    Args:
        text: any text.
        limit: characters kept; how many were cut is said at the end.
    """
    start, cut = text[:limit], len(text) - limit
    shown = start if start.isprintable() else "".join(map(_as_picture, start))
    return f"{shown}… ({cut:,} more characters)" if cut > 0 else shown


def visible_line(text: str, limit: int = 200) -> str:
    """Return the text as `visible_text` does, on one line."""
    return " ".join(visible_text(text, limit).split())


def is_person_name(text: str) -> bool:
    """Tell whether a text can name a person: 1 to 80 visible characters, so that no name hides or imitates another."""
    return 0 < len(text) <= LONGEST_NAME and visible_line(text) == text


def _as_picture(character: str) -> str:
    if character.isprintable() or character in _HARMLESS or unicodedata.category(character) == "Zs":
        return character
    if ord(character) < _CONTROLS:
        return chr(_PICTURES + ord(character))
    if character == _DELETE:
        return "␡"
    return f"⟨U+{ord(character):04X}⟩"


def count_noun(number: int, singular: str, plural: str = "") -> str:
    """Format a number with its noun: `1 item`, `1,680 trials`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def format_dollars(cost: float, unknown: int = 0, replies: int | None = None) -> str:
    """Format a cost; replies of unknown price never count as free.

    Args:
        cost: US dollars of the replies whose price is known.
        unknown: replies of unknown price.
        replies: number of all replies; if none has a price, the cost is `unknown`.
    """
    # `$0` would read as free.
    if unknown and replies is not None and unknown >= replies:
        return "unknown"
    known = f"<${_CENTS}" if 0 < cost < _CENTS else f"${cost:,.4f}" if cost else "$0"
    if not unknown:
        return known
    return f"{known} + {unknown:,} {'call' if unknown == 1 else 'calls'} of unknown price"
