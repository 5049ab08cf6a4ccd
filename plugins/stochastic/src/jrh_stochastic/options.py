"""Define the options of the stochastic test."""

from __future__ import annotations

from typing import Any, Final

from attrs import Attribute, frozen
from attrs.validators import deep_iterable, ge, le
from jrh.plugins import option
from jrh_authoring import distinct

_MOST_SEEDS: Final = 1000
_LARGEST_SEED: Final = 2**31 - 1
"""Providers take 32 bits with a sign."""


def _seeds(instance: object, attribute: Attribute[Any], value: int | tuple[int, ...] | None) -> None:  # noqa: ARG001
    if isinstance(value, int) and not 1 <= value <= _MOST_SEEDS:
        raise ValueError(
            f"'seeds' must be a number of seeds from 1 to {_MOST_SEEDS:,}, or a list of seeds; got {value}"
        )
    if isinstance(value, tuple):
        if not 1 <= len(value) <= _MOST_SEEDS or len(set(value)) < len(value):
            raise ValueError(f"'seeds' must list 1 to {_MOST_SEEDS:,} different seeds")
        if not all(0 <= seed <= _LARGEST_SEED for seed in value):
            raise ValueError(f"'seeds': a sampling seed must be a whole number from 0 to {_LARGEST_SEED:,}")


@frozen(kw_only=True)
class StochasticOptions:
    """Options of the perturber `stochastic`."""

    repeats: int = option(
        "times each question is asked at each temperature and seed; 2 to 10,000, or 1 with `seeds`",
        ge(1),
        le(10_000),
        default=5,
    )
    temperatures: tuple[float, ...] = option(
        "sampling temperatures, each from 0 to 2; default: the judge's own",
        deep_iterable(member_validator=[ge(0), le(2)]),
        distinct,
        default=(),
    )
    seeds: int | tuple[int, ...] | None = option(
        "a grid of seeds and repeats: sampling seeds, or how many to derive from the suite's seed (1 to "
        "1,000), one variant each; default: no grid, see `vary_seed`",
        _seeds,
        default=None,
    )
    vary_seed: bool = option(
        "without `seeds`: send a different sampling seed with every repeat, if the provider accepts seeds", default=True
    )

    def __attrs_post_init__(self) -> None:
        """Refuse a question that would be asked once."""
        if self.repeats < 2 and self.seeds in (None, 1):  # noqa: PLR2004 - nothing to compare with
            raise ValueError("'repeats' must be 2 or more without a grid of `seeds`")
