"""The perturbers of the criterion's text: stricter, more lenient, negated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Expectation, Item, NotAbove, NotBelow, Polarity, Same, Skip

from jrh_criteria.asked import NO_CRITERIA, asking, call_of, own_of, poles
from jrh_criteria.options import NegatedOptions, WordingOptions

NEGATED: Final = "It is not the case that the following holds: {text}"
NOT_TWO: Final = "only a criterion that is met or not met can be negated"


@frozen
class OtherWording:
    """Add a sentence to every criterion of the call that makes it stricter, or more lenient."""

    options: WordingOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the stricter wording and the more lenient one."""
        return list(self._drafts(item)) if item.criterion else [NO_CRITERIA]

    def _drafts(self, item: Item) -> Iterator[Draft]:
        for variant, text in (("strict", self.options.strict.content), ("lenient", self.options.lenient.content)):
            if text.strip():
                call = {name: f"{old.rstrip()} {text.strip()}" for name, old in call_of(item).items()}
                yield Draft(
                    variant=variant,
                    fields=asking(item, call),
                    expectation=self._expected(item, variant),
                    repeats=self.options.repeats,
                )

    def _expected(self, item: Item, variant: str) -> Expectation | None:
        """Say what a reliable judge does: levels go one way, and what is not met stays so if asked more strictly.

        Of labels without an order nothing is expected where a doubt may decide.
        """
        if self.context.task.scale.ordered:
            return NotAbove() if variant == "strict" else NotBelow()
        two = poles(self.context.task)
        settled = two is not None and item.gold == two[1 if variant == "strict" else 0]
        return Same() if settled else None


@frozen
class Negated:
    """Negate the item's criterion, and no other of the call; the opposite label then means the same."""

    options: NegatedOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the negated criterion."""
        two = poles(self.context.task)
        if item.criterion is None:
            return [NO_CRITERIA]
        if two is None:
            return [Skip(reason=NOT_TWO)]
        own, text = own_of(item)
        met, unmet = two
        return [
            Draft(
                variant="negated",
                fields=asking(item, {**call_of(item), own: NEGATED.format(text=text)}),
                label_map={**self.context.task.scale.identity_map(), met: unmet, unmet: met},
                polarity=Polarity.INVERTED,
                repeats=self.options.repeats,
            )
        ]
