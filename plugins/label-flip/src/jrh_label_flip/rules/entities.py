"""Swap two names of a sentence if the relation between them holds in one direction only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage, Sentence
from jrh_label_flip.wordlists import words

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
_FUNCTION: Final = words("""
    A An The It He She They We You I In On At By For From To Of With As And But Or So Its His Her Their Our My
    Your This That These Those There Here When While After Before Since Under Over Between During Both Each Every
    All No Not One Two Three Four Five Six Seven Eight Nine Ten If Then Thus Also Today Now Yes
""")
_LONGEST_BETWEEN: Final = 60


def entities(passage: Passage) -> Iterator[Edit]:
    """Yield an exchange for each two neighbouring names with a relation of the list between them."""
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative:
            edit = _exchange(sentence)
            if edit is not None:
                yield edit


def _exchange(sentence: Sentence) -> Edit | None:
    names = list(_names(sentence.text))
    for (start, end), (start_b, end_b) in pairwise(names):
        one, between, other = sentence.text[start:end], sentence.text[end:start_b], sentence.text[start_b:end_b]
        once = sentence.text.count(one) == 1 and sentence.text.count(other) == 1
        if once and len(between) <= _LONGEST_BETWEEN and _ONE_WAY.search(between) and not _BREAKS.search(between):
            return Edit(
                start=sentence.start + start,
                end=sentence.start + end_b,
                new=f"{other}{between}{one}",
                sentences=(sentence.index,),
            )
    return None


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the names stand: words with a capital, without the articles and particles before them."""
    for found in _NAME.finditer(text):
        start = found.start()
        words = found[0].split(" ")
        while words and words[0] in _FUNCTION:
            start += len(words.pop(0)) + 1
        if words and not _FUNCTION.intersection(words):
            yield start, found.end()
