"""Define the options of the stochastic test."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, le
from jrh.authoring import distinct


@frozen(kw_only=True)
class StochasticOptions:
    """Options of the perturber `stochastic`."""

    repeats: int = field(
        default=5,
        validator=[ge(2), le(10_000)],
        metadata={"help": "times each question is asked at each temperature; 2 to 10,000"},
    )
    temperatures: tuple[float, ...] = field(
        default=(),
        validator=[deep_iterable(member_validator=[ge(0), le(2)]), distinct],
        metadata={"help": "sampling temperatures, each from 0 to 2; default: the judge's own"},
    )
    vary_seed: bool = field(
        default=True,
        metadata={"help": "send a different sampling seed with every repeat, if the provider accepts seeds"},
    )
