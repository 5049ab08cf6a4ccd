"""Count the words of a text."""

from __future__ import annotations

import re
from typing import Final

WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
"""A run of letters, digits and underscores; every Chinese and Japanese sign counts as a word of its own."""


def word_count(text: str) -> int:
    """Count the words of a text: runs of letters and digits, and single Chinese and Japanese signs."""
    return sum(1 for _ in WORD.finditer(text))
