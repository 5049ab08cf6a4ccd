"""Break form and structure: spelling, agreement of verb and subject, complete and ordered sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Final

from jrh_label_flip.passages import LISTS, Edit, Passage, Sentence, pairs

_FEWEST: Final = 3
"""Sentences of a paragraph; in a shorter one order and completeness mean little."""


def removals(passage: Passage) -> Iterator[Edit]:
    """Yield the removal of each plain assertion, with the gap to its neighbour."""
    for paragraph in _paragraphs(passage):
        for before, sentence in zip([None, *paragraph], paragraph, strict=False):
            if not sentence.asserts:
                continue
            if before is None:
                neighbour = paragraph[1]
                start, end = sentence.start, neighbour.start
            else:
                neighbour = before
                start, end = before.end, sentence.end
            # The gap belongs to both sentences, so claim both: no other edit may touch the neighbour.
            yield Edit(start=start, end=end, new="", sentences=(sentence.index, neighbour.index))


def exchanges(passage: Passage) -> Iterator[Edit]:
    """Yield the swap of each two neighbouring sentences of a paragraph; the gap between them stays."""
    for paragraph in _paragraphs(passage):
        for first, second in pairwise(paragraph):
            # Markup such as list numbers would show the exchange, or end up out of order.
            if first.plain and second.plain and first.text != second.text:
                gap = passage.text[first.end : second.start]
                yield Edit(
                    start=first.start,
                    end=second.end,
                    new=f"{second.text}{gap}{first.text}",
                    sentences=(first.index, second.index),
                )


def _paragraphs(passage: Passage) -> Iterator[list[Sentence]]:
    for _, sentences in groupby(passage.sentences, key=lambda sentence: sentence.paragraph):
        paragraph = list(sentences)
        if len(paragraph) >= _FEWEST:
            yield paragraph


_MISSPELT: Final = dict(pairs(LISTS["form"]["misspelt"]))
_WORD: Final = re.compile(r"(?<![\w'\u2019@/.-])[A-Za-z]{4,12}(?![\w'\u2019@/-]|\.\w)")

_AGREES: Final = {(subject, right): wrong for subject, right, wrong in LISTS["form"]["agreement"]}
_PAIR: Final = re.compile(r"(?<![A-Za-z])(?P<subject>[A-Za-z]++)[ ](?P<verb>am|is|are|was|were|has|have|does|do)(?!\w)")
_OPENS_A_CLAUSE: Final = re.compile(
    r"(?:^|[.!?]\s+|\b(?:because|that|when|while|although|since|but)[ ])$", re.IGNORECASE
)


def misspellings(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each word of the list that is spelled right; case stays."""
    for sentence in passage.sentences:
        for match in _WORD.finditer(sentence.text):
            wrong = _MISSPELT.get(match[0].lower())
            # Capitals inside a word mark an abbreviation or a name.
            if wrong is not None and match[0][1:].islower():
                wrong = wrong.capitalize() if match[0][0].isupper() else wrong
                start = sentence.start + match.start()
                yield Edit(start=start, end=sentence.start + match.end(), new=wrong, sentences=(sentence.index,))


def agreement(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each verb of the list that agrees with the pronoun that is its subject."""
    for sentence in passage.sentences:
        for match in _PAIR.finditer(sentence.text):
            wrong = _AGREES.get((match["subject"].lower(), match["verb"]))
            # Only where the pronoun opens a clause, it is the whole subject: not in `he and she are`.
            if wrong is not None and _OPENS_A_CLAUSE.search(sentence.text[max(0, match.start() - 12) : match.start()]):
                start, end = (sentence.start + place for place in match.span("verb"))
                yield Edit(start=start, end=end, new=wrong, sentences=(sentence.index,))
