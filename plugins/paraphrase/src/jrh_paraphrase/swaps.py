"""List the swaps that keep the meaning, each with the context in which it is safe."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jrh_authoring import APOSTROPHE, WordingRule, not_after, phrase_rule, phrase_rules

from jrh_paraphrase.options import Rewrite


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
    phrase_rule(Rewrite.CONTRACTIONS.value, _NOT, before=_SUBJECT, after=_AFTER_NOT),
    _verb("I", " am", "'m", _COMPLEMENT),
    _verb("[Yy]ou|[Ww]e|[Tt]hey", " are", "'re", _COMPLEMENT),
    _verb("[Hh]e|[Ss]he|[Ii]t", " is", "'s", _COMPLEMENT),
    _verb("I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey", " will", "'ll", _VERBAL),
    _verb("I|[Yy]ou|[Ww]e|[Tt]hey", " have", "'ve", r"(?= been\b)"),
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
    phrase_rule(
        Rewrite.NUMBERS.value,
        _COUNTS,
        before=r"\b(?:the|these|those|all|has|have|had|with|for|into|in|of|about|are|were|least|most|than) ",
        after=_COUNTED,
    ),
    _either(Rewrite.NUMBERS, r"(?<![\w.,%/-])\d[\d.,]*(?P<x>%(?=[ .,;)])| percent\b)", "%", " percent"),
)

_LISTS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
_LISTED: Final = (Rewrite.PHRASES.value, Rewrite.CONNECTIVES.value, Rewrite.PRONOUNS.value)
SWAPS: Final = (*_CONTRACTIONS, *(rule for kind in _LISTED for rule in phrase_rules(kind, _LISTS[kind])), *_NUMBERS)
"""All rules; of two that overlap, the one that begins first applies."""
