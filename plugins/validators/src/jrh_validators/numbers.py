"""The numbers a text states, as values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

_BELOW_20: Final = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL: Final = {word: value for value, word in enumerate(_BELOW_20.split())} | {
    word: value * 10 for value, word in enumerate(_TENS.split(), start=2)
}
_POWERS: Final = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD: Final = "|".join((*sorted(_SMALL, key=len, reverse=True), "hundred", *_POWERS))
_NUMBER: Final = re.compile(
    rf"""
      (?P<digits> (?:(?<![^\s(\[])[-\u2212])? (?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+) (?:\.\d+)? )
    | \b (?P<words> (?:{_WORD}) (?: (?:[ ]|-|(?<=hundred)[ ]and[ ]|(?<=thousand)[ ]and[ ]) (?:{_WORD}) )* ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text by value.

    A number is a run of digits, with commas between groups of three and one decimal point (`1,000.50` is 1000.5), and
    a minus sign directly before it where a space, a bracket or nothing stands before that; or a run of English number
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
