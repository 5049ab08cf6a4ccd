"""Make whatever a run holds visible as text: bounded, and with nothing in it that hides or reorders."""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST_NAME: Final = 80
"""Characters of a person's name."""
LIMIT: Final = 4000
"""Characters of a text that are shown unless a view cuts it shorter."""
_KEPT: Final = frozenset("\n\t\u200c\u200d")
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
    kept, cut = text[:limit], len(text) - limit
    shown = kept if kept.isprintable() else "".join(map(_shown, kept))
    return f"{shown}… ({cut:,} more characters)" if cut > 0 else shown


def visible_line(text: str, limit: int = 200) -> str:
    """Return the text as `visible_text` does, on one line."""
    return " ".join(visible_text(text, limit).split())


def is_person_name(text: str) -> bool:
    """Tell whether a text can name a person: 1 to 80 visible characters, so that no name hides or imitates another."""
    return 0 < len(text) <= LONGEST_NAME and visible_line(text) == text


def _shown(character: str) -> str:
    if character.isprintable() or character in _KEPT or unicodedata.category(character) == "Zs":
        return character
    if ord(character) < _CONTROLS:
        return chr(_PICTURES + ord(character))
    if character == _DELETE:
        return "␡"
    return f"⟨U+{ord(character):04X}⟩"
