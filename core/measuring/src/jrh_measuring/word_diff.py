"""Two texts side by side, with the words that differ marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from attrs import frozen
from jrh.text.visible import visible_text

_LEAD: Final = 400
"""Characters that are shown before the first difference of long texts."""
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
class TextPair:
    """Two texts as pieces."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    compared: bool
    """False where the texts are too long to be compared word by word."""


def mark_words(before: str, after: str, limit: int) -> TextPair:
    """Split two texts into what they share and what they do not, word by word.

    Args:
        before: the original.
        after: the changed text.
        limit: characters of each that are shown.
    """
    start = _start(before, after)
    left, right = _excerpt(before, start, limit), _excerpt(after, start, limit)
    ours, theirs = _PARTS.findall(left), _PARTS.findall(right)
    head = _shared(ours, theirs)
    tail = _shared(ours[head:][::-1], theirs[head:][::-1])
    old, new = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    if max(len(old), len(new)) > WORDS:
        return TextPair(before=_whole(left), after=_whole(right), compared=False)
    blocks = SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes()
    first, last = (False, "".join(ours[:head])), (False, "".join(ours[len(ours) - tail :]))
    return TextPair(
        before=_joined([first, *((tag != "equal", "".join(old[at:end])) for tag, at, end, _, _ in blocks), last]),
        after=_joined([first, *((tag != "equal", "".join(new[at:end])) for tag, _, _, at, end in blocks), last]),
        compared=True,
    )


def _start(before: str, after: str) -> int:
    """Return where to begin, so that the first difference can be seen also where it stands far behind."""
    same = _shared(before, after)
    return 0 if before == after or same < 2 * _LEAD else same - _LEAD


def _excerpt(text: str, start: int, limit: int) -> str:
    shown = visible_text(text[start:], limit)
    return f"({start:,} characters before) …{shown}" if start else shown


def _shared(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many parts two texts begin with in common."""
    return next(
        (place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text=text, changed=False),)


def _joined(parts: list[tuple[bool, str]]) -> tuple[Piece, ...]:
    return tuple(
        Piece(text=text.translate(_GAPS) if changed and text.isspace() else text, changed=changed)
        for changed, text in parts
        if text
    )
