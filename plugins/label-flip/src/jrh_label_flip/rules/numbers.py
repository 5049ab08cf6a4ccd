"""Replace a number with one that is clearly different."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage
from jrh_label_flip.rules.quantities import SERIES, SIMPLE_WORD, Number, exact_numbers
from jrh_label_flip.wordlists import listed

_FACTORS: Final = (Decimal("0.5"), Decimal("1.5"), Decimal(2), Decimal(3))
"""Far enough from 1 that the new number cannot pass for the old one rounded."""
_YEARS: Final = range(1000, 2200)
_YEAR_DIGITS: Final = 4
_MONTHS: Final = listed("january february march april may june july august september october november december")
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
    places = len(text.partition(".")[2])
    step = Decimal(1).scaleb(-places)
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
    others = [other for other in series if abs(series.index(other) - series.index(word)) > 1 and other != "one"]
    new = others[draw % len(others)]
    new = new.capitalize() if last[0][0].isupper() else new
    return text[: last.start()] + new + text[last.end() :]
