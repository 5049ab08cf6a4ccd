"""Draft the unchanged question, to be asked several times."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from jrh import Draft, Item, Same, Sampling, Skip

from jrh_stochastic.options import StochasticOptions


@frozen
class StochasticPerturber:
    """Drafts the unchanged question, to be asked `repeats` times at every temperature."""

    options: StochasticOptions

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 -- every item is asked as it is
        """Return one draft per temperature, in the order of the options, or one at the judge's own temperature."""
        if not self.options.temperatures:
            return [self._draft("", None)]
        return [self._draft(f"t={temperature!r}", temperature) for temperature in self.options.temperatures]

    def _draft(self, variant: str, temperature: float | None) -> Draft:
        return Draft(
            variant=variant,
            expectation=Same(),
            sampling=Sampling(temperature=temperature),
            repeats=self.options.repeats,
            vary_seed=self.options.vary_seed,
        )
