"""The perturber `halo`: one criterion's evidence is cut out of the response; do the verdicts on others move?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Equals, Expectation, Item, Same, Skip

from jrh_criteria.asked import NO_CRITERIA, own_of, poles, rubric_of
from jrh_criteria.options import HaloOptions

NO_EVIDENCE: Final = "no criterion of the response has its evidence in the text"
SHARED: Final = "the criterion's own evidence overlaps the text to cut"
ALREADY: Final = "the criterion is already unmet"
NOT_TEXT: Final = "the judged field is not text"


@frozen
class Halo:
    """Cut the evidence of one criterion out of each response, chosen by the seed."""

    options: HaloOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the response without the evidence: `own` for the criterion it belongs to, `others` for the rest."""
        (name,) = self.context.task.judged_fields[:1]
        text = item.fields.get(name)
        if item.criterion is None:
            return [NO_CRITERIA]
        if not isinstance(text, str):
            return [Skip(reason=NOT_TEXT)]
        rubric = rubric_of(item, self.context.task)
        found = {each.id: quote for each in rubric if (quote := self._quote(item, each.id, text))}
        if not found:
            return [Skip(reason=NO_EVIDENCE)]
        ids = sorted(found)
        # The id of the item is that of the response here, so all its criteria lose the same evidence.
        cut = ids[self.context.seed(item.id) % len(ids)]
        return [self._draft(item, name, text, cut, found)]

    def _draft(self, item: Item, name: str, text: str, cut: str, found: dict[str, str]) -> Draft | Skip:
        own, _ = own_of(item)
        variant = "own" if own == cut else "others"
        expectation = self._own_verdict(item) if own == cut else Same()
        if isinstance(expectation, Skip):
            return expectation
        shorter = text.replace(found[cut], " ")
        if own != cut and own in found and found[own] not in shorter:
            return Skip(reason=SHARED, variant=variant)
        return Draft(
            variant=variant,
            fields={name: shorter},
            expectation=expectation,
            repeats=self.options.repeats,
            details={"cut": cut},
        )

    def _own_verdict(self, item: Item) -> Expectation | Skip | None:
        two = poles(self.context.task)
        if two is None or item.gold is None:
            return None
        return Equals(label=two[1]) if item.gold == two[0] else Skip(reason=ALREADY, variant="own")

    def _quote(self, item: Item, criterion: str, text: str) -> str:
        column = self.options.evidence.replace("{id}", criterion)
        quote = item.metadata.get(column, item.fields.get(column))
        return quote if isinstance(quote, str) and quote.strip() and quote in text else ""
