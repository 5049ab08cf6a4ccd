"""List the words that can be dropped and phrases with a shorter form, each with the context in which it is safe."""

from __future__ import annotations

import re
from typing import Final

from jrh_authoring import WordingRule, not_after, phrase_rule

from jrh_verbosity.lengthening import BEGINS

_FILLERS: Final = r"(?:very|really|basically|actually|literally) "
# `not very good` is not `not good`; `the very idea`, `very few` and `how very odd` are no mere emphasis.
_EMPHASIS: Final = (
    not_after(
        "the", "this", "that", "these", "those", "not", "never", "no", "how", "so", "too", "as", "do", "does", "did"
    )
    + not_after("my", "your", "his", "her", "its", "our", "their", "an")
    + r"(?<!n['\u2019]t )(?<!nt )(?<!-)\b"
)
_NO_AMOUNT: Final = (
    r"(?!few|little|many|much|same|own|first|last|best|least|most|near|end|top|is|are|was|were|not|so\b)"
)
# `a very old man` would need another article.
_CONSONANT: Final = r"(?=[b-df-gj-np-tv-z])"

_OPENERS: Final = (
    "Basically, |Actually, |Of course, |Obviously, |In fact, |As a matter of fact, |To be honest, |Needless to say, "
    "|As you can see, |As we all know, |All in all, |It is important to note that |It should be noted that "
    "|It is worth noting that |Please note that |It is the case that |The fact is that |The point is that "
)


def dropped(kind: str, pattern: str) -> WordingRule:
    """Make a rule that takes the group `x` away."""
    return WordingRule(kind=kind, pattern=re.compile(pattern), new=lambda _old, _number: "")


SHORTENING: Final = (
    # What is dropped is looked for first: what looks back is slow.
    dropped("filler", f"(?={_FILLERS}){_EMPHASIS}(?<!\\b[Aa] )(?P<x>{_FILLERS}){_NO_AMOUNT}(?=[a-z])"),
    # An opinion is said to be one by `think` already.
    dropped("opinion", r"\bI (?P<x>personally )(?=(?:think|believe|feel)\b)"),
    WordingRule(
        kind="opinion",
        pattern=re.compile(BEGINS + r"(?P<x>In my (?:own |personal )?opinion,? I)(?= (?:think|believe|feel)\b)"),
        new=lambda _old, _number: "I",
    ),
    dropped("filler", f"(?<=\\b[Aa] )(?P<x>{_FILLERS}){_NO_AMOUNT}{_CONSONANT}"),
    WordingRule(
        kind="opener",
        pattern=re.compile(f"{BEGINS}(?P<x>(?:{_OPENERS})[A-Za-z])"),
        new=lambda old, _number: old[-1].upper(),
    ),
    # A subject pronoun behind it shows that `that` only joins two clauses.
    dropped(
        "that",
        r"\b(?:think|thinks|believe|believes|know|knows|hope|hopes|feel|say|says|said) "
        r"(?P<x>that )(?=(?:I|you|he|she|it|we|they|there|everyone|everybody)\b)",
    ),
    # A relative clause with a subject of its own needs no `that`; `so`, `such` and `like` do.
    WordingRule(
        kind="that",
        pattern=re.compile(
            r"\b(?:the|a|an|any|some|many|these|those) (?:[a-z]+ )?"
            r"(?!same\b|is\b|was\b|are\b|were\b|be\b|way\b)[a-z]{3,} "
            r"(?P<x>that )(?=(?:I|you|he|she|we|they) [a-z])"
        ),
        new=lambda _old, _number: "",
        unless=re.compile(
            r"\b(?:[Ss]o|[Ss]uch|[Ll]ike[sd]?|[Ll]ove[sd]?|[Hh]ate[sd]?|[Nn]ow|[Ii]s|[Ww]as|[Aa]re|[Ww]ere)\b"
        ),
    ),
    phrase_rule(
        "phrase",
        {
            "due to the fact that": "because",
            "despite the fact that": "although",
            "in spite of the fact that": "although",
            "in the event that": "if",
            "at this point in time": "now",
            "at the present time": "now",
            "until such time as": "until",
            "for the purpose of": "for",
            "with regard to": "about",
            "in close proximity to": "near",
            "on a daily basis": "daily",
            "on a regular basis": "regularly",
            "each and every": "every",
            "first and foremost": "first",
            "the reason why": "the reason",
            "in my own opinion": "in my opinion",
            "in my personal opinion": "in my opinion",
            "the end result": "the result",
            "past history": "history",
            "all of the": "all the",
            "both of the": "both the",
            "off of": "off",
            "inside of": "inside",
            "because of the fact that": "because",
            "and also": "and",
            "so therefore": "therefore",
            "but however": "but",
            "right now": "now",
            "at all times": "always",
            "over and over again": "over and over",
            "each one of": "each of",
            "every single": "every",
            "the exact same": "the same",
            "my own personal": "my own",
            "still continue": "continue",
            "still continues": "continues",
            "a lot more": "much more",
        },
    ),
    # `put the room in order to please her` is about order, not about a purpose.
    phrase_rule(
        "phrase",
        {"in order to": "to"},
        before=not_after("is", "are", "was", "were", "be", "been", "not") + r"\b",
        unless=r"\b(?:[Pp]ut|[Kk]e(?:ep|pt)|[Ss]et|[Bb]r(?:ing|ought)|[Gg][eo]t|[Ll]e(?:ave|ft)|[Hh][oe]ld|[Pp]lac|[Cc]all)",
    ),
    phrase_rule(
        "phrase",
        {"a large number of": "many", "a great number of": "many"},
        before=not_after("such", "quite", "rather") + r"\b",
        after=r"(?= [a-z]+(?! (?:is|was|has)\b) )",
    ),
    phrase_rule("phrase", {"is able to": "can", "are able to": "can"}, after=r"(?= [a-z])"),
)
"""All rules; of two that overlap, the one that begins first applies."""
