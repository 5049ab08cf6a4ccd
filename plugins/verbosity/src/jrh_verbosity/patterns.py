"""What a rule is: what may be put in the place of what, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import frozen

from jrh_verbosity.edits import Edit

BEGINS: Final = r"(?:\A|(?<=[.!?] )|(?<=\n))"
"""Where a sentence begins, for patterns."""

_LOOK_BACK: Final = 200
_END: Final = re.compile(r"[.!?\n]")


@frozen(kw_only=True)
class Rule:
    """Puts what `new` makes of the pattern's group `x` in its place."""

    kind: str
    pattern: re.Pattern[str]
    new: Callable[[str, int], str]
    """From the text found and the number of the place within the text."""
    unless: re.Pattern[str] | None = None
    """What must not stand anywhere before it in the same sentence."""

    def edits(self, text: str) -> Iterator[Edit]:
        """Yield the edits this rule can make."""
        for number, match in enumerate(self.pattern.finditer(text)):
            start = match.start("x")
            if self.unless is None or not self.unless.search(_sentence_before(text, start)):
                yield Edit(start=start, old=match["x"], new=self.new(match["x"], number), kind=self.kind)


def phrases(
    kind: str, to: Mapping[str, str], *, before: str = r"\b", after: str = r"\b", unless: str | None = None
) -> Rule:
    """Make a rule that swaps phrases, in lower case or with a capital at the beginning, which stays.

    Args:
        kind: what the draft's details call it.
        to: old phrase -> new phrase, in lower case.
        before: what has to stand before the phrase, as a pattern.
        after: what has to stand behind it.
        unless: what must not stand anywhere before it in the same sentence.
    """

    def new(old: str, _number: int) -> str:
        found = to[old.lower()]
        return found[0].upper() + found[1:] if old[0].isupper() else found

    listed = "|".join(f"[{old[0].upper()}{old[0]}]{re.escape(old[1:])}" for old in sorted(to, key=len, reverse=True))
    pattern = re.compile(f"{before}(?P<x>{listed}){after}")
    return Rule(kind=kind, pattern=pattern, new=new, unless=re.compile(unless) if unless else None)


def dropped(kind: str, pattern: str) -> Rule:
    """Make a rule that takes the group `x` away."""
    return Rule(kind=kind, pattern=re.compile(pattern), new=lambda _old, _number: "")


def not_after(*words: str) -> str:
    """Return a pattern that holds where none of the words, and a space, stand directly before."""
    return "".join(f"(?<!\\b[{word[0].upper()}{word[0]}]{word[1:]} )" for word in words)


def _sentence_before(text: str, end: int) -> str:
    return _END.split(text[max(0, end - _LOOK_BACK) : end])[-1]
