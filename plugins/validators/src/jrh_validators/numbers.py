"""Extract the numbers of a text as values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

_ONES: Final = "one two three four five six seven eight nine"
_TEENS: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL: Final = (
    {"zero": 0}
    | {word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split(), start=1)}
    | {word: value * 10 for value, word in enumerate(_TENS.split(), start=2)}
)
_POWERS: Final = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


def _any_of(words: str) -> str:
    # Longer words first, so that `six` does not end the search in `sixteen`.
    return f"(?:{'|'.join(sorted(words.split(), key=len, reverse=True))})"


_BELOW_100: Final = f"(?:{_any_of(_TENS)}(?:[ -]{_any_of(_ONES)})?|{_any_of(f'zero {_ONES} {_TEENS}')})"
_BELOW_1000: Final = f"(?:(?:{_BELOW_100}[ -])?hundred(?:[ -](?:and )?{_BELOW_100})?|{_BELOW_100})"
_POWER: Final = _any_of(" ".join(_POWERS))
_WORDS: Final = f"(?:(?:{_BELOW_1000}[ -])?{_POWER} (?:and )?)*(?:{_BELOW_1000}(?:[ -]{_POWER})?|{_POWER})"
_DIGITS: Final = r"(?:(?<![^\s(\[])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_NUMBER: Final = re.compile(rf"(?P<digits>{_DIGITS})|\b(?P<words>{_WORDS})\b", re.IGNORECASE)


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text by value.

    A number is a run of digits, with commas between groups of three and one decimal point (`1,000.50` is 1000.5), and
    a minus sign directly before it where a space, a bracket or nothing stands before that; or an English number in
    words (`one hundred and two` is 102). `one` alone is none: it is a pronoun more often than a number. Signs such as ½
    and words such as `first`, `half` and `dozen` are none either.
    """
    return Counter(_values(text))


def _values(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        words = match["words"]
        if words is None:
            yield _plain(Decimal(match["digits"].replace(",", "").replace("\u2212", "-")))
        elif words.lower() != "one":
            yield _plain(Decimal(_spelled(words.lower())))


def _plain(value: Decimal) -> str:
    written = format(value, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def _spelled(words: str) -> int:
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SMALL:
            group += _SMALL[word]
        elif word == "hundred":
            group = max(group, 1) * 100
        elif word in _POWERS:
            total += max(group, 1) * _POWERS[word]
            group = 0
    return total + group
