"""The perturbers `option-order` (other orders) and `identical-options` (the same response as every option)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import factorial

from attrs import frozen
from jrh import BuildContext, Draft, Equals, Item, Same, Skip, Task

from jrh_order.options import IdenticalOptions, OrderOptions

NO_OPTION = "the item lacks one of the options"
ALIKE = "the options have the same text, so their order makes no difference"


@frozen(kw_only=True)
class OrderPerturber:
    """Show the options in other orders than the item's own: a pair swapped, k options rotated and reversed.

    The item's own order is not asked about: it is the reference condition, which the metrics compare with. Together
    with it the rotations are a cyclic Latin square: every option appears once in every place.
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
        # Only the same text everywhere: with one that differs, its place can be told.
        if all(item.fields[field_of(letter)] == first for letter in letters):
            return [Skip(reason=ALIKE)]
        return [self._build_draft(item, order) for order in self._orders(item)]

    def _orders(self, item: Item) -> Sequence[tuple[str, ...]]:
        """Return the orders for an item, without its own."""
        options = self.task.scale.options
        if self.options.permutations is not None:
            return self._draw_orders(item, options, self.options.permutations)
        # Of two options the only rotation is the swap, which is the reverse as well; of three the reverse is new.
        rotations = [options[start:] + options[:start] for start in range(1, len(options))]
        return list(dict.fromkeys([*rotations, options[::-1]]))

    def _draw_orders(self, item: Item, own: tuple[str, ...], number: int) -> Sequence[tuple[str, ...]]:
        chance = random.Random(self.seed("option-order", item.id))  # noqa: S311 - a design, not a secret
        drawn: dict[tuple[str, ...], None] = {}
        # Not more than there are orders besides the item's own, or the loop would never end.
        while len(drawn) < min(number, factorial(len(own)) - 1):
            order = tuple(chance.sample(own, len(own)))
            if order != own:
                drawn.setdefault(order)
        return list(drawn)

    def _build_draft(self, item: Item, order: Sequence[str]) -> Draft:
        letters, tie = self.task.scale.options, self.task.scale.tie
        name = "".join(order)
        # Place -> option in it: the fields move, and the map takes the verdict back.
        shown = dict(zip(letters, order, strict=True))
        return Draft(
            variant=name,
            option_order=name,
            fields={
                field_of(place): item.fields[field_of(option)] for place, option in shown.items() if place != option
            },
            # A tie means a tie in any order.
            label_map=shown if tie is None else {**shown, tie: tie},
            expectation=Same(),
            repeats=self.options.repeats,
        )


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


def option_order(options: OrderOptions, context: BuildContext) -> OrderPerturber:
    """Build the perturber `option-order`."""
    return OrderPerturber(options=options, task=context.task, seed=context.seed)


def identical_options(options: IdenticalOptions, context: BuildContext) -> IdenticalPerturber:
    """Build the perturber `identical-options`."""
    return IdenticalPerturber(options=options, task=context.task)
