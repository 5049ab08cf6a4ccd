"""Check exact rules about two texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from attrs import frozen
from jrh import Draft, Item, Json, Validation
from jrh_authoring import other_language

from jrh_validators.fields import changed_texts
from jrh_validators.names import Names
from jrh_validators.negations import negations
from jrh_validators.numbers import numbers
from jrh_validators.options import RulesOptions
from jrh_validators.words import word_count


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
        texts = changed_texts(item, draft)
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
    return _compared(numbers(original), numbers(changed))


def _numbers_or_more(original: str, changed: str) -> Breach | None:
    return _compared(Counter(set(numbers(original))), Counter(set(numbers(changed))))


def _compared(before: Counter[str], after: Counter[str]) -> Breach | None:
    if before == after:
        return None
    lost, added = sorted((before - after).elements()), sorted((after - before).elements())
    return Breach(reason="the numbers changed", details={"lost": lost, "added": added})


def _names(original: str, changed: str) -> Breach | None:
    before, after = Names.of(original), Names.of(changed)
    lost, added = before.missing_in(after), after.missing_in(before)
    if not lost and not added:
        return None
    return Breach(reason="the names changed", details={"lost": lost, "added": added})


def _negations(original: str, changed: str) -> Breach | None:
    before, after = negations(original), negations(changed)
    return None if before == after else _other_negations(before, after)


def _negations_or_more(original: str, changed: str) -> Breach | None:
    before, after = negations(original), negations(changed)
    return None if before <= after and bool(before) == bool(after) else _other_negations(before, after)


def _other_negations(before: int, after: int) -> Breach:
    return Breach(reason="the negations changed", details={"before": before, "after": after})


def _language(original: str, changed: str) -> Breach | None:
    return Breach(reason="another language", details={}) if other_language(original, changed) else None


def _length(original: str, changed: str, low: float, high: float) -> Breach | None:
    before, after = word_count(original), word_count(changed)
    ratio = after / before if before else float(after == before)
    if not before and after:
        return Breach(reason="longer than allowed", details={"words": [before, after]})
    if low <= ratio <= high:
        return None
    reason = "shorter than allowed" if ratio < low else "longer than allowed"
    return Breach(reason=reason, details={"words": [before, after], "ratio": ratio})
