"""Read labels as people and programs spell them: which texts are one label, and which say that there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from jrh import Status

WHOLE_LABEL: Final = re.compile(r"([-+]?\d{1,15})(\.0+|,0{1,2})?")
"""With three zeros a comma may separate thousands."""
NULL_TEXTS: Final = ("nan", "null", "none", "n/a", "na", "<na>")
"""What tables write where there is nothing; a label where people use it."""


def fold_label(text: str) -> str:
    """Return what counts of a text: a whole number as such, anything else without case and outer white space."""
    bare = text.strip()
    number = WHOLE_LABEL.fullmatch(bare)
    return str(int(number[1])) if number else bare.casefold()


def missing_texts(judged: Iterable[str], human: Iterable[str], more: Sequence[str]) -> dict[str, Status]:
    """Return the texts that mean no verdict: statuses and nulls that people do not use, and those that were named."""
    labels = {fold_label(text) for text in human}
    statuses = {status.value: status for status in Status if status is not Status.OK}
    missing = {}
    for text in dict.fromkeys(label.strip() for label in judged):
        folded = fold_label(text)
        # What the user names is missing even if people use it as a label.
        if folded in {fold_label(word) for word in more}:
            missing[text] = Status.UNPARSABLE
        # A label of people is a label: `none` may be one of the categories.
        elif folded not in labels and (folded in NULL_TEXTS or folded in statuses):
            missing[text] = statuses.get(folded, Status.UNPARSABLE)
    return missing
