"""Draft the unchanged question with another form of the reply: text, JSON, a schema, a tool; reasoning or none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from attrs import frozen
from jrh import Draft, Item, Same, Sampling, Skip

from jrh_prompts.options import OutputModeOptions


@frozen
class OutputModePerturber:
    """Drafts the question once for every combination of output mode and reasoning effort."""

    options: OutputModeOptions

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 -- every item is asked as it is
        """Return one draft per combination, in the order of the options."""
        # None, like the empty mode, is the judge's own.
        efforts = self.options.reasoning or (None,)
        return [self._draft(mode, effort) for mode, effort in product(self.options.modes or ("",), efforts)]

    def _draft(self, mode: str, effort: str | None) -> Draft:
        reasoning = "" if effort is None else f"reasoning={effort}"
        return Draft(
            variant=", ".join(part for part in (mode, reasoning) if part),
            expectation=Same(),
            output=mode,
            sampling=Sampling(reasoning_effort=effort),
            repeats=self.options.repeats,
        )
