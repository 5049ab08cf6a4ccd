"""Swap names whose relation holds in one direction only, and replace the year or the month of a date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from jrh_label_flip.passages import LISTS, Edit, Passage, Sentence, words

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
"""Next to these, another date can be as true."""
_LEAST_YEARS: Final = 12
_MORE_YEARS: Final = 50


def dates(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each year and each month of a date that the request does not give."""
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative and not sentence.has(_BOUNDS):
            yield from _years(passage, sentence)
            yield from _months(passage, sentence)


def _years(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    for match in _YEAR.finditer(sentence.text):
        start, end = (sentence.start + place for place in match.span("year"))
        # What the request states is given; contradicting it is another error.
        if match["year"] not in passage.request:
            earlier = _LEAST_YEARS + passage.draw(_MORE_YEARS, "date", start)
            yield Edit(start=start, end=end, new=str(int(match["year"]) - earlier), sentences=(sentence.index,))


def _months(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    for match in _MONTH.finditer(sentence.text):
        group = "after" if match["after"] else "before"
        name = match[group]
        start, end = (sentence.start + place for place in match.span(group))
        if name not in passage.request:
            # Two to ten months on: not the neighbour, which a slip of memory would give as well.
            new = _MONTHS[(_MONTHS.index(name) + 2 + passage.draw(9, "date", start)) % len(_MONTHS)]
            yield Edit(start=start, end=end, new=new, sentences=(sentence.index,))


_NAME: Final = re.compile(r"(?<![\w'\u2019-])[A-Z][A-Za-z]*(?:[ ][A-Z][A-Za-z]*)*(?![\w'\u2019-])")
_ONE_WAY: Final = re.compile(
    r"""\b(?:
        (?:capital|part|member|satellite|moon|son|daughter|father|mother|king|queen|president|author|symbol|north|south
           |east|west|founder|inventor|composer|head|name)\ of
      | (?:larger|smaller|bigger|longer|shorter|higher|taller|older|younger|heavier|lighter|hotter|colder|faster|slower
           |deeper|earlier|later|closer|farther|better|worse)\ than
      | orbits | orbit\ around | revolves\ around | moves\ around | travels\ around
      | wrote | painted | composed | invented | discovered | founded | built | ruled | defeated | conquered | killed
      | taught | directed | designed
      | (?:written|painted|composed|invented|discovered|founded|built|ruled|defeated|conquered|designed)\ by
      | named\ after
      | flows\ (?:into|through) | lies\ (?:in|on) | (?:is|was|are|were|born|died|located|situated|stands)\ in
      | belongs\ to
    )\b""",
    re.VERBOSE,
)
_BREAKS: Final = re.compile(r"[,;:()/&]|\b(?:and|or|but|which|who|that|both)\b")
_FUNCTION: Final = words(LISTS["names"]["function"])
_LONGEST_BETWEEN: Final = 60


def entities(passage: Passage) -> Iterator[Edit]:
    """Yield an exchange for each two neighbouring names with a relation of the list between them."""
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative:
            edit = _exchange(sentence)
            if edit is not None:
                yield edit


def _exchange(sentence: Sentence) -> Edit | None:
    for (start, end), (start_b, end_b) in pairwise(list(_names(sentence.text))):
        first, between, second = sentence.text[start:end], sentence.text[end:start_b], sentence.text[start_b:end_b]
        # A name that occurs again would make the exchange half of one.
        once = sentence.text.count(first) == 1 and sentence.text.count(second) == 1
        if once and len(between) <= _LONGEST_BETWEEN and _ONE_WAY.search(between) and not _BREAKS.search(between):
            return Edit(
                start=sentence.start + start,
                end=sentence.start + end_b,
                new=f"{second}{between}{first}",
                sentences=(sentence.index,),
            )
    return None


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the names stand: words with a capital, without the articles and particles before them."""
    for match in _NAME.finditer(text):
        start = match.start()
        words = match[0].split(" ")
        while words and words[0] in _FUNCTION:
            start += len(words.pop(0)) + 1
        if words and not _FUNCTION.intersection(words):
            yield start, match.end()
