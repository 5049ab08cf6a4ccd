"""Extract what a simulated judge looks at in a text: words, layout, length."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from jrh import Json, Task
from jrh.text import flat_text

_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_NOT_WORD: Final = re.compile(r"[\W_]+")


def judged_texts(fields: Mapping[str, Json], task: Task) -> tuple[str, ...]:
    """Return the texts of the judged fields in the task's order; a missing field is empty."""
    return tuple(flat_text(fields.get(name)) for name in task.judged_fields)


@lru_cache(maxsize=8192)
def wording(text: str) -> str:
    """Return the letters and digits of a text in order, without code fences; layout changes do not affect them."""
    return _NOT_WORD.sub("", _FENCE.sub("", text))


def only_layout_differs(presented: Sequence[str], reference: Sequence[str]) -> bool:
    """Return whether texts differ, but not in their letters and digits."""
    if tuple(presented) == tuple(reference):
        return False
    return all(wording(one) == wording(other) for one, other in zip(presented, reference, strict=True))


def compare_lengths(one: str, other: str, ratio: float) -> int:
    """Return 1 if `one` has more than `ratio` times the letters and digits of `other`, -1 for the reverse, else 0."""
    if one == other:
        return 0
    first, second = len(wording(one)), len(wording(other))
    return int(first > ratio * second) - int(second > ratio * first)


def preferred_length(texts: Sequence[str], sign: int, ratio: float) -> int | None:
    """Return the place of the text that is longer than every other, or shorter for -1; None if there is none."""
    for place, text in enumerate(texts):
        others = [other for number, other in enumerate(texts) if number != place]
        if all(sign * compare_lengths(text, other, ratio) > 0 for other in others):
            return place
    return None
