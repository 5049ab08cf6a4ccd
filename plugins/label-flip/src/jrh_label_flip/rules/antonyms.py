"""Replace a word by its opposite: a closed list of words whose opposite makes a true statement false."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh_label_flip.passages import LISTS, Edit, Passage, Sentence, Word, pairs, words


def _both_ways(text: str) -> dict[str, str]:
    opposites: dict[str, str] = {}
    for one, other in pairs(text):
        opposites.setdefault(one, other)
        opposites.setdefault(other, one)
    return opposites


_SAID: Final = _both_ways(LISTS["antonyms"]["of_the_subject"])
_OPPOSITES: Final = _both_ways(LISTS["antonyms"]["anywhere"]) | _SAID
_BE: Final = words("is are was were")
_LEAVES_OPEN: Final = words("than more less very too so as equal equally both same different or")
"""Near these, the opposite can be true too, or the word means something else (`more than`, `first and last`)."""
_COMPARES: Final = ("er", "worse")


def antonyms(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each word of the list, in sentences that say plainly that something is so."""
    for sentence in passage.sentences:
        # In a negated sentence the opposite may be as false as the word, or as true.
        if sentence.asserts and not sentence.negative:
            yield from _in_sentence(passage, sentence)


def _in_sentence(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    listed = [word for word in sentence.words if word.text in _OPPOSITES]
    if len(listed) != 1:
        return  # With two of them (`from first to last`), the opposite of one may be as true.
    word = listed[0]
    place = sentence.words.index(word)
    # Such words turn a statement only where they are said of the subject: `is open`, not `open doors`.
    if word.text in _SAID and (place == 0 or sentence.lower_words[place - 1] not in _BE):
        return
    opposite = _OPPOSITES[word.text]
    # A comparative turns with its opposite also before `than`: `larger than`, `smaller than`.
    followers = frozenset(_LEAVES_OPEN - {"than"}) if word.text.endswith(_COMPARES) else _LEAVES_OPEN
    if sentence.has(followers) or _changes_article(passage.text, word, opposite):
        return
    yield Edit(start=word.start, end=word.end, new=opposite, sentences=(sentence.index,))


def _changes_article(text: str, word: Word, opposite: str) -> bool:
    before = text[: word.start].rstrip().lower()
    has_article = before.endswith((" a", " an")) or before in ("a", "an")
    return has_article and (word.text[0] in "aeiou") != (opposite[0] in "aeiou")
