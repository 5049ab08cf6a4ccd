"""How long a text is, and whether a new one is as long as it should be."""

from __future__ import annotations

import re
from typing import Final

from jrh_verbosity.options import Bounds, Variant

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def words(text: str) -> int:
    """Count the words: runs of letters, digits and underscores; every Chinese and Japanese sign is one."""
    return sum(1 for _ in _WORD.finditer(text))


def ratio(original: str, text: str) -> float:
    """Return the words of a text per word of the original; a text without words counts as one word."""
    return round(max(words(text), 1) / max(words(original), 1), 4)


def breach(achieved: float, variant: Variant, bounds: Bounds) -> str:
    """Say how a length ratio breaks its bounds; empty where it does not."""
    low, high = bounds
    if low <= achieved <= high:
        return ""
    if achieved < low:
        return "shorter than allowed" if variant is Variant.SHORT else "not long enough"
    return "not short enough" if variant is Variant.SHORT else "longer than allowed"
