"""List words that can be dropped, phrases with another form, and words that add length and nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jrh_authoring import WordingRule, not_after, phrase_rule, phrase_rules

BEGINS: Final = r"(?:\A|(?<=[.!?] )|(?<=\n))"
"""Where a sentence begins, for patterns."""
_PHRASES: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
FRAMES: Final[Sequence[str]] = _PHRASES["frames"]
"""Frames before a statement."""
ASIDES: Final[Sequence[str]] = _PHRASES["asides"]
"""Asides after a statement."""

_VERB: Final = (
    r"(?:is|am|are|was|were|has|have|had|can|will|would|should|must|does|do|did|could|cannot"
    r"|(?:is|are|was|were|has|have|had|would|should|does|do|did|could)n['\u2019]t|can['\u2019]t|won['\u2019]t)\b"
)
_STATEMENT: Final = r"(?=[^.?!\n]*\.(?:\s|\Z))"
_NOUN_PHRASE: Final = r"(?:(?!(?:who|which|that|whose|where|when|if|how|why|what|and|or)\b)\w[\w'\u2019-]* ){1,5}"
_SUBJECT: Final = (
    r"(?:I|you|he|she|it|we|they|there|this|these|those|the|a|an|my|your|his|her|its|our|their|some|many|most|all|every|each|"
    r"(?:every|no)body|everyone|whoever)"
)
"""A word that begins the subject of a clause."""
_ABBREVIATED: Final = "".join(f"(?<!{word}.)" for word in ("etc", "Prof", "Capt", "Corp", "Sept", "approx", "incl"))


def _frame(old: str, number: int) -> str:
    start = old if old.startswith("I ") else old[0].lower() + old[1:]
    return f"{FRAMES[number % len(FRAMES)]} {start}"


def _aside(_old: str, number: int) -> str:
    return f" {ASIDES[number % len(ASIDES)]}"


def replace_rule(kind: str, pattern: str, new: str = "", *, unless: str | None = None) -> WordingRule:
    """Make a rule that puts a fixed text in place of the group `x`; without one, the group is dropped."""
    excluded = re.compile(unless) if unless else None
    return WordingRule(kind=kind, pattern=re.compile(pattern), new=lambda _old, _number: new, unless=excluded)


LENGTHENING: Final = (
    # A pronoun or a determined noun directly before a finite verb makes a statement; so the first letter may be small.
    WordingRule(
        kind="frame",
        pattern=re.compile(
            rf"{BEGINS}(?P<x>(?:It|They|We|You|He|She|There|This|These|Those|I) )"
            rf"(?=(?:{_VERB}|(?:think|believe|know|agree|feel)\b)){_STATEMENT}"
        ),
        new=_frame,
    ),
    WordingRule(
        kind="frame",
        pattern=re.compile(
            rf"{BEGINS}(?P<x>(?:The|A|An|My|Our|Your|His|Her|Their|Its|Some|Many|Most|All|Every|Each) )"
            rf"(?={_NOUN_PHRASE}{_VERB}){_STATEMENT}"
        ),
        new=_frame,
    ),
    # Before a colon any sentence may stand, also a name or an instruction; once per text, as it is noticed.
    replace_rule(
        "frame",
        r"\A(?P<x>)(?=[A-Z][^.?!:\n]*[a-z] [^.?!:\n]*\.(?:\s|\Z))(?=(?:[\w'\u2019-]+,? ){4})",
        "Please note: ",
    ),
    WordingRule(
        kind="aside",
        pattern=re.compile(rf"(?<=[a-z]{{3}}\.){_ABBREVIATED}(?P<x>)(?= [A-Z]|\s*\n|\s*\Z)"),
        new=_aside,
    ),
    *phrase_rules("phrase", _PHRASES["longer_where"]),
)
"""All rules; of two that overlap, the one that begins first applies."""


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

_PARTICIPLES: Final = "left|made|given|taken|written|known|sold|kept|held|built|found|seen|used|shown|chosen"
_CLOSERS: Final = (
    r"I hope (?:this|that|it) helps|Hope (?:this|that|it) helps|Feel free to ask[^.?!\n]*|Let me know if you[^.?!\n]*"
    r"|Please let me know if you[^.?!\n]*"
)


SHORTENING: Final = (
    # What is dropped is looked for first: what looks back is slow.
    replace_rule("filler", f"(?={_FILLERS}){_EMPHASIS}(?<!\\b[Aa] )(?P<x>{_FILLERS}){_NO_AMOUNT}(?=[a-z])"),
    # An opinion is said to be one by `think` already.
    replace_rule("opinion", r"\bI (?P<x>personally )(?=(?:think|believe|feel)\b)"),
    replace_rule("opinion", BEGINS + r"(?P<x>In my (?:own |personal )?opinion,? I)(?= (?:think|believe|feel)\b)", "I"),
    replace_rule("filler", f"(?<=\\b[Aa] )(?P<x>{_FILLERS}){_NO_AMOUNT}{_CONSONANT}"),
    WordingRule(
        kind="opener",
        pattern=re.compile(f"{BEGINS}(?P<x>(?:{_OPENERS})[A-Za-z])"),
        new=lambda old, _number: old[-1].upper(),
    ),
    # A subject pronoun behind it shows that `that` only joins two clauses.
    replace_rule(
        "that",
        r"\b(?:think|thinks|believe|believes|know|knows|hope|hopes|feel|say|says|said) "
        r"(?P<x>that )(?=(?:I|you|he|she|it|we|they|there|everyone|everybody)\b)",
    ),
    # A relative clause with a subject of its own needs no `that`; `so`, `such` and `like` do.
    replace_rule(
        "that",
        r"\b(?:the|a|an|any|some|many|these|those) (?:[a-z]+ )?"
        r"(?!same\b|is\b|was\b|are\b|were\b|be\b|way\b)[a-z]{3,} "
        r"(?P<x>that )(?=(?:I|you|he|she|we|they) [a-z])",
        unless=r"\b(?:[Ss]o|[Ss]uch|[Ll]ike[sd]?|[Ll]ove[sd]?|[Hh]ate[sd]?|[Nn]ow|[Ii]s|[Ww]as|[Aa]re|[Ww]ere)\b",
    ),
    phrase_rule("phrase", _PHRASES["shorter"]),
    *phrase_rules("phrase", _PHRASES["shorter_where"]),
    # What a response says about itself at its end answers no request.
    replace_rule("closer", rf"(?<=[.!?])(?P<x>\s+(?:{_CLOSERS})[.!]\s*\Z)"),
    # Two statements may be joined by a semicolon; in a list or behind a condition, `and` does more.
    replace_rule(
        "and",
        rf"(?<=[a-z])(?P<x>, and )(?=(?:he|she|we|they|I) |{_SUBJECT} (?:{_NOUN_PHRASE})?{_VERB})(?=[^.?!,;:\n]*\.)",
        "; ",
        unless=r"[,;:]|\b(?:[Ii]f|[Ww]hen|[Ww]hile|[Uu]ntil|[Uu]nless|[Bb]ecause|[Bb]oth|[Nn]ot|[Nn]ever|[Nn]obody|[Nn]o"
        r"|[Ee]ither|(?:[Ss]a(?:y|ys|id)|[Tt]hinks?|[Tt]hought|[Kk]n[eo]ws?|[Bb]elieves?|[Hh]opes?|[Tt]old) that)"
        r"\b|n['\u2019]t",
    ),
    replace_rule("and", r"(?<=[a-z,] )(?P<x>and )(?=then\b)"),
    replace_rule("then", r"\b(?:If|When|Once) [^.?!,;:\n]+, (?P<x>then )(?=[a-z])"),
    # `the man who is sitting here`: the participle says as much without the pronoun and the verb.
    replace_rule(
        "relative",
        r"\b(?!(?:one|all|those|these|it|so|now|time|day|way|fact|idea)\b)[a-z]{3,} "
        r"(?P<x>(?:that|which|who) (?:is|are|was|were) )"
        rf"(?=(?:(?!need)[a-z]{{3,}}(?:ed|ing)|{_PARTICIPLES})\b (?:in|on|at|by|from|to|of|with|for|over|into)\b"
        rf"|(?:{_PARTICIPLES}) (?:is|are|was|were|has|have|can|will|must|should)\b)",
        unless=r"\b(?:[Ii]t (?:is|was)|[Ss]uch|[Ss]o|[Ss]ays?|[Tt]hinks?|[Kk]nows?)\b|[Tt]t['\u2019]s",
    ),
    # An ellipsis that English allows: `faster than a pot on the stove does`.
    replace_rule(
        "does", r"\bthan (?:[a-z]+ ){0,5}?(?!(?:I|you|he|she|it|we|they)\b)[a-z]+(?P<x> (?:does|do|did))(?=[.,;])"
    ),
    *phrase_rules("phrase", _PHRASES["shorter_at_last"]),
)
"""All rules; of two that overlap, the one that begins first applies."""
