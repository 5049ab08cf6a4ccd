"""How a choice between two options is written: A, [[B]], Response B is better, a tie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jrh import Scale, Status

from jrh_parsers.cues import SUPPOSED
from jrh_parsers.finding import Finding, Grammar, label_finding, unparsable
from jrh_parsers.labels import LOOK_BEHIND, unless_denied
from jrh_parsers.visible import plain

_THING = (
    r"(?:response|answer|assistant|option|candidate|model|choice|system|output|text|summary|essay|passage|document|version|"
    r"completion|story|translation|explanation|argument|article|letter|agent|reply|solution|statement|sentence|result|side|"
    r"transcript|doc|code)"
)
_LEAD = re.compile(
    rf"(?:{_THING}(?=[\s#*\"'`:_(\[-]|$)[\s#*\"'`:_(\[-]{{0,4}}|(?:is|are|the|my|verdict|winner|preference|preferred|better|best|"
    rf"stronger|likely|most likely|probably|definitely|clearly|simply|slightly|overall|it is|it's|i'd say|i say|"
    rf"i choose|would be|should be|towards?|to|for|that|with|one|would go to|goes to|an?(?=\s(?:tie|draw|slight)))"
    rf"(?=[\s:*\"'`(\[]|$))",
    re.IGNORECASE,
)
_BETTER = (
    r"(?:\w{1,14}ly\s|the\s|a\sbit\s|a\slittle\s|much\s|far\s|even\s|overall\s){0,3}"
    r"(?:better|best|stronger|strongest|superior|preferable|preferred|winner|ahead|more\s\w{3,20})\b"
)
_WINS = r"(?:wins|outperforms|beats|surpasses|edges\sout|comes\sout\son\stop|comes\sout\sahead)\b"
_LETTER_MAY_END = re.compile(
    r"[*\"'`)\]}_]{0,4}(?:\s{0,3}(?:$|[.,;:!?/|>=<~&(\n]|-[\s-])|\s{1,3}(?:is|was|because|since|as|wins?|over|and|or|due|"
    r"given|seems|edges|by|for|better|outperforms|beats|has|provides|gives|does|doesn't|on|overall|here|with|though|while|"
    r"but|slightly|clearly|would|fails|lacks|loses|in|it)\b)",
    re.IGNORECASE,
)
_WORSE = re.compile(
    r"[*\"'`)\]]{0,4}\s{1,3}(?:(?:is|was|seems|looks|does|did|would be)\s(?:\w{1,14}ly\s|the\s|a\sbit\s|"
    r"much\s|far\s){0,3}(?:not|n't|worse|worst|weaker|inferior|less|poorer|wrong|incorrect|loser)\b|(?:isn't|wasn't|doesn't|didn't|fails|lacks|"
    r"loses|is\sless)\b)",
    re.IGNORECASE,
)
_RELATION = re.compile(r"[*\"'`)]{0,3}\s{0,2}(?P<sign>>{1,3}|<{1,3}|={1,2}|~|≻|≫|≈)\s{0,2}[*\"'`(]{0,3}")
_JOIN = re.compile(r"[*\"'`)\]]{0,3}\s{0,3}(?P<join>/|\||\bor\b|\band\b|&)\s{0,3}", re.IGNORECASE)
_TIE_SLOT = re.compile(
    r"(?:tie|tied|draw|equal|equally\s\w{2,20}|equivalent|evenly matched|even|neither|both|same|the same|no preference|"
    r"no difference|no winner|no clear winner|comparable|indistinguishable)(?![\w-])",
    re.IGNORECASE,
)
_TIE_SAID = re.compile(
    r"\b(?:it|this|that|the (?:result|verdict|outcome))(?:'s| is| was| would be| ends in)\s(?:\w{1,12}ly\s)?(?:a\s)?"
    r"(?:\w{1,12}\s)?(?:tie|draw)\b"
    r"|\b(?:call|declare|consider|rate|judge)\s(?:it|this|them)\s(?:as\s)?(?:a\s|an\s)?(?:\w{1,12}\s)?(?:tie|draw|tied|equal)\b"
    r"|\b(?:both|they|these|the two|[AB] and [AB])\s(?:\w{1,14}\s){0,2}(?:are|perform)\s"
    r"(?:\w{1,14}ly\s|about\s|of\s){0,2}(?:equal|equal quality|equally\s\w{2,20}|"
    r"equivalent|tied|evenly matched|the same|indistinguishable|comparable)\b"
    r"|\bneither\s(?:\w{1,14}\s){0,3}(?:is|was)\s(?:\w{1,14}ly\s)?(?:better|preferable|superior|stronger)\b"
    r"|\bno (?:clear )?(?:winner|preference)\b",
    re.IGNORECASE,
)
_TIE_IN_PROSE = re.compile(r"\b(?:tie|draw|neither)\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "i"})


class PairGrammar(Grammar):
    """Reads the letter of an option; the article `A` is not a letter, and a worse option is not a choice."""

    lead = _LEAD

    def __init__(self, scale: Scale, *, comparatives: bool = True) -> None:
        """Compile the options once."""
        self._scale = scale
        self._options = {plain(option): option for option in scale.options}
        self._comparatives = comparatives
        letters = "|".join(re.escape(option) for option in sorted(self._options, key=lambda o: (-len(o), o)))
        self._letter = re.compile(rf"(?<![^\W_])(?:{letters})(?!\w)(?!'\w)(?!-\w)", re.IGNORECASE)
        # Prose needs the exact letter: "a" and "b" are words and list marks.
        self._exact_letter = re.compile(self._letter.pattern)
        self._tie_label = re.compile(rf"{re.escape(plain(scale.tie))}(?!\w)", re.IGNORECASE) if scale.tie else None
        named = rf"(?:{_THING}[\s#*\"'`_-]{{0,4}})?(?<![^\W_])(?P<letter>{letters})[*\"'`)]{{0,3}}"
        self._comparison = re.compile(
            rf"{named}\s(?:(?:(?:is|was|seems|appears|looks|comes out|performs|does|reads)\s{_BETTER})|"
            rf"(?:\w{{1,14}}ly\s)?{_WINS})"
        )

    def read_at(self, text: str, at: int, *, slot: bool) -> Finding | None:
        """Read the option or tie at a place."""
        # Before letters: the label of the tie may begin with one, such as `A=B`.
        if self._tie_label is not None and (tie := self._tie_label.match(text, at)):
            return self._tie(at, tie.end())
        letter = self._letter.match(text, at)
        if letter is not None and self._is_letter(text, letter, slot=slot):
            return self._choice(text, letter)
        tie_word = _TIE_SLOT.match(text, at)
        if tie_word is not None:
            return self._tie(at, tie_word.end())
        denial = letter is None and re.match(r"not[\s*\"'`(]", text[at : at + 5], re.I)
        if denial and self._letter.search(text, at, at + 30):
            return unparsable("an option is denied, none is chosen", at, at + 3)
        return None

    def _is_letter(self, text: str, letter: re.Match[str], *, slot: bool) -> bool:
        written = letter[0]
        if written not in self._options and not slot:
            return False
        return written.casefold() not in _ARTICLES or bool(_LETTER_MAY_END.match(text, letter.end()))

    def _choice(self, text: str, letter: re.Match[str]) -> Finding:
        start, end = letter.span()
        label = self._resolve(letter[0])
        relation = _RELATION.match(text, end)
        # `A > B` states the order; `A = B` is a tie.
        if relation is not None:
            return self._relation(text, label, relation, start)
        joined = _JOIN.match(text, end)
        if joined is not None and (other := self._second(text, joined.end())):
            # `A and B are equal` is a tie, `A and B` are two choices.
            if joined["join"].casefold() in ("and", "&") and _TIE_SAID.search(text, start, other.end() + LOOK_BEHIND):
                return self._tie(start, other.end())
            if self._resolve(other[0]) != label:
                return unparsable("two options are offered", start, other.end())
        # The template asks for the worse option: "A is better" then says the opposite of the verdict.
        if not self._comparatives and self._comparison.match(text, start):
            return unparsable("says which option is better, not which one is chosen", start, end)
        # `A is worse` names A and chooses B, but says so only by implication.
        if _WORSE.match(text, end):
            return unparsable("says what is wrong with an option, not which one is chosen", start, end)
        return label_finding(label, start, end)

    def _second(self, text: str, at: int) -> re.Match[str] | None:
        lead = _LEAD.match(text, at)
        return self._letter.match(text, lead.end() if lead else at)

    def _relation(self, text: str, label: str, relation: re.Match[str], start: int) -> Finding:
        other = self._second(text, relation.end())
        if other is None:
            return label_finding(label, start, relation.start())
        if relation["sign"][0] in "=~≈":
            return self._tie(start, other.end())
        return label_finding(self._resolve(other[0]) if relation["sign"][0] == "<" else label, start, other.end())

    def _tie(self, start: int, end: int) -> Finding:
        if self._scale.tie is not None:
            return label_finding(self._scale.tie, start, end)
        detail = "prefers neither option, and the scale has no tie"
        return Finding(status=Status.ABSTAINED, start=start, end=end, detail=detail)

    def _resolve(self, written: str) -> str:
        if written in self._options:
            return self._options[written]
        return next(label for key, label in self._options.items() if key.casefold() == written.casefold())

    def scan(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Yield options and ties of a stretch; a denied one is a finding without a label."""
        places = [match.start() for match in self._exact_letter.finditer(text, start, end)]
        places += [match.start() for match in _TIE_IN_PROSE.finditer(text, start, end)]
        for place in sorted(places):
            finding = self.read_at(text, place, slot=False)
            if finding is not None:
                yield unless_denied(text, finding, "an option is denied")

    def mentions(self, text: str) -> Iterator[Finding]:
        """Yield ties that are said and, unless switched off, comparisons: `B is better than A`, `A wins`."""
        findings = [self._tie(match.start(), match.end()) for match in _TIE_SAID.finditer(text)]
        if self._comparatives:
            findings += [
                label_finding(self._resolve(match["letter"]), match.start("letter"), match.end())
                for match in self._comparison.finditer(text)
            ]
        for finding in sorted(findings, key=lambda finding: finding.start):
            before = text[max(0, finding.start - LOOK_BEHIND) : finding.start]
            # What somebody supposes or claims is no decision, and no contradiction either.
            if SUPPOSED.search(before):
                continue
            yield unparsable("an option is denied", finding.start, finding.end) if _has_doubt(before) else finding


def _has_doubt(before: str) -> bool:
    # A negation in another clause denies something else.
    clause = re.split(r"[.!?;\n,]", before)[-1]
    return bool(re.search(r"\b(?:not|never|neither|cannot)\b|n't\b", clause, re.IGNORECASE))
