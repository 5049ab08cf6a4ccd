"""List the swaps that keep the meaning, each with the context in which it is safe."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jrh_authoring import APOSTROPHE, WordingRule, not_after, phrase_rule, phrase_rules

from jrh_paraphrase.options import Rewrite


def swap(kind: Rewrite, to: Mapping[str, str], **context: Any) -> WordingRule:
    """Make a swap of phrases; the context is that of `jrh_authoring.phrase_rule`."""
    return phrase_rule(kind.value, to, **context)


def both_ways(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs and their reverse."""
    return {**pairs, **{new: old for old, new in pairs.items()}}


def _either(kind: Rewrite, pattern: str, one: str, other: str) -> WordingRule:
    """Make a swap of two texts, whichever of them the pattern finds."""
    return WordingRule(
        kind=kind.value, pattern=re.compile(pattern), new=lambda old, _number: other if old == one else one
    )


# -- contractions -----------------------------------------------------------------------------------------------------
# After a subject pronoun the verb is not inverted, and `not` may stand behind it or be part of it.

_SUBJECT: Final = r"\b(?:I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Tt]hat|[Tt]here|[Tt]his|[Ww]ho|[Ww]hich) "
# `can not only` is not `can't only`; a pronoun behind the verb is a question's.
_AFTER_NOT: Final = r"\b(?! (?:only|just|merely|simply|solely|but|even|I|you|he|she|it|we|they|there)\b)"
_AUXILIARIES: Final = "do does did is are was were has have had could would should"
_NOT: Final = both_ways(
    {f"{verb} not": f"{verb}n't" for verb in _AUXILIARIES.split()} | {"will not": "won't", "cannot": "can't"}
)
_UNSTRANDED: Final = not_after("what", "how", "where", "who", "whatever", "as", "than")
_COMPLEMENT: Final = r"(?= (?:a|an|the|very|going|so)\b)"
_VERBAL: Final = r"(?= (?:be|have|go|also|never|always)\b)"


def _verb(subjects: str, long: str, short: str, after: str) -> WordingRule:
    # The subject is looked for first: what looks back is slow.
    pattern = f"\\b(?={subjects}){_UNSTRANDED}(?:{subjects})(?P<x>{long}|{short.replace(chr(39), APOSTROPHE)}){after}"
    return _either(Rewrite.CONTRACTIONS, pattern, long, short)


_CONTRACTIONS: Final = (
    swap(Rewrite.CONTRACTIONS, _NOT, before=_SUBJECT, after=_AFTER_NOT),
    _verb("I", " am", "'m", _COMPLEMENT),
    _verb("[Yy]ou|[Ww]e|[Tt]hey", " are", "'re", _COMPLEMENT),
    _verb("[Hh]e|[Ss]he|[Ii]t", " is", "'s", _COMPLEMENT),
    _verb("I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey", " will", "'ll", _VERBAL),
    _verb("I|[Yy]ou|[Ww]e|[Tt]hey", " have", "'ve", r"(?= been\b)"),
)

# -- phrases ----------------------------------------------------------------------------------------------------------

_LISTS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
_PHRASES: Final = (
    *phrase_rules(Rewrite.PHRASES.value, _LISTS["phrases"]),
    swap(
        Rewrite.PHRASES,
        {
            "due to the fact that": "because",
            "despite the fact that": "although",
            "in spite of the fact that": "although",
            "in the event that": "if",
            "at the present time": "at present",
            "with regard to": "regarding",
            "in close proximity to": "close to",
            "on a daily basis": "daily",
            "on a regular basis": "regularly",
        },
    ),
    # `put the room in order to please her` is about order, not about a purpose.
    swap(
        Rewrite.PHRASES,
        {"in order to": "to"},
        before=not_after("is", "are", "was", "were", "be", "been", "not") + r"\b",
        unless=r"\b(?:[Pp]ut|[Kk]e(?:ep|pt)|[Ss]et|[Bb]r(?:ing|ought)|[Gg][eo]t|[Ll]e(?:ave|ft)|[Hh][oe]ld|[Pp]lac|[Cc]all)",
    ),
    swap(
        Rewrite.PHRASES,
        {"a large number of": "many", "a great number of": "many"},
        before=not_after("such", "quite", "rather") + r"\b",
        after=r"(?= [a-z]+(?! (?:is|was|has)\b) )",
    ),
    swap(Rewrite.PHRASES, {"is able to": "can", "are able to": "can"}, after=r"(?= [a-z])"),
    swap(
        Rewrite.PHRASES,
        both_ways(
            {
                "for example": "for instance",
                "in my opinion": "in my view",
                "toward": "towards",
                "among": "amongst",
                "in spite of": "despite",
            }
        ),
        after=r"\b(?! the fact\b)",
    ),
    swap(
        Rewrite.PHRASES,
        both_ways({"about": "approximately"}),
        before=not_after("how", "what") + r"\b",
        after=r"(?= \d)",
    ),
    swap(Rewrite.PHRASES, both_ways({"almost": "nearly"}), after=r"(?= (?!never|no|none|any|not)[a-z])"),
    swap(Rewrite.PHRASES, both_ways({"often": "frequently"}), after=r"\b(?! than\b)"),
    swap(Rewrite.PHRASES, both_ways({"the whole": "the entire"}), after=r"(?= (?!of|and|or|is|was)[a-z]+\b)"),
    swap(
        Rewrite.PHRASES,
        both_ways({"a lot of": "lots of"}),
        before=not_after("quite", "such", "what", "rather", "whole", "the", "an", "not") + r"\b",
        after=r"(?= [a-z])",
    ),
)

# -- connectives and pronouns -----------------------------------------------------------------------------------------

_CONNECTIVES: Final = (
    *phrase_rules(Rewrite.CONNECTIVES.value, _LISTS["connectives"]),
    swap(
        Rewrite.CONNECTIVES,
        both_ways(
            {
                "furthermore": "moreover",
                "therefore": "thus",
                "nevertheless": "nonetheless",
                "as a result": "as a consequence",
                "in addition": "additionally",
                "in conclusion": "to conclude",
                "first": "firstly",
                "second": "secondly",
                "third": "thirdly",
            }
        ),
        before=r"(?:\A|(?<=[.!?] )|(?<=\n))(?=[A-Z])",
        after="(?=, )",
    ),
)
_PRONOUNS: Final = (
    swap(
        Rewrite.PRONOUNS,
        both_ways({"everyone": "everybody", "someone": "somebody", "anyone": "anybody"}) | {"nobody": "no one"},
        before=not_after("a", "an", "the", "any", "every") + r"(?<!-)\b",
        after=r"\b(?!-)",
    ),
    swap(
        Rewrite.PRONOUNS,
        {"no one": "nobody"},
        after=r"(?= (?:is|was|has|had|can|could|will|would|should|else|knows|wants|likes|did|does)\b)",
    ),
    swap(
        Rewrite.PRONOUNS,
        both_ways({"each other": "one another"}),
        after=r"(?=[.,;!?]| (?:and|in|with|to|for|when|at|on|by|as|while|because|out)\b)",
    ),
)

# -- numbers ----------------------------------------------------------------------------------------------------------

_COUNT_WORDS: Final = "two three four five six seven eight nine ten"
_COUNTS: Final = both_ways({word: str(value) for value, word in enumerate(_COUNT_WORDS.split(), start=2)})
_COUNTED: Final = (
    r"(?= (?!(?:is|was|has|does|says|as|this|its|us|times|plus|minus|less)\b)"
    r"(?:[a-z]{2,}s|people|men|women|children)\b)"
)
_NUMBERS: Final = (
    # A number that counts what follows it: `the 3 parts`, `in five years`.
    swap(
        Rewrite.NUMBERS,
        _COUNTS,
        before=r"\b(?:the|these|those|all|has|have|had|with|for|into|in|of|about|are|were|least|most|than) ",
        after=_COUNTED,
    ),
    _either(Rewrite.NUMBERS, r"(?<![\w.,%/-])\d[\d.,]*(?P<x>%(?=[ .,;)])| percent\b)", "%", " percent"),
)

SWAPS: Final = (*_CONTRACTIONS, *_PHRASES, *_CONNECTIVES, *_PRONOUNS, *_NUMBERS)
"""All rules; of two that overlap, the one that begins first applies."""
