"""Remove a sentence, or swap two neighbouring ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage, Sentence

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
        for one, other in pairwise(paragraph):
            if one.plain and other.plain and one.text != other.text:
                gap = passage.text[one.end : other.start]
                yield Edit(
                    start=one.start,
                    end=other.end,
                    new=f"{other.text}{gap}{one.text}",
                    sentences=(one.index, other.index),
                )


def _paragraphs(passage: Passage) -> Iterator[list[Sentence]]:
    for _, sentences in groupby(passage.sentences, key=lambda sentence: sentence.paragraph):
        paragraph = list(sentences)
        if len(paragraph) >= _FEWEST:
            yield paragraph
