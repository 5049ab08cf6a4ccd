"""Check exact rules about two texts: their numbers, names, negations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from attrs import frozen
from jrh import Draft, Item, Json, Validation
from jrh_authoring import other_language, word_count

from jrh_validators.drafts import text_changes
from jrh_validators.options import RulesOptions

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

    def names_absent_from(self, other: Names) -> list[str]:
        """Return the certain names that are never capitalised in another text, in alphabetical order."""
        # Certain in one text and capitalised anywhere in the other: a name that moves to the start of a sentence is not
        # lost.
        return sorted(self.certain - other.capitalised)


def _begins(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    gap = text[before.end() : word.start()]
    if _BEGINS.search(gap) is None:
        return False
    last = before.group()
    # `Mr.` and initials end no sentence, unless a line ends there.
    abbreviated = gap.startswith(".") and (len(last) == 1 or last.lower() in _ABBREVIATES)
    return not abbreviated or "\n" in gap or "\r" in gap


_ONES: Final = "one two three four five six seven eight nine"
_TEENS: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL: Final = (
    {"zero": 0}
    | {word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split(), start=1)}
    | {word: value * 10 for value, word in enumerate(_TENS.split(), start=2)}
)
_POWERS: Final = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


def _any_of(words: str) -> str:
    # Longer words first, so that `six` does not end the search in `sixteen`.
    return f"(?:{'|'.join(sorted(words.split(), key=len, reverse=True))})"


_BELOW_100: Final = f"(?:{_any_of(_TENS)}(?:[ -]{_any_of(_ONES)})?|{_any_of(f'zero {_ONES} {_TEENS}')})"
_BELOW_1000: Final = f"(?:(?:{_BELOW_100}[ -])?hundred(?:[ -](?:and )?{_BELOW_100})?|{_BELOW_100})"
_POWER: Final = _any_of(" ".join(_POWERS))
_WORDS: Final = f"(?:(?:{_BELOW_1000}[ -])?{_POWER} (?:and )?)*(?:{_BELOW_1000}(?:[ -]{_POWER})?|{_POWER})"
_DIGITS: Final = r"(?:(?<![^\s(\[])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_NUMBER: Final = re.compile(rf"(?P<digits>{_DIGITS})|\b(?P<words>{_WORDS})\b", re.IGNORECASE)


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text by value.

    A number is a run of digits, with commas between groups of three and one decimal point (`1,000.50` is 1000.5), and
    a minus sign directly before it where a space, a bracket or nothing is before that; or an English number in
    words (`one hundred and two` is 102). `one` alone is none: it is a pronoun more often than a number. Signs such as ½
    and words such as `first`, `half` and `dozen` are none either.
    """
    return Counter(_values(text))


def _values(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        words = match["words"]
        if words is None:
            # A float would make one number of two that differ beyond its 15 digits.
            yield _plain(Decimal(match["digits"].replace(",", "").replace("\u2212", "-")))
        elif words.lower() != "one":
            yield _plain(Decimal(_parse_number(words.lower())))


def _plain(value: Decimal) -> str:
    written = format(value, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def _parse_number(words: str) -> int:
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SMALL:
            group += _SMALL[word]
        elif word == "hundred":
            # `hundred` alone is one hundred.
            group = max(group, 1) * 100
        elif word in _POWERS:
            total += max(group, 1) * _POWERS[word]
            group = 0
    return total + group


_NEGATION: Final = re.compile(
    r"""\b(?:
      not | no | never | none | nobody | nothing | nowhere | neither | nor | cannot | without | hardly
    | scarcely | barely
    | [a-z]+n['\u2019]t
    | (?:ai|are|ca|could|did|does|do|had|has|have|is|must|need|should|was|were|wo|would)nt
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def negations(text: str) -> int:
    """Count the negations of a text.

    Counted: not, no, never, none, nobody, nothing, nowhere, neither, nor, cannot, without, hardly, scarcely, barely,
    and auxiliaries that end in n't, also without the apostrophe (dont, isnt). Prefixes (impossible) are none.
    """
    return sum(1 for _ in _NEGATION.finditer(text))


@frozen(kw_only=True)
class Breach:
    """A violated rule."""

    reason: str
    details: Mapping[str, Json]


def facts_kept() -> Rules:
    """Build the validator `facts-kept`: all rules, but numbers and negations may be repeated."""
    return Rules(RulesOptions(repeats=True))


@frozen
class Rules:
    """Accepts a draft if every changed text keeps what the options name; the first violated rule is the reason."""

    options: RulesOptions

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Compare every field the draft changes with the item's. Pure."""
        texts = text_changes(item, draft)
        if texts is None:
            return Validation(accepted=False, reason="a changed field is not text")
        for name, (original, changed) in texts.items():
            breach = self.breach(original, changed)
            if breach is not None:
                details = {"field": name, **breach.details}
                return Validation(accepted=False, reason=breach.reason, details=details)
        return Validation(accepted=True)

    def breach(self, original: str, changed: str) -> Breach | None:
        """Return the first violated rule of the options, or None."""
        options = self.options
        rules = (
            (options.words, _words),
            (options.numbers, _numbers_or_more if options.repeats else _numbers),
            (options.names, _names),
            (options.negations, _negations_or_more if options.repeats else _negations),
            (options.language, _language),
        )
        for wanted, rule in rules:
            breach = rule(original, changed) if wanted else None
            if breach is not None:
                return breach
        return None if options.length_ratio is None else _length(original, changed, *options.length_ratio)


def _words(original: str, changed: str) -> Breach | None:
    if original.split() == changed.split():
        return None
    return Breach(reason="the words changed", details={})


def _numbers(original: str, changed: str) -> Breach | None:
    return _compare_counts(numbers(original), numbers(changed))


def _numbers_or_more(original: str, changed: str) -> Breach | None:
    # As sets: a longer text may name a number again, but not lose or invent one.
    return _compare_counts(Counter(set(numbers(original))), Counter(set(numbers(changed))))


def _compare_counts(before: Counter[str], after: Counter[str]) -> Breach | None:
    if before == after:
        return None
    lost, added = sorted((before - after).elements()), sorted((after - before).elements())
    return Breach(reason="the numbers changed", details={"lost": lost, "added": added})


def _names(original: str, changed: str) -> Breach | None:
    before, after = Names.of(original), Names.of(changed)
    lost, added = before.names_absent_from(after), after.names_absent_from(before)
    if not lost and not added:
        return None
    return Breach(reason="the names changed", details={"lost": lost, "added": added})


def _negations(original: str, changed: str) -> Breach | None:
    before, after = negations(original), negations(changed)
    return None if before == after else _other_negations(before, after)


def _negations_or_more(original: str, changed: str) -> Breach | None:
    before, after = negations(original), negations(changed)
    # More negations are fine where there was one, as in a repeated statement; a first one changes it.
    return None if before <= after and bool(before) == bool(after) else _other_negations(before, after)


def _other_negations(before: int, after: int) -> Breach:
    return Breach(reason="the negations changed", details={"before": before, "after": after})


def _language(original: str, changed: str) -> Breach | None:
    return Breach(reason="another language", details={}) if other_language(original, changed) else None


def _length(original: str, changed: str, low: float, high: float) -> Breach | None:
    before, after = word_count(original), word_count(changed)
    ratio = after / before if before else float(after == before)
    # No ratio exists to an empty text.
    if not before and after:
        return Breach(reason="longer than allowed", details={"words": [before, after]})
    if low <= ratio <= high:
        return None
    reason = "shorter than allowed" if ratio < low else "longer than allowed"
    return Breach(reason=reason, details={"words": [before, after], "ratio": ratio})
