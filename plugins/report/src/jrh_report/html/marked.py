"""Two texts side by side, with the words that differ marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from attrs import frozen

from jrh_report.html.visible import visible

WORDS: Final = 1200
"""Words and gaps that are compared; where a text is longer, both are shown unmarked."""
_PARTS: Final = re.compile(r"\n+|[^\S\n]+|\w+|[^\w\s]")
_GAPS: Final = str.maketrans({" ": "·", "\n": "¶\n", "\t": "⇥\t"})
"""How white space looks where it is all that changed."""


@frozen(kw_only=True)
class Piece:
    """A stretch of text that the other text has too, or has not."""

    text: str
    changed: bool


@frozen(kw_only=True)
class Pair:
    """Two texts as pieces."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    compared: bool
    """False where the texts are too long to be compared word by word."""


def mark(before: str, after: str, limit: int) -> Pair:
    """Split two texts into what they share and what they do not, word by word.

    Args:
        before: the original.
        after: the changed text.
        limit: characters of each that are shown.
    """
    left, right = visible(before, limit), visible(after, limit)
    ours, theirs = _PARTS.findall(left), _PARTS.findall(right)
    if max(len(ours), len(theirs)) > WORDS:
        return Pair(before=_whole(left), after=_whole(right), compared=False)
    blocks = SequenceMatcher(str.isspace, ours, theirs, autojunk=False).get_opcodes()
    return Pair(
        before=_joined([(tag != "equal", "".join(ours[start:end])) for tag, start, end, _, _ in blocks]),
        after=_joined([(tag != "equal", "".join(theirs[start:end])) for tag, _, _, start, end in blocks]),
        compared=True,
    )


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text=text, changed=False),)


def _joined(parts: list[tuple[bool, str]]) -> tuple[Piece, ...]:
    return tuple(
        Piece(text=text.translate(_GAPS) if changed and text.isspace() else text, changed=changed)
        for changed, text in parts
        if text
    )
