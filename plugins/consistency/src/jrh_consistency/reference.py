"""The perturber `reference-guided`: the same item with its reference answer in the rubric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Item, Same, Skip

from jrh_consistency.options import ReferenceOptions

NONE: Final = "the item has no reference answer"


@frozen
class ReferenceGuided:
    """Add the reference answer of an item to the rubric; the judged text stays."""

    options: ReferenceOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft: the reference condition is the question without the answer."""
        value = item.metadata.get(self.options.column, item.fields.get(self.options.column))
        # A number may be an answer; true, a list or an object is no text to show.
        reference = "" if value is None or isinstance(value, bool | list | dict) else str(value).strip()
        if not reference:
            return [Skip(reason=NONE)]
        task = self.context.task
        rubric = "\n\n".join(part for part in (task.rubric.rstrip(), f"{self.options.intro}\n{reference}") if part)
        return [
            Draft(
                variant="with-reference",
                task=evolve(task, rubric=rubric),
                expectation=Same(),
                repeats=self.options.repeats,
            )
        ]
