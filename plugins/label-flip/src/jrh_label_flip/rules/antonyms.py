"""Replace a word by its opposite: a closed list of words whose opposite makes a true statement false."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh_label_flip.edits import Edit
from jrh_label_flip.passages import Passage, Sentence, Word, pairs, words

_PAIRS: Final = """
    largest smallest, biggest tiniest, longest shortest, highest lowest, hottest coldest, warmest coolest,
    oldest newest, fastest slowest, strongest weakest, nearest farthest, closest farthest, heaviest lightest,
    deepest shallowest, widest narrowest, brightest darkest, richest poorest, best worst, easiest hardest,
    maximum minimum, larger smaller, bigger tinier, longer shorter, higher lower, hotter colder, warmer cooler,
    older newer, faster slower, stronger weaker, nearer farther, heavier lighter, deeper shallower,
    wider narrower, brighter darker, richer poorer, better worse, easier harder, first last, above below,
    inside outside, before after, northern southern, eastern western, north south, east west, positive negative,
    increases decreases, increase decrease, increased decreased, rises falls, rose fell, begins ends,
    began ended, always never, accepts rejects, accepted rejected, remembers forgets, remembered forgot,
    loves hates, love hate, loved hated, wins loses, won lost
"""
_SAID_OF_THE_SUBJECT: Final = """
    possible impossible, legal illegal, safe dangerous, expensive cheap, healthy unhealthy, important unimportant,
    alive dead, empty full, odd even, liquid solid, hot cold, dry wet, rich poor, thick thin, guilty innocent,
    public private
"""
"""Only behind a form of be: beside a noun (`hot water`), the opposite need not be false."""


def _both_ways(text: str) -> dict[str, str]:
    opposites: dict[str, str] = {}
    for one, other in pairs(text):
        opposites.setdefault(one, other)
        opposites.setdefault(other, one)
    return opposites


_SAID: Final = _both_ways(_SAID_OF_THE_SUBJECT)
_OPPOSITES: Final = _both_ways(_PAIRS) | _SAID
_BE: Final = words("is are was were")
_LEAVES_OPEN: Final = words("than more less very too so as equal equally both same different or")
"""Near these, the opposite can be true too, or the word means something else (`more than`, `first and last`)."""
_COMPARES: Final = ("er", "worse")


def antonyms(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each word of the list, in sentences that say plainly that something is so."""
    for sentence in passage.sentences:
        if sentence.asserts and not sentence.negative:
            yield from _in_sentence(passage, sentence)


def _in_sentence(passage: Passage, sentence: Sentence) -> Iterator[Edit]:
    listed = [word for word in sentence.words if word.text in _OPPOSITES]
    if len(listed) != 1:
        return  # With two of them (`from first to last`), the opposite of one may be as true.
    word = listed[0]
    place = sentence.words.index(word)
    if word.text in _SAID and (place == 0 or sentence.lowered[place - 1] not in _BE):
        return
    opposite = _OPPOSITES[word.text]
    others = frozenset(_LEAVES_OPEN - {"than"}) if word.text.endswith(_COMPARES) else _LEAVES_OPEN
    if sentence.has(others) or _changes_article(passage.text, word, opposite):
        return
    yield Edit(start=word.start, end=word.end, new=opposite, sentences=(sentence.index,))


def _changes_article(text: str, word: Word, opposite: str) -> bool:
    before = text[: word.start].rstrip().lower()
    has_article = before.endswith((" a", " an")) or before in ("a", "an")
    return has_article and (word.text[0] in "aeiou") != (opposite[0] in "aeiou")
