"""Find the exact numbers of a text, in digits and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from jrh_label_flip.passages import Passage, Sentence
from jrh_label_flip.wordlists import listed, words

_UNITS: Final = listed("one two three four five six seven eight nine")
_TEENS: Final = listed("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS: Final = listed("twenty thirty forty fifty sixty seventy eighty ninety")
SERIES: Final = (tuple(_UNITS), tuple(_TEENS), tuple(_TENS))
"""Number words that can replace one another in any longer number word."""
_SPELLED: Final = (
    *((str(value), word) for value, word in enumerate((*_UNITS, *_TEENS), 1)),
    *((str(10 * ten), word) for ten, word in enumerate(_TENS, 2)),
    *(
        (str(10 * ten + unit), f"{tens}-{word}")
        for ten, tens in enumerate(_TENS, 2)
        for unit, word in enumerate(_UNITS, 1)
    ),
)
_SCALES: Final = ("hundred", "thousand", "million", "billion")
_SIMPLE: Final = "|".join([*_UNITS, *_TEENS, *_TENS])
_PART: Final = "|".join([*_UNITS, *_TEENS, *_TENS, *_SCALES])

DIGITS: Final = re.compile(
    r"(?<![\w.,:/+\-\u2013\u2212#^])"
    r"(?P<digits>\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?P<decimals>\.\d{1,6})?"
    r"(?![\w:/\u2013^]|-\w|[.,]\d|[ ]?[+*/=\u00d7\u00f7\u2212])"
)
WORDS: Final = re.compile(
    rf"(?<![\w\-])(?:{_PART})(?:(?:[ -]|[ ]and[ ])(?:{_PART}))*"
    r"(?![\w]|-\w|[ ](?:thirds?|quarters?|halves|half|fifths?))",
    re.IGNORECASE,
)
SIMPLE_WORD: Final = re.compile(rf"\b(?:{_SIMPLE})\b", re.IGNORECASE)

_INEXACT: Final = words("""
    about around approximately roughly nearly almost circa over under least most more less fewer than between or minimum
    maximum within exceed exceeds exceeded every per other another chapter page figure section number version step part
    question point article paragraph paragraphs source line verse
    """)
"""Words near which another number could be equally true, or is only a label."""
_UP_TO: Final = re.compile(r"(?<!\badd )(?<!\badds )\bup to\b", re.IGNORECASE)


@frozen(kw_only=True)
class Number:
    """A number in a sentence."""

    text: str
    start: int
    end: int
    sentence: Sentence


def exact_numbers(passage: Passage) -> Iterator[Number]:
    """Yield the numbers that are stated as exact and do not occur in the request."""
    given = _given(passage.request)
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative and not _inexact(sentence):
            for number in _numbers(sentence):
                if number.text.lower() not in given:
                    yield number


def _inexact(sentence: Sentence) -> bool:
    return sentence.has(_INEXACT) or bool(_UP_TO.search(sentence.text))


def _given(request: str) -> frozenset[str]:
    """Return the numbers of the request, also written the other way as far as 99."""
    found = {match[0].lower() for pattern in (DIGITS, WORDS) for match in pattern.finditer(request)}
    return frozenset(found | {other for number, word in _SPELLED for other in (number, word) if found & {number, word}})


def _numbers(sentence: Sentence) -> Iterator[Number]:
    for pattern in (DIGITS, WORDS):
        for found in pattern.finditer(sentence.text):
            text = found[0]
            # Alone, `one` is more often a pronoun.
            if text.lower() != "one" and text.strip("0.,"):
                yield Number(
                    text=text,
                    start=sentence.start + found.start(),
                    end=sentence.start + found.end(),
                    sentence=sentence,
                )
