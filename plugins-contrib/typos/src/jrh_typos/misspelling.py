"""Misspell a share of the words of a text by the tables of `confusions.toml`."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Json, Same, Skip
from jrh_authoring import Checks, Edit, PlannedEdits, WordingRule, edits_at, item_texts, phrase_rules, safe_edits

from jrh_typos.options import MisspellingOptions, Slip, Where

# Four letters or more, so that `no` and `not` stay. Capitals inside a word, digits and addresses are no prose: an error
# there is read as another name.
_WORD: Final = re.compile(r"(?<![\w'\u2019@/.\\-])(?P<x>[A-Za-z][a-z]{3,})(?![\w'\u2019@/\\-]|\.\w|:/)")


def build(options: MisspellingOptions, context: BuildContext) -> Misspelling:
    """Build the perturber for a task."""
    judged = options.fields.of(context.task, "misspelling")
    fields = judged if options.where is Where.RESPONSE else ("request",)
    return Misspelling(options=options, fields=fields, seed=context.seed, checks=Checks.of((), context))


@frozen(kw_only=True)
class Misspelling:
    """Misspells a share of the words deterministically; skips a text without a word that it can misspell."""

    options: MisspellingOptions
    fields: tuple[str, ...]
    """The fields that change."""
    seed: Callable[..., int]
    """Derives a seed from what it is for."""
    checks: Checks
    """Skips a draft with the texts of an earlier one."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for each way and rate, in the order of the options."""
        texts = item_texts(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        outcomes: list[Draft | Skip] = []
        for slip in self.options.variants:
            drafts = self._outcomes(item.id, texts, slip)
            outcomes += await self.checks.check_drafts(item, drafts, alike="too few words: this rate equals another")
        return outcomes

    def _outcomes(self, item: str, texts: Mapping[str, str], slip: Slip) -> Iterator[Draft | Skip]:
        plans = {name: _plan(text, slip, self.seed(item, slip.value, name)) for name, text in texts.items()}
        # Misspelling one response of a pair alone would favour the other: all change, or none does.
        if not all(plan.edits for plan in plans.values()):
            yield Skip(reason="no word that can be misspelt in this way", variant=slip.value)
            return
        for rate in self.options.strengths:
            changed = {name: plan.apply(edits_at(rate, len(plan.edits))) for name, plan in plans.items()}
            fields: dict[str, Json] = {name: text for name, (text, _) in changed.items()}
            details: dict[str, Json] = {name: made for name, (_, made) in changed.items()}
            yield Draft(variant=slip.value, strength=rate, fields=fields, expectation=Same(), details=details)


def _plan(text: str, slip: Slip, seed: int) -> PlannedEdits:
    known = {match["x"].lower() for match in _WORD.finditer(text)}

    def fits(edit: Edit) -> bool:
        # Another word of the text would be another statement. Homophones are other words, and look like errors.
        other = edit.new.lower() not in known - {edit.old.lower()}
        return edit.new != edit.old and (other or slip is Slip.HOMOPHONES)

    return PlannedEdits.of(text, safe_edits(text, _rules(slip, seed), fits=fits), seed)


def _rules(slip: Slip, seed: int) -> Sequence[WordingRule]:
    if slip is Slip.HOMOPHONES:
        return _homophones()
    if slip is Slip.CASE:
        return (WordingRule(kind=slip.value, pattern=_WORD, new=lambda word, _: word.swapcase()),)
    table: Mapping[str, Sequence[str]] = _tables()[slip.value]

    def new(word: str, number: int) -> str:
        # The first letter stays, and with it the capital. A seed per word: no word depends on the others.
        places = [(at, old) for old in table for at in range(1, len(word)) if word.startswith(old, at)]
        if not places:
            return word
        draws = random.Random(f"{seed}/{number}")  # noqa: S311 - a seeded choice of letters, no secret
        at, old = draws.choice(places)
        return word[:at] + draws.choice(table[old]) + word[at + len(old) :]

    return (WordingRule(kind=slip.value, pattern=_WORD, new=new),)


@cache
def _homophones() -> Sequence[WordingRule]:
    return phrase_rules(Slip.HOMOPHONES.value, [{"to": _tables()["homophones"], "both_ways": True}])


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads((files("jrh_typos") / "confusions.toml").read_text(encoding="utf-8"))
