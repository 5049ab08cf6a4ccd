"""List the targets that a column can have."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Final

from jrh import JrhError

WHOLE: Final = ("repeat", "prompt_tokens", "completion_tokens", "attempts", "left_out", "parse_attempts")
"""Targets that are whole numbers."""
NUMBERS: Final = (*WHOLE, "strength", "temperature", "probability", "score", "cost", "latency")
"""Targets that are numbers."""
TRUTHS: Final = ("simulated",)
"""Targets that are yes or no."""
TEXTS: Final = (
    *("task", "item", "judge", "label", "presented_label", "gold", "gold_source"),
    *("test", "family", "variant", "template", "option_order", "polarity", "language", "output", "case"),
    *("status", "expectation", "expected", "stratum", "group", "content", "detail", "rationale", "argued"),
    *("not_settable", "covariates", "seed"),
)
"""Targets that are text."""
TARGETS: Final = (*TEXTS, *NUMBERS, *TRUTHS)
"""All targets."""
_NAMED_OTHERWISE: Final = {
    "item": "item_id",
    "label": "canonical",
    "presented_label": "presented",
    "case": "case_id",
    "content": "cluster",
}
OF_RECORDS: Final[Mapping[str, str]] = {target: _NAMED_OTHERWISE.get(target, target) for target in TARGETS}
"""Target -> column of the records that `jrh report` writes: items with the same cluster had something in common."""


_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
}


def number(target: str, text: str) -> float | int:
    """Return the number in a cell, an integer if the target is a count.

    Raises:
        JrhError: The text is not such a number.
    """
    try:
        value = float(text)
    except ValueError:
        raise JrhError(f"{target}: '{text}' is not a number") from None
    # `nan` is how some tools write an unknown number: a measure would become NaN with it.
    if not isfinite(value):
        raise JrhError(f"{target}: '{text}' is not a finite number; leave the cell empty if it is unknown")
    if target not in WHOLE:
        return value
    # 2.0 is a count written by a spreadsheet, 2.5 is a mistake.
    if value != int(value):
        raise JrhError(f"{target}: '{text}' is not a whole number")
    return int(value)


def truth(target: str, text: str) -> bool:
    """Return the truth value of a cell.

    Raises:
        JrhError: The text is neither yes nor no.
    """
    try:
        return _TRUTHS[text.strip().casefold()]
    except KeyError:
        raise JrhError(f"{target}: '{text}' is neither yes nor no; write true or false") from None
