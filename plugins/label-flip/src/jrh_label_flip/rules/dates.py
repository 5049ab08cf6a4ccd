"""Replace the year or the month of a date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage, Sentence
from jrh_label_flip.wordlists import words

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_NAMES: Final = "|".join(_MONTHS)
_YEAR: Final = re.compile(
    rf"(?<!\w)(?:[Ii]n|(?:{_NAMES})(?:[ ]\d{{1,2}},?)?)[ ](?P<year>1[0-9]\d\d|20\d\d)"
    r"(?=[.,;)](?!\d)|$|[ ](?:the|a|an|in|by|and|at|when|he|she|it|they|with|for|under|as|on)\b)"
)
_MONTH: Final = re.compile(rf"(?<!\w)(?:\d{{1,2}}[ ](?P<after>{_NAMES})|(?P<before>{_NAMES})[ ]\d{{1,4}})(?!\w)")
_BOUNDS: Final = words("before after since until till by from between during about around circa not")
"""Beside these, another date can be as true."""
_LEAST_YEARS: Final = 12
_MORE_YEARS: Final = 50


def dates(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each year and each month of a date that the request does not give."""
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative and not sentence.has(_BOUNDS):
            yield from _years(passage, sentence)
            yield from _months(passage, sentence)


def _years(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    for found in _YEAR.finditer(sentence.text):
        start, end = (sentence.start + place for place in found.span("year"))
        if found["year"] not in passage.request:
            earlier = _LEAST_YEARS + passage.draw(_MORE_YEARS, "date", start)
            yield Edit(start=start, end=end, new=str(int(found["year"]) - earlier), sentences=(sentence.index,))


def _months(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    for found in _MONTH.finditer(sentence.text):
        group = "after" if found["after"] else "before"
        name = found[group]
        start, end = (sentence.start + place for place in found.span(group))
        if name not in passage.request:
            # Two to ten months on: not the neighbour, which a slip of memory would give as well.
            new = _MONTHS[(_MONTHS.index(name) + 2 + passage.draw(9, "date", start)) % len(_MONTHS)]
            yield Edit(start=start, end=end, new=new, sentences=(sentence.index,))
