"""The perturbers of the call: other orders, other sizes, and a criterion that does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Skip
from jrh.hashing import shuffled

from jrh_criteria.asked import NO_CRITERIA, asking, call_of, own_of, rubric_of
from jrh_criteria.options import FillerOptions, OrderOptions, PerCallOptions

ALONE: Final = "one criterion in the call has no order"
AS_IT_IS: Final = "the task asks so many per call already"
SAME_ID: Final = "a criterion of the rubric has the id of the irrelevant one"
EXTRA: Final = "irrelevant"
"""Id of the criterion that is added."""


@frozen
class OtherOrder:
    """Show the criteria of a call in another order, the same for all criteria of a response."""

    options: OrderOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the reversed order and the random ones."""
        call = list(call_of(item).items())
        if item.criterion is None:
            return [NO_CRITERIA]
        if len(call) == 1:
            return [Skip(reason=ALONE)]
        orders = {"reversed": call[::-1]}
        for number in range(1, self.options.shuffles + 1):
            orders[f"shuffled-{number}"] = shuffled(call, self.context.seed(item.id, number))
        return [
            Draft(variant=name, fields=asking(item, dict(order)), repeats=self.options.repeats)
            for name, order in orders.items()
        ]


@frozen
class OtherSize:
    """Ask more or fewer criteria in one call."""

    options: PerCallOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for every size that is not the task's."""
        if item.criterion is None:
            return [NO_CRITERIA]
        return [self._sized(item, size) for size in self.options.sizes]

    def _sized(self, item: Item, size: int | str) -> Draft | Skip:
        own, _ = own_of(item)
        rubric = [(each.id, each.text) for each in rubric_of(item, self.context.task)]
        length = len(rubric) if size == "all" else int(size)
        place = [name for name, _ in rubric].index(own)
        call = dict(rubric[place - place % length :][:length])
        variant = "all-per-call" if size == "all" else f"{size}-per-call"
        if call == call_of(item):
            return Skip(reason=AS_IT_IS, variant=variant)
        return Draft(variant=variant, fields=asking(item, call), repeats=self.options.repeats)


@frozen
class Filler:
    """Add a criterion that does not matter to the call."""

    options: FillerOptions

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the call with the criterion first, and with it last."""
        if item.criterion is None:
            return [NO_CRITERIA]
        call, extra = call_of(item), {EXTRA: self.options.text.content}
        if EXTRA in call:
            return [Skip(reason=SAME_ID)]
        return [
            Draft(variant=name, fields=asking(item, fields), repeats=self.options.repeats)
            for name, fields in (("first", extra | call), ("last", call | extra))
        ]
