"""Find values (numbers, dates, times, ids) in a text and make other values of the same form."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

_VALUE: Final = re.compile(r"(?<![\w])[A-Za-z0-9]+(?:[-./:,_][A-Za-z0-9]+)*(?![\w])", re.ASCII)
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?", re.ASCII)
_OTHER_DATE: Final = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}", re.ASCII)
_DRAWS: Final = 20
_LONGEST: Final = 60
_LETTERS_BESIDE: Final = re.compile(r"[^\W\d_]")


def values_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values of a text with their spans: runs of ASCII letters and digits with at least two digits.

    A single digit is a list number or a count more often than a value that somebody looked up.
    """
    for match in _VALUE.finditer(text):
        value = match[0]
        whole = not _beside(text, match.start() - 1) and not _beside(text, match.end())
        if whole and len(value) <= _LONGEST and sum(map(str.isdigit, value)) >= 2:  # noqa: PLR2004
            yield match.start(), match.end(), value


def within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether the characters from `start` to `end` touch one of the spans, which are in order and apart."""
    place = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return place >= 0 and spans[place][1] > start


def another(value: str, seed: int, everything: str) -> str | None:
    """Return a value of the same form that does not stand in the text `everything`, or None where none was found."""
    draws = random.Random(f"{seed} {value}")  # noqa: S311 - a seeded choice, no secret
    for _ in range(_DRAWS):
        new = _changed(value, draws)
        if new != value and new not in everything:
            return new
    return None


def _beside(text: str, place: int) -> bool:
    """Return whether a letter of any script stands at a place: the value is then part of a longer word."""
    return 0 <= place < len(text) and bool(_LETTERS_BESIDE.match(text[place]))


def _changed(value: str, draws: random.Random) -> str:
    if _ISO_DATE.fullmatch(value):
        return f"{value[:-2]}{1 + int(draws.random() * 28):02}"
    if _TIME.fullmatch(value):
        hours, minutes = value.split(":")[:2]
        return value.replace(f"{hours}:{minutes}", f"{hours}:{int(draws.random() * 60):02}", 1)
    digits = [place for place, letter in enumerate(value) if letter.isdigit()]
    place = digits[-1] if _OTHER_DATE.fullmatch(value) else digits[int(draws.random() * len(digits))]
    low = 1 if place == digits[0] else 0
    digit = str(low + int(draws.random() * (10 - low)))
    return value[:place] + digit + value[place + 1 :]
