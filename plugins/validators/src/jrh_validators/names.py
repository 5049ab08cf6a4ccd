"""Find the names of a text: capitalised words where grammar requires no capital."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_BEGINS: Final = re.compile(r"[.!?\u2026:][^\w\s]*\s|[\r\n]")
"""Between two words: the second one begins a sentence or a line."""
_CONTRACTED: Final = re.compile(r"(?:n)?['\u2019]")
_POSSESSIVE: Final = re.compile(r"['\u2019]s?\Z")
_ABBREVIATIONS: Final = "mr mrs ms dr prof st mt jr sr gen col capt rev sen rep gov lt sgt no vs"
_GRAMMATICAL: Final = """
    a about after all also although an and are as at because been before but by can could did do does due each every for
    from had has have he her his how however i if in is it its many more most my no not of on once one or other our she
    should since so some such than that the their them then there these they this those though thus to under until up
    was we were what when where which while who whose why with would you your
"""
_NO_NAMES: Final = frozenset(_GRAMMATICAL.split())
_ABBREVIATES: Final = frozenset(_ABBREVIATIONS.split())


@frozen(kw_only=True)
class Names:
    """The capitalised words of one text."""

    certain: frozenset[str]
    """Words capitalised inside a sentence."""
    capitalised: frozenset[str]
    """Words capitalised anywhere."""

    @classmethod
    def of(cls, text: str) -> Names:
        """Find the names of a text.

        A word begins with a letter and may hold apostrophes and hyphens; an ending 's is not part of it. Inside a
        sentence means: after another word of the line, without an end mark or a colon and white space between the
        two; an abbreviation such as `Mr.` and an initial end no sentence. Grammatical words such as `The`, `In` and `I`
        are no names.
        """
        certain, capitalised = set(), set()
        before = None
        for match in _WORD.finditer(text):
            word = _POSSESSIVE.sub("", match.group())
            if word[0].isupper() and _CONTRACTED.split(word.lower())[0] not in _NO_NAMES:
                capitalised.add(word)
                if before is not None and not _begins(text, before, match):
                    certain.add(word)
            before = match
        return cls(certain=frozenset(certain), capitalised=frozenset(capitalised))

    def missing_in(self, other: Names) -> list[str]:
        """Return the certain names that are never capitalised in another text, in alphabetical order."""
        return sorted(self.certain - other.capitalised)


def _begins(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    gap = text[before.end() : word.start()]
    if _BEGINS.search(gap) is None:
        return False
    last = before.group()
    abbreviated = gap.startswith(".") and (len(last) == 1 or last.lower() in _ABBREVIATES)
    return not abbreviated or "\n" in gap or "\r" in gap
