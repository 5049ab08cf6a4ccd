"""The rule-made texts: shorter by closed lists of what can go, longer by closed lists of what states nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import Draft, Item, Json, Same, Skip
from jrh.authoring import (
    Checks,
    Edit,
    WrittenBy,
    apply_edits,
    edits_apart,
    edits_at,
    length_ratio,
    safe_edits,
    texts_of,
)
from jrh.hashing import shuffled

from jrh_verbosity.length import breach
from jrh_verbosity.lengthening import LENGTHENING
from jrh_verbosity.options import Bounds, Variant, VerbosityOptions
from jrh_verbosity.shortening import SHORTENING

NO_PLACE: Final = {
    Variant.SHORT: "no word that a rule can safely drop",
    Variant.LONG: "no sentence that a rule can safely lengthen",
}
"""Why an item is skipped."""
_RULES: Final = {Variant.SHORT: SHORTENING, Variant.LONG: LENGTHENING}


def places(text: str, variant: Variant) -> list[Edit]:
    """Return what the rules can change in a direction, in text order, none overlapping another.

    Code, tables, lists, headings, quotations, addresses and tags are left alone. Pure.
    """
    return safe_edits(text, _RULES[variant], lists=True)


@frozen(kw_only=True)
class _Plan:
    """What can be done to one text."""

    text: str
    edits: Sequence[Edit]
    """In the order in which they are taken."""
    seed: int

    def changed(self, strength: float, variant: Variant, bounds: Bounds) -> tuple[str, dict[str, Json], str]:
        """Return the new text, what was done, and how its length breaks the bounds, if it does."""
        wanted = edits_at(strength, len(self.edits))
        # Every edit changes the length in the same direction. Too much is taken back; too little cannot be helped.
        allowed = bisect_left(range(1, wanted + 1), True, key=lambda count: self._too_much(count, variant, bounds))
        picked = self.edits[: max(1, allowed)]
        text = apply_edits(self.text, picked)
        achieved = length_ratio(self.text, text)
        details: dict[str, Json] = {
            "edits": [edit.details() for edit in edits_apart(picked)],
            "places_possible": len(self.edits),
            "seed": self.seed,
            "length_ratio": achieved,
        }
        return text, details, breach(achieved, variant, bounds)

    def _too_much(self, count: int, variant: Variant, bounds: Bounds) -> bool:
        achieved = length_ratio(self.text, apply_edits(self.text, self.edits[:count]))
        return achieved < bounds[0] if variant is Variant.SHORT else achieved > bounds[1]


@frozen(kw_only=True)
class RuleVerbosity:
    """Makes a draft per variant and strength; what the rules cannot treat is skipped."""

    options: VerbosityOptions
    fields: tuple[str, ...]
    checks: Checks
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the drafts in the order of the options; of a pair, all chosen responses change, or none does."""
        texts = texts_of(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        outcomes: list[Draft | Skip] = []
        for variant in self.options.variants:
            made: list[Mapping[str, Json]] = []
            for outcome in self._outcomes(item, texts, variant):
                if isinstance(outcome, Skip):
                    outcomes.append(outcome)
                elif outcome.fields in made:
                    outcomes.append(_skip("too few places to tell this strength from another", variant))
                else:
                    made.append(outcome.fields)
                    outcomes.append(await self.checks.checked(item, outcome))
        return outcomes

    def _outcomes(self, item: Item, texts: Mapping[str, str], variant: Variant) -> Iterator[Draft | Skip]:
        plans: dict[str, _Plan] = {}
        for name, text in texts.items():
            # The strength is no part of the seed: a weaker draft changes some of the places a stronger one changes.
            seed = self.seed(item.id, variant.value, name)
            plans[name] = _Plan(text=text, edits=shuffled(places(text, variant), seed), seed=seed)
        if not all(plan.edits for plan in plans.values()):
            yield _skip(NO_PLACE[variant], variant)
            return
        for strength in self.options.strengths:
            yield self._outcome(plans, variant, strength)

    def _outcome(self, plans: Mapping[str, _Plan], variant: Variant, strength: float) -> Draft | Skip:
        bounds = self.options.bounds(WrittenBy.RULES, variant)
        fields: dict[str, Json] = {}
        details: dict[str, Json] = {}
        for name, plan in plans.items():
            fields[name], details[name], broken = plan.changed(strength, variant, bounds)
            if broken:
                return _skip(broken, variant, {"by": WrittenBy.RULES.value, "fields": details})
        return Draft(
            variant=variant.value,
            strength=strength,
            fields=fields,
            expectation=Same(),
            details={"by": WrittenBy.RULES.value, "fields": details},
        )


def _skip(reason: str, variant: Variant, details: Mapping[str, Json] | None = None) -> Skip:
    return Skip(reason=reason, variant=variant.value, details=details or {})
