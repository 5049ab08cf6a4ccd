"""Draft the unchanged question with another form of the reply: text, JSON, a tool; reasoning; a token limit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from attrs import frozen
from jrh import Draft, Item, Same, Sampling, Skip

from jrh_prompts.options import OutputModeOptions


@frozen
class OutputModePerturber:
    """Drafts the question once for every combination of output mode, reasoning effort and longest reply."""

    options: OutputModeOptions

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 -- every item is asked as it is
        """Return one draft per combination, in the order of the options."""
        # None, like the empty mode, is the judge's own.
        efforts, limits = self.options.reasoning or (None,), self.options.max_tokens or (None,)
        return [self._draft(*levels) for levels in product(self.options.modes or ("",), efforts, limits)]

    def _draft(self, mode: str, effort: str | None, limit: int | None) -> Draft:
        reasoning = "" if effort is None else f"reasoning={effort}"
        length = "" if limit is None else f"max_tokens={limit}"
        return Draft(
            variant=", ".join(part for part in (mode, reasoning, length) if part),
            expectation=Same(),
            output=mode,
            sampling=Sampling(reasoning_effort=effort, max_tokens=limit),
            repeats=self.options.repeats,
        )
