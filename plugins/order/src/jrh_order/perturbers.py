"""The perturbers `option-order` (both orders) and `identical-options` (the same response as every option)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen
from jrh import Draft, Equals, Item, Same, Skip, Task

from jrh_order.options import Design, IdenticalOptions, OrderOptions

NO_OPTION = "the item lacks one of the options"
ALIKE = "the options have the same text, so their order makes no difference"


@frozen(kw_only=True)
class OrderPerturber:
    """Show the options of a pair in both orders, and n options in n orders.

    The orders are the rows of a cyclic Latin square: every option appears once in every position.
    """

    options: OrderOptions
    task: Task
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft per order."""
        letters = self.task.scale.options
        if any(field_of(letter) not in item.fields for letter in letters):
            return [Skip(reason=NO_OPTION)]
        first = item.fields[field_of(letters[0])]
        if all(item.fields[field_of(letter)] == first for letter in letters):
            return [Skip(reason=ALIKE)]
        return [self._ordered(item, order, repeats) for order, repeats in self._orders(item)]

    def _orders(self, item: Item) -> Iterator[tuple[Sequence[str], int]]:
        """Yield the orders for an item, each with its number of repeats."""
        letters = self.task.scale.options
        rotations = [letters[start:] + letters[:start] for start in range(len(letters))]
        if self.options.design is Design.CROSSED:
            yield from ((order, self.options.repeats) for order in rotations)
            return
        chance = random.Random(self.seed("option-order", item.id))  # noqa: S311 - a design, not a secret
        drawn = Counter(chance.randrange(len(rotations)) for _ in range(self.options.repeats))
        yield from ((rotations[place], drawn[place]) for place in sorted(drawn))

    def _ordered(self, item: Item, order: Sequence[str], repeats: int) -> Draft:
        letters = self.task.scale.options
        name = "".join(order)
        shown = dict(zip(letters, order, strict=True))
        return Draft(
            variant=name,
            option_order=name,
            fields={
                field_of(place): item.fields[field_of(option)] for place, option in shown.items() if place != option
            },
            label_map={**shown, **self._tie()},
            expectation=Same(),
            repeats=repeats,
        )

    def _tie(self) -> dict[str, str]:
        tie = self.task.scale.tie
        return {} if tie is None else {tie: tie}


@frozen(kw_only=True)
class IdenticalPerturber:
    """Show the same response as every option, so that only the position can decide."""

    options: IdenticalOptions
    task: Task

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft per response, shown as every option."""
        letters = self.task.scale.options
        if any(field_of(letter) not in item.fields for letter in letters):
            return [Skip(reason=NO_OPTION)]
        return [self._identical(item, letter) for letter in letters]

    def _identical(self, item: Item, letter: str) -> Draft:
        text = item.fields[field_of(letter)]
        tie = self.task.scale.tie
        return Draft(
            variant=f"{letter}{letter}",
            fields={field_of(place): text for place in self.task.scale.options if place != letter},
            # Without a tie label there is no right answer; the metric counts the positions the judge picks.
            expectation=Equals(label=tie) if tie is not None else None,
            repeats=self.options.repeats,
        )


def field_of(letter: str) -> str:
    """Return the field that holds an option: `response_a` for A."""
    return f"response_{letter.lower()}"
