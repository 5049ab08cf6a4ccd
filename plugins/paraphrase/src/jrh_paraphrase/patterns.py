"""What a swap is: what may be put in the place of what, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen

from jrh_paraphrase.edits import Edit
from jrh_paraphrase.options import Rewrite

APOSTROPHE: Final = "['\u2019]"
"""Both apostrophes, for patterns."""
_LOOK_BACK: Final = 200
_END: Final = re.compile(r"[.!?\n]")


@frozen
class Swap:
    """What is put in the place of what the pattern's group `x` finds."""

    kind: Rewrite
    pattern: re.Pattern[str]
    to: Mapping[str, str]
    """From the text found, in lower case and with straight apostrophes."""
    unless: re.Pattern[str] | None = None
    """What must not stand anywhere before it in the same sentence."""

    def edits(self, text: str) -> Iterator[Edit]:
        """Yield the edits this swap can make, with the capital and the apostrophe the text has."""
        curly = "\u2019" in text and "'" not in text
        for match in self.pattern.finditer(text):
            old = match["x"]
            if self.unless is not None and self.unless.search(_sentence_before(text, match.start("x"))):
                continue
            new = self.to[old.lower().replace("\u2019", "'")]
            if old[0].isupper():
                new = new[0].upper() + new[1:]
            if curly:
                new = new.replace("'", "\u2019")
            yield Edit(start=match.start("x"), old=old, new=new, kind=self.kind.value)


def swap(
    kind: Rewrite, to: Mapping[str, str], *, before: str = r"\b", after: str = r"\b", unless: str | None = None
) -> Swap:
    """Make a swap of whole phrases, in lower case or with a capital at the beginning, never in capitals throughout.

    Args:
        kind: what a suite calls it.
        to: old phrase -> new phrase, in lower case.
        before: what has to stand before the phrase, as a pattern.
        after: what has to stand behind it.
        unless: what must not stand anywhere before it in the same sentence.
    """
    phrases = "|".join(_either_case(phrase) for phrase in sorted(to, key=len, reverse=True))
    return Swap(kind, re.compile(f"{before}(?P<x>{phrases}){after}"), to, re.compile(unless) if unless else None)


def both_ways(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs and their reverse."""
    return {**pairs, **{new: old for old, new in pairs.items()}}


def not_after(*words: str) -> str:
    """Return a pattern that holds where none of the words, and a space, stand directly before."""
    return "".join(f"(?<!\\b[{word[0].upper()}{word[0]}]{word[1:]} )" for word in words)


def _sentence_before(text: str, end: int) -> str:
    start = max(0, end - _LOOK_BACK)
    return _END.split(text[start:end])[-1]


def _either_case(phrase: str) -> str:
    first, rest = phrase[0], re.escape(phrase[1:])
    return (f"[{first.upper()}{first}]" + rest).replace("'", APOSTROPHE)
