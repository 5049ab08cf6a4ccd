"""Split a text into sentences and find those that plainly assert something."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from attrs import define, frozen
from jrh import Json, derive_seed
from jrh_authoring import is_english

LISTS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""The closed lists of the rules, by rule and by what they hold."""


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that are separated by white space, in order."""
    return tuple(text.split())


def words(text: str) -> frozenset[str]:
    """Return the words of a text that are separated by white space, to look them up."""
    return frozenset(split_words(text))


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of words of a text, in which commas separate the pairs."""
    return tuple((one, other) for one, other in (pair.split() for pair in text.split(",")))


_ABBREVIATIONS: Final = words(LISTS["sentences"]["abbreviations"])
_PARAGRAPH_END: Final = re.compile(r"\n[^\S\n]*\n\s*")
# Possessive throughout, and tried only where a word or a run of marks begins: the time grows linearly with the text.
_BOUNDARY: Final = re.compile(
    r"""
    (?<![A-Za-z0-9.!?])
    ( [A-Za-z0-9]*+ (?: \.[A-Za-z0-9]++ )*+ )   # the last word, with the dots inside it
    ( [.!?]++ ) ["'\u2019\u201d)]*+             # what ends the sentence
    ( \s++ ) (?= ["'\u2018\u201c(]?[A-Z0-9] )   # a sentence starts
    """,
    re.VERBOSE,
)
_WORD: Final = re.compile(r"(?<!\w)[A-Za-z]+(?:['\u2019][A-Za-z]+)?(?!\w)")
_LONGEST: Final = 600
"""Characters; longer sentences are skipped because the rules cannot analyse them."""

_UNSURE: Final = words(LISTS["sentences"]["unsure"])
"""Words that leave open whether the sentence asserts its content."""
_MARKUP: Final = re.compile(r"[`|<>{}\\\[\]#*_~^]|://|@|\n")
_QUOTES: Final = re.compile(r"[\"\u201c\u201d\u00ab\u00bb\u201e]|(?<!\w)['\u2018]|['\u2019](?!\w)")


@frozen(kw_only=True)
class Word:
    """A word of a sentence and its position in the text."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """Return the word in lower case, with a straight apostrophe."""
        return self.text.lower().replace("\u2019", "'")


@define(slots=False, frozen=True, kw_only=True)
class Sentence:
    """A sentence of a passage, without the white space around it."""

    index: int
    paragraph: int
    start: int
    end: int
    text: str

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Return the words, at most as many as a sentence within the length limit can have."""
        return tuple(
            Word(text=match[0], start=self.start + match.start(), end=self.start + match.end())
            # A text without a full stop is one sentence of any length.
            for match in _WORD.finditer(self.text[:_LONGEST])
        )

    @cached_property
    def lower_words(self) -> tuple[str, ...]:
        """Return the words in lower case."""
        return tuple(word.lower for word in self.words)

    def has(self, words: frozenset[str]) -> bool:
        """Return whether the sentence contains one of the words."""
        return not words.isdisjoint(self.lower_words)

    @cached_property
    def plain(self) -> bool:
        """Return whether it is prose that ends with a full stop, without markup or quotations."""
        text = self.text
        return (
            len(text) <= _LONGEST
            and (text[:1].isupper() or text[:1].isdigit())
            and text.endswith(".")
            # An ellipsis leaves open what is asserted.
            and not text.endswith("..")
            and not _MARKUP.search(text)
            and not _QUOTES.search(text)
            and len(self.words) >= 3  # noqa: PLR2004 - subject, verb, and what is said
        )

    @cached_property
    def asserts(self) -> bool:
        """Return whether it is a plain assertion: no condition, doubt, opinion, question or report."""
        # In the middle of a sentence, `May` is the month.
        return self.plain and not any(
            word.lower in _UNSURE and (word.text != "May" or place == 0) for place, word in enumerate(self.words)
        )

    @property
    def negative(self) -> bool:
        """Return whether something in it is negated."""
        return any(is_negative(word) for word in self.lower_words)


_NEGATIVES: Final = words(
    "not no never none nothing nobody nowhere neither nor without cannot lack lacks fails deny denies false"
)


def is_negative(word: str) -> bool:
    """Return whether a word in lower case negates."""
    return word in _NEGATIVES or word.endswith("n't")


@define(slots=False, frozen=True, kw_only=True)
class Passage:
    """A text to plant errors in."""

    text: str
    request: str = ""
    """The request it answers; values given there are not changed."""
    seed: int = 0

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return the sentences in order."""
        spans = [
            (number, start, end)
            for number, (first, last) in enumerate(_paragraphs(self.text))
            for start, end in _split(self.text, first, last)
        ]
        return tuple(
            Sentence(index=index, paragraph=number, start=start, end=end, text=self.text[start:end])
            for index, (number, start, end) in enumerate(spans)
        )

    @cached_property
    def english(self) -> bool:
        """Return whether it is English, or too short to tell and the answer to a request in English."""
        return is_english(self.text, self.request)

    def draw(self, below: int, *parts: object) -> int:
        """Draw an integer from 0 to `below` - 1, determined by the seed and the parts."""
        return derive_seed(self.seed, *parts) % below


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _PARAGRAPH_END.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    for match in _BOUNDARY.finditer(text, start, end):
        if not _abbreviates(match[1], match[2]):
            yield start, match.start(3)
            start = match.end(3)
    if start < end:
        yield start, end


def _abbreviates(word: str, mark: str) -> bool:
    """Return whether a full stop belongs to an abbreviation, an initial or the number of a list."""
    if mark != ".":
        return False
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word not in "I0123456789") or word == ""


@frozen(kw_only=True)
class Edit:
    """Replace the characters from `start` to `end` with `new`."""

    start: int
    end: int
    new: str
    sentences: tuple[int, ...]
    """The sentences it changes; no other edit may change them."""


def choose(edits: Iterable[Edit], most: int, seed: int) -> list[Edit]:
    """Choose at most `most` edits by seed, no two in one sentence.

    A choice of fewer edits is always a prefix of a choice of more.
    """
    # By a hash of each edit and not by a shuffle: an edit keeps its rank when another rule finds more places.
    order = sorted(edits, key=lambda edit: (derive_seed(seed, edit.start, edit.end, edit.new), edit.start))
    chosen: list[Edit] = []
    taken: set[int] = set()
    for edit in order:
        if len(chosen) == most:
            break
        # Two errors in one sentence may cancel, as two negations do.
        if taken.isdisjoint(edit.sentences):
            chosen.append(edit)
            taken.update(edit.sentences)
    return chosen


def describe_edits(text: str, edits: Sequence[Edit]) -> list[Json]:
    """Return the edits for the provenance in text order: position, old text, new text."""
    return [
        {"at": edit.start, "old": text[edit.start : edit.end], "new": edit.new}
        for edit in sorted(edits, key=lambda edit: edit.start)
    ]
