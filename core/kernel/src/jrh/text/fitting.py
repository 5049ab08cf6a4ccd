"""Documents that keep to a number of characters, such as a comment on GitHub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

LONGEST_COMMENT: Final = 65_536
"""The longest comment GitHub takes, in characters."""


def comment_length(text: str) -> int:
    """Count characters as GitHub does at most: those beyond the first 65,536 code points count twice."""
    return len(text.encode("utf-16-le", "replace")) // 2


def lines_that_fit(text_of: Callable[[int], str], count: int, room: int) -> int:
    """Return how many of the first lines of a text fit, 0 to `count`; fewer lines never make a longer text.

    Args:
        text_of: from a number of lines to the text with so many, which says how many it lacks.
        count: all lines there are.
        room: characters, counted by `comment_length`.
    """
    if comment_length(text_of(count)) <= room:
        return count
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comment_length(text_of(middle)) <= room else (low, middle)
    return low
