"""Add length and nothing else: frames, asides and longer phrases from closed lists.

None of them contains a fact, a number, a name, a negation or praise.
"""

from __future__ import annotations

import re
from typing import Final

from jrh_authoring import WordingRule, not_after, phrase_rule

BEGINS: Final = r"(?:\A|(?<=[.!?] )|(?<=\n))"
"""Where a sentence begins, for patterns."""
FRAMES: Final = (
    "It is the case that",
    "The fact is that",
    "The point here is that",
    "What is meant here is that",
    "What can be said is that",
    "As far as this is concerned, it holds that",
)
"""Frames before a statement; they only assert it, as the statement itself does."""
ASIDES: Final = (
    "That is the point being made here.",
    "This is what is meant.",
    "That is how the matter is put here.",
    "This is the thought, spelled out.",
    "That, in short, is what is being said.",
    "Put differently, the sentence before this means what it says.",
)
"""Asides after a statement; they refer to it and to nothing else."""

_VERB: Final = (
    r"(?:is|am|are|was|were|has|have|had|can|will|would|should|must|does|do|did|could|cannot"
    r"|(?:is|are|was|were|has|have|had|would|should|does|do|did|could)n['\u2019]t|can['\u2019]t|won['\u2019]t)\b"
)
_STATEMENT: Final = r"(?=[^.?!\n]*\.(?:\s|\Z))"
_NOUN_PHRASE: Final = r"(?:(?!(?:who|which|that|whose|where|when|if|how|why|what|and|or)\b)\w[\w'\u2019-]* ){1,5}"
_ABBREVIATED: Final = "".join(f"(?<!{word}.)" for word in ("etc", "Prof", "Capt", "Corp", "Sept", "approx", "incl"))


def _framed(old: str, number: int) -> str:
    start = old if old.startswith("I ") else old[0].lower() + old[1:]
    return f"{FRAMES[number % len(FRAMES)]} {start}"


def _aside(_old: str, number: int) -> str:
    return f" {ASIDES[number % len(ASIDES)]}"


LENGTHENING: Final = (
    # A pronoun or a determined noun directly before a finite verb makes a statement; so the first letter may be small.
    WordingRule(
        kind="frame",
        pattern=re.compile(
            rf"{BEGINS}(?P<x>(?:It|They|We|You|He|She|There|This|These|Those|I) )"
            rf"(?=(?:{_VERB}|(?:think|believe|know|agree|feel)\b)){_STATEMENT}"
        ),
        new=_framed,
    ),
    WordingRule(
        kind="frame",
        pattern=re.compile(
            rf"{BEGINS}(?P<x>(?:The|A|An|My|Our|Your|His|Her|Their|Its|Some|Many|Most|All|Every|Each) )"
            rf"(?={_NOUN_PHRASE}{_VERB}){_STATEMENT}"
        ),
        new=_framed,
    ),
    WordingRule(
        kind="aside",
        pattern=re.compile(rf"(?<=[a-z]{{3}}\.){_ABBREVIATED}(?P<x>)(?= [A-Z]|\s*\n|\s*\Z)"),
        new=_aside,
    ),
    phrase_rule(
        "phrase",
        {"because": "due to the fact that"},
        before=not_after("just", "only", "simply", "merely", "not", "is", "was", "perhaps", "maybe") + r"\b",
        after=r"\b(?! of\b)(?= [a-z])",
    ),
    phrase_rule(
        "phrase",
        {"every": "each and every"},
        before=not_after("each and", "almost", "nearly", "not", "once", "my", "your", "his", "her", "their", "our")
        + r"\b",
        after=r"(?= (?!other|one|two|three|so|now|few|single|last|bit|time|since)[a-z]+\b)",
    ),
)
"""All rules; of two that overlap, the one that begins first applies."""
