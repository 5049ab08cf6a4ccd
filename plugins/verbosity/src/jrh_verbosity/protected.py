"""Parts of a text that are left alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

_KEPT: Final = re.compile(
    r"""
      ^[ ]{0,3}(?P<fence>```+|~~~+).*?(?:^[ ]{0,3}(?P=fence)|\Z)    # code
    | ^(?:[ ]{4}|\t|[ ]{0,3}>)[^\n]*                                  # indented code, quotation
    | ^[^\n|]*\|[^\n]*                                                # table
    | ^[ ]{0,3}(?:[-+*]|\#{1,6}|\d{1,9}[.)])[ \t][^\n]*             # list, heading
    | `[^`\n]*`?
    | "[^"\n]*"?  |  \u201c[^\u201d\n]*\u201d?  |  \u00ab[^\u00bb\n]*\u00bb?  |  \u201e[^\u201c\u201d\n]*[\u201c\u201d]?
    | (?<!\w)['\u2018](?=\S)(?:[^'\u2019\n]|['\u2019](?=\w)){1,300}['\u2019](?!\w)
    | https?://\S+ | www\.\S+
    | \]\([^()\n]*\) | <[^<>\n]*>
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


class Protected:
    """The spans of one text that are left alone: code, tables, lists, headings, quotations, addresses, tags.

    A quotation mark without a partner protects the rest of its line.
    """

    def __init__(self, text: str) -> None:
        """Find the spans."""
        spans = [match.span() for match in _KEPT.finditer(text)]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def touches(self, start: int, end: int) -> bool:
        """Tell whether any of the characters from `start` to `end` is protected.

        Where there are none, the one before counts: nothing is put inside what is protected, nor directly behind it.
        """
        place = bisect_right(self._starts, max(start, end - 1)) - 1
        return place >= 0 and (self._ends[place] > start or (start == end == self._ends[place]))
