"""Negate the main clause of a sentence, or take its negation away: closed patterns, no parser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jrh_label_flip.passages import LISTS, Edit, Passage, Sentence, Word, is_negative, pairs, words

_LONGEST_SUBJECT: Final = 9
"""Words before the verb; a longer subject has clauses of its own."""

_LISTS: Final = LISTS["negation"]
_BE: Final = words("is are was were am")
_AUXILIARIES: Final = _BE | frozenset({"can", "will"})
_HAVE: Final = {"has": "does not have", "have": "do not have", "had": "did not have"}
_DETERMINERS: Final = words(_LISTS["determiners"])

_ANYTHING: Final = frozenset[str]()
_PLACES: Final = words("in on at near from to into between through for under over around across with by")
# Verb -> the words one of which has to follow, so that it is no noun; an empty set: it is none anyway.
_PRESENT: Final = {
    form: (base, followers)
    for verbs, followers in (
        ("present", _ANYTHING),
        ("present_before_places", _PLACES),
        ("present_before_determiners", _DETERMINERS),
    )
    for form, base in pairs(_LISTS[verbs])
}
_PAST: Final = dict(pairs(_LISTS["past"]))

_CLAUSES: Final = words(_LISTS["clauses"])
"""Words before the verb after which it need not be the verb of the main clause."""
_NO_NOUN: Final = words("the a an of and or with in on by for to")
"""A word after these is not a verb but a noun that looks like one."""
_QUANTIFIERS: Final = words(
    "all every each both always everyone everybody everything half enough too also even still already ever"
)
"""With these, the negation of a true sentence can be true."""
_NARROWS: Final = words("yet quite necessarily really very so that as such merely simply")
_PRONOUNS: Final = words("i you he she it we they")
_VERBS: Final = _AUXILIARIES | frozenset(_HAVE) | words("do does did")
_CAUSES: Final = words("so due but until before after when while where by")
"""With these, a negation may concern the circumstance alone."""

_CONTRACTIONS: Final = dict(pairs(_LISTS["contractions"]))
_BEFORE_NOT: Final = frozenset(_CONTRACTIONS.values()) | {"am"}


def negations(passage: Passage) -> Iterator[Edit]:
    """Yield an edit for each sentence whose main clause can be negated, or un-negated."""
    for sentence in passage.sentences:
        edit = _negation(sentence)
        if edit is not None:
            yield edit


def contradictions(passage: Passage) -> Iterator[Edit]:
    """Yield insertions: behind a sentence, the same sentence negated."""
    for sentence in passage.sentences:
        edit = _negation(sentence)
        if edit is not None:
            # The original stays and is contradicted at once, so that the response says both.
            before = passage.text[sentence.start : edit.start]
            negated = f"{before}{edit.new}{passage.text[edit.end : sentence.end]}"
            yield Edit(start=sentence.end, end=sentence.end, new=f" {negated}", sentences=(sentence.index,))


def _negation(sentence: Sentence) -> Edit | None:
    if not sentence.asserts or sentence.has(_QUANTIFIERS) or any(mark in sentence.text for mark in ":;("):
        return None
    # One negation can be taken away; with two the sentence may say what it says without them.
    negatives = [place for place, word in enumerate(sentence.lower_words) if is_negative(word)]
    if not negatives:
        return None if sentence.has(_CAUSES) else _negate(sentence)
    return _affirm(sentence, negatives[0]) if len(negatives) == 1 else None


def _negate(sentence: Sentence) -> Edit | None:
    for place, word in enumerate(sentence.lower_words[: _LONGEST_SUBJECT + 1]):
        if place and word in _CLAUSES:
            return None
        new = _with_not(sentence.lower_words, place)
        if new is not None:
            return _edit(sentence, place, new) if _is_main(sentence, place) else None
    return None


def _with_not(words: Sequence[str], place: int) -> str | None:
    """Return the negated verb at a place, or None if it is not a listed verb."""
    word, after = words[place], words[place + 1] if place + 1 < len(words) else ""
    if word in _AUXILIARIES:
        return "cannot" if word == "can" else f"{word} not"
    if word in _HAVE:
        return f"{word} not" if after == "been" else _HAVE[word] if after in _DETERMINERS else None
    if word in _PRESENT:
        base, followers = _PRESENT[word]
        return f"does not {base}" if not followers or after in followers else None
    if word in _PAST:
        # `was written by`: the form is a participle there.
        return f"did not {_PAST[word]}" if after != "by" else None
    return None


def _is_main(sentence: Sentence, place: int) -> bool:
    """Return whether the verb at a place belongs to the main clause, judging by the words around it."""
    words = sentence.lower_words
    if place == 0 or words[place - 1] in _NO_NOUN or (words[place - 1] in _PRONOUNS and place > 1):
        return False
    before = sentence.text[: sentence.words[place].start - sentence.start]
    after = words[place + 1 :]
    # A second verb may be that of the main clause: `The book she wrote is famous.`
    return "," not in before and bool(after) and after[0] not in _NARROWS and not _VERBS.intersection(after)


def _affirm(sentence: Sentence, place: int) -> Edit | None:
    """Remove the only negation of a sentence if it is in the main clause."""
    words, lowered = sentence.words, sentence.lower_words
    if sentence.has(_CAUSES) or any(word in _NARROWS for word in lowered[place + 1 : place + 2]):
        return None
    contracted = _CONTRACTIONS.get(lowered[place])
    verb = place if contracted else place - 1
    if verb < 1 or verb > _LONGEST_SUBJECT or any(word in _CLAUSES for word in lowered[1:verb]):
        return None
    # A comma before the verb parts clauses, and the verb may belong to the other one.
    if "," in sentence.text[: words[verb].start - sentence.start]:
        return None
    if contracted:
        return _edit(sentence, place, contracted)
    if lowered[place] != "not" or lowered[verb] not in _BEFORE_NOT:
        return None
    return Edit(start=words[verb].end, end=words[place].end, new="", sentences=(sentence.index,))


def _edit(sentence: Sentence, place: int, new: str) -> Edit:
    word: Word = sentence.words[place]
    return Edit(start=word.start, end=word.end, new=new, sentences=(sentence.index,))
