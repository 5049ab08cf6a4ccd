"""Draft the unchanged question, to be asked several times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from attrs import frozen
from jrh import BuildContext, Draft, Item, Same, Sampling, Skip

from jrh_stochastic.options import StochasticOptions


def build(options: StochasticOptions, context: BuildContext) -> StochasticPerturber:
    """Build the perturber; seeds that the suite does not list are derived from the suite's seed."""
    # One pass without a seed where there is no grid.
    seeds: tuple[int | None, ...] = (None,)
    if isinstance(options.seeds, tuple):
        seeds = options.seeds
    elif options.seeds is not None:
        # 31 bits, as providers take them.
        seeds = tuple(context.seed("sampling", number) & 0x7FFFFFFF for number in range(options.seeds))
    return StochasticPerturber(options=options, seeds=seeds)


@frozen(kw_only=True)
class StochasticPerturber:
    """Drafts the unchanged question, to be asked `repeats` times at every temperature and seed."""

    options: StochasticOptions
    seeds: tuple[int | None, ...]
    """The grid's sampling seeds; None: no grid."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 -- every item is asked as it is
        """Return one draft per temperature and seed, in the order of the options."""
        # None asks at the judge's own temperature.
        temperatures = self.options.temperatures or (None,)
        return [self._draft(temperature, seed) for temperature, seed in product(temperatures, self.seeds)]

    def _draft(self, temperature: float | None, seed: int | None) -> Draft:
        named = [f"t={temperature!r}"] if temperature is not None else []
        named += [f"seed={seed}"] if seed is not None else []
        return Draft(
            variant=" ".join(named),
            # Nothing was changed: any other verdict is the judge's own inconsistency.
            expectation=Same(),
            sampling=Sampling(temperature=temperature, seed=seed),
            repeats=self.options.repeats,
            # A seed of the grid is the same for all repeats: what then differs is the model's own noise.
            vary_seed=self.options.vary_seed and seed is None,
        )
