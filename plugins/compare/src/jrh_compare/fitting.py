"""Fit a document into a number of characters: cut long parts at the end and count what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from jrh.text import LONGEST_COMMENT, comment_length, lines_that_fit

_RESERVE: Final = 400
"""Characters reserved for the note about what was left out."""
_LEAST: Final = 4_000
"""Minimum characters for a chapter, unless it is shorter; longer than any title."""
_REST: Final = "; jrh compare --format json has all of it."
_GAP: Final = "\n\n"


@frozen(kw_only=True)
class Part:
    """Lines that can be cut at the end: a list, or a table with its head."""

    lines: tuple[str, ...]
    head: str = ""
    """Text directly before the first line."""

    def text(self, kept: int | None = None) -> str:
        """Return the part with its first lines and the number of further ones; empty if none is kept."""
        shown = self.lines[:kept]
        more = len(self.lines) - len(shown)
        note = f"{_GAP}{more:,} more{_REST}" if more else ""
        return f"{self.head}{chr(10).join(shown)}{note}" if shown else ""

    def cut(self, room: int) -> str:
        """Return as many lines as fit."""
        return self.text(lines_that_fit(self.text, len(self.lines), room))


@frozen(kw_only=True)
class Chapter:
    """A title and its content."""

    title: str
    """Empty: no title."""
    parts: tuple[Part, ...]
    last: bool = False
    """Whether it is a final chapter about all others; it gets its room first."""

    def text(self, room: int | None = None) -> str:
        """Return the chapter with its full title and as much of its parts as fits, short parts first."""
        whole = [part.text() for part in self.parts]
        if room is not None:
            gaps = len(self.parts) - (not self.title)
            left = room - comment_length(self.title) - len(_GAP) * gaps
            shares = _shares([comment_length(text) for text in whole], left)
            whole = [part.cut(share) for part, share in zip(self.parts, shares, strict=True)]
        return _GAP.join(text for text in (self.title, *whole) if text)


def fit(chapters: Sequence[Chapter], limit: int = LONGEST_COMMENT) -> str:
    """Return the document; if it exceeds the limit, shorten it and say so in the last line.

    Final chapters get up to a third. Of the others, as many as fit are shown from the first; remaining room is shared
    evenly between those that need more.

    Args:
        chapters: in the order of the document.
        limit: characters of the whole, counted by `comment_length`.
    """
    whole = _GAP.join(chapter.text() for chapter in chapters) + "\n"
    if comment_length(whole) <= limit:
        return whole
    room = limit - _RESERVE
    closing = _fitted([chapter for chapter in chapters if chapter.last], room // 3)
    others = [chapter for chapter in chapters if not chapter.last]
    room -= sum(comment_length(text) + len(_GAP) for text in closing)
    shown = _fitted(_first(others, room), room)
    left = len(others) - len(shown)
    pairs = f"; {left:,} of {len(others):,} comparisons are left out entirely" if left else ""
    notice = f"Shortened to stay within {limit:,} characters{pairs}{_REST}"
    return _GAP.join(text for text in (*shown, *closing, "---", notice) if text) + "\n"


def _first(chapters: Sequence[Chapter], room: int) -> Sequence[Chapter]:
    for place, chapter in enumerate(chapters):
        room -= min(_LEAST, comment_length(chapter.text())) + len(_GAP)
        if room < 0:
            return chapters[:place]
    return chapters


def _fitted(chapters: Sequence[Chapter], room: int) -> list[str]:
    sizes = [comment_length(chapter.text()) for chapter in chapters]
    shares = _shares(sizes, room - len(_GAP) * len(chapters))
    return [chapter.text(share) for chapter, share in zip(chapters, shares, strict=True)]


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divide the room: small parts get what they need, the others share the rest evenly."""
    shares = [0] * len(sizes)
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = max(0, min(sizes[place], room // (len(sizes) - done)))
        room -= shares[place]
    return shares
