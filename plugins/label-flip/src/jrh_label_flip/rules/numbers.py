"""Replace exact numbers, results of calculations and units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from attrs import frozen

from jrh_label_flip.passages import LISTS, Edit, Passage, Sentence, pairs, split_words, words

_UNITS: Final = split_words("one two three four five six seven eight nine")
_TEENS: Final = split_words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS: Final = split_words("twenty thirty forty fifty sixty seventy eighty ninety")
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

_INEXACT: Final = words(LISTS["numbers"]["inexact"])
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
    request_numbers = _request_numbers(passage.request)
    for sentence in passage.sentences:
        if not sentence.asserts or sentence.negative or sentence.has(_INEXACT) or _UP_TO.search(sentence.text):
            continue
        for number in _numbers(sentence):
            if number.text.lower() not in request_numbers:
                yield number


def _request_numbers(request: str) -> frozenset[str]:
    """Return the numbers of the request, also written the other way as far as 99."""
    numbers = {match[0].lower() for pattern in (DIGITS, WORDS) for match in pattern.finditer(request)}
    return frozenset(
        numbers | {other for number, word in _SPELLED for other in (number, word) if numbers & {number, word}}
    )


def _numbers(sentence: Sentence) -> Iterator[Number]:
    for pattern in (DIGITS, WORDS):
        for match in pattern.finditer(sentence.text):
            text = match[0]
            # Alone, `one` is more often a pronoun.
            if text.lower() != "one" and text.strip("0.,"):
                yield Number(
                    text=text,
                    start=sentence.start + match.start(),
                    end=sentence.start + match.end(),
                    sentence=sentence,
                )


_NUMBER: Final = r"\d{1,9}(?:\.\d{1,6})?"
_OPERATORS: Final = {
    "+": "+", "plus": "+", "-": "-", "\u2212": "-", "minus": "-", "*": "*", "x": "*", "\u00d7": "*", "times": "*",
    "multiplied by": "*", "/": "/", "\u00f7": "/", "divided by": "/",
}  # fmt: skip
_EQUATION: Final = re.compile(
    rf"(?<![\w.,+*/\u00d7\u00f7\u2212(-])(?<![\w)][ ][+*/x\u00d7\u00f7\u2212-][ ])"
    rf"(?P<one>{_NUMBER})[ ]*(?P<operator>{'|'.join(re.escape(name) for name in _OPERATORS)})[ ]*(?P<other>{_NUMBER})"
    rf"(?:[ ]*=[ ]*|[ ](?:is|equals|makes|gives)[ ])(?P<result>{_NUMBER})(?![\w]|[.,]\d|[ ]*[+*/=%\u00d7\u00f7\u2212-])"
)


def calculations(passage: Passage) -> Iterator[Edit]:
    """Yield an edit of the result of each calculation in digits that is right."""
    for sentence in passage.sentences:
        if sentence.negative:
            continue
        # Only calculations that are right: a wrong one holds an error already.
        for match in _EQUATION.finditer(sentence.text):
            right = _compute(Decimal(match["one"]), _OPERATORS[match["operator"]], Decimal(match["other"]))
            if right is not None and right == Decimal(match["result"]):
                start, end = (sentence.start + place for place in match.span("result"))
                wrong = right + 1 + passage.draw(9, "calculation", start)
                yield Edit(start=start, end=end, new=f"{wrong:f}", sentences=(sentence.index,))


def _compute(one: Decimal, operator: str, other: Decimal) -> Decimal | None:
    if operator == "/":
        # A division by zero is no calculation that is right.
        return one / other if other else None
    return {"+": one + other, "-": one - other, "*": one * other}[operator]


_OTHER: Final = dict(pairs(LISTS["numbers"]["units"])) | {
    "degrees Celsius": "degrees Fahrenheit",
    "degrees Fahrenheit": "degrees Celsius",
    "\u00b0C": "\u00b0F",
    "\u00b0F": "\u00b0C",
}
_UNIT: Final = re.compile(
    rf"[ ]?(?P<unit>{'|'.join(re.escape(unit) for unit in sorted(_OTHER, key=len, reverse=True))})"
    r"(?![\w\u00b2\u00b3^/]|[ ](?:per|old)\b)"
)
_SAME_IN_BOTH: Final = "40"
"""-40 degrees is the same in Celsius and Fahrenheit; the sign is ignored to be safe."""


def units(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each unit after an exact, non-zero number."""
    for number in exact_numbers(passage):
        match = _UNIT.match(passage.text, number.end)
        if match is None or _same(number, match["unit"]):
            continue
        start, end = match.span("unit")
        yield Edit(start=start, end=end, new=_OTHER[match["unit"]], sentences=(number.sentence.index,))


def _same(number: Number, unit: str) -> bool:
    degrees = unit.startswith(("degrees", "\u00b0"))
    return degrees and number.text.lower() in (_SAME_IN_BOTH, "forty")


_FACTORS: Final = (Decimal("0.5"), Decimal("1.5"), Decimal(2), Decimal(3))
"""Far enough from 1 that the new number cannot pass for the old one rounded."""
_YEARS: Final = range(1000, 2200)
_YEAR_DIGITS: Final = 4
_MONTHS: Final = split_words("january february march april may june july august september october november december")
_DATE_BESIDE: Final = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b", re.IGNORECASE)
_BESIDE: Final = 12
"""Characters on either side; a month name within them makes a number part of a date."""


def numbers(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each exact number; digits stay digits and words stay words, of the same form."""
    for number in exact_numbers(passage):
        if _is_date(number) or _has_article(passage.text, number):
            continue
        draw = passage.draw(1 << 16, "number", number.start)
        new = _other_digits(number.text, draw) if number.text[0].isdigit() else _other_words(number.text, draw)
        if new is not None:
            yield Edit(start=number.start, end=number.end, new=new, sentences=(number.sentence.index,))


def _is_date(number: Number) -> bool:
    if number.text.isdigit() and len(number.text) == _YEAR_DIGITS and int(number.text) in _YEARS:
        return True
    at = number.start - number.sentence.start
    around = number.sentence.text[max(0, at - _BESIDE) : at + len(number.text) + _BESIDE]
    return bool(_DATE_BESIDE.search(around))


def _has_article(text: str, number: Number) -> bool:
    """Return whether `a` or `an` precedes it, which another number might change."""
    return text[max(0, number.start - 4) : number.start].lower().endswith((" a ", " an "))


def _other_digits(text: str, draw: int) -> str | None:
    """Return a number of the same form, with a comma per thousand and as many decimals where it has them."""
    value = Decimal(text.replace(",", ""))
    # The same number of decimals, as a change of precision would show which number was touched.
    step = Decimal(1).scaleb(-len(text.partition(".")[2]))
    options = [new for new in ((value * factor).quantize(step) for factor in _FACTORS) if new > 0 and new != value]
    if not options:
        return None
    new = options[draw % len(options)]
    return f"{new:,}" if "," in text else str(new)


def _other_words(text: str, draw: int) -> str | None:
    """Replace the last simple number word that is not a bare `one`: the result is a number word again."""
    simple = list(SIMPLE_WORD.finditer(text))
    if not simple:
        return None
    last = simple[-1]
    word = last[0].lower()
    series = next(words for words in SERIES if word in words)
    # `one` alone reads as a pronoun; the neighbouring number could pass for a counting error.
    candidates = [other for other in series if abs(series.index(other) - series.index(word)) > 1 and other != "one"]
    new = candidates[draw % len(candidates)]
    new = new.capitalize() if last[0][0].isupper() else new
    return text[: last.start()] + new + text[last.end() :]
