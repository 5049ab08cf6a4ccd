"""The rule-made paraphrase: swaps from closed lists, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import frozen
from jrh import Draft, Item, Json, Same, Skip
from jrh.authoring import Checks, Edit, WrittenBy, apply_edits, edits_apart, edits_at, safe_edits, texts_of
from jrh.hashing import shuffled

from jrh_paraphrase.options import Rewrite
from jrh_paraphrase.swaps import SWAPS

NO_PLACE = "no phrase that a rule can safely swap"
"""Why an item is skipped."""


def swaps(text: str, kinds: Collection[Rewrite]) -> list[Edit]:
    """Return the swaps of these kinds that are safe in the text, in text order, none overlapping another.

    Nothing is swapped inside code, tables, quotations, addresses and tags. Pure.
    """
    wanted = {kind.value for kind in kinds}
    return safe_edits(text, (swap for swap in SWAPS if swap.kind in wanted))


@frozen(kw_only=True)
class RuleParaphrase:
    """Makes one draft per strength; an item without a safe swap is skipped."""

    fields: tuple[str, ...]
    rewrites: tuple[Rewrite, ...]
    strengths: tuple[float, ...]
    checks: Checks
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per strength, in the order of the options; of a pair, both responses change where they can."""
        texts = texts_of(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        possible = {name: swaps(text, self.rewrites) for name, text in texts.items()}
        possible = {name: edits for name, edits in possible.items() if edits}
        if not possible:
            return [Skip(reason=NO_PLACE, variant=WrittenBy.RULES.value)]
        outcomes: list[Draft | Skip] = []
        made: list[Mapping[str, Json]] = []
        for strength in self.strengths:
            draft = self._draft(item, texts, possible, strength)
            if draft.fields in made:
                outcomes.append(Skip(reason="too few swaps to tell this strength from another", variant=draft.variant))
                continue
            made.append(draft.fields)
            outcomes.append(await self.checks.checked(item, draft))
        return outcomes

    def _draft(
        self, item: Item, texts: Mapping[str, str], possible: Mapping[str, Sequence[Edit]], strength: float
    ) -> Draft:
        fields: dict[str, Json] = {}
        details: dict[str, Json] = {}
        for name, edits in possible.items():
            # The strength is no part of the seed: a weaker draft makes some of the swaps a stronger one makes.
            seed = self.seed(item.id, name)
            picked = edits_apart(shuffled(edits, seed)[: edits_at(strength, len(edits))])
            fields[name] = apply_edits(texts[name], picked)
            details[name] = {
                "edits": [edit.details() for edit in picked],
                "places_possible": len(edits),
                "seed": seed,
            }
        return Draft(
            variant=WrittenBy.RULES.value,
            strength=strength,
            fields=fields,
            expectation=Same(),
            details={"fields": details},
        )
