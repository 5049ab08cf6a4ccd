"""Fit documents into a maximum length, such as that of a GitHub comment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

LONGEST_COMMENT: Final = 65_536
"""Maximum length of a GitHub comment, in characters."""


def comment_length(text: str) -> int:
    """Count characters like GitHub, or more strictly: characters above U+FFFF count twice."""
    return len(text.encode("utf-16-le", "replace")) // 2


def lines_that_fit(text_of: Callable[[int], str], count: int, room: int) -> int:
    """Return how many of the first lines of a text fit, 0 to `count`; fewer lines never make a longer text.

    Args:
        text_of: returns the text with a given number of lines; it states how many lines are omitted.
        count: number of all lines.
        room: maximum number of characters, counted by `comment_length`.
    """
    if comment_length(text_of(count)) <= room:
        return count
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comment_length(text_of(middle)) <= room else (low, middle)
    return low
