"""What a suite can say about the stochastic test."""

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
        metadata={"help": "how often every judge is asked each question, at each temperature; from 2 to 10,000"},
    )
    temperatures: tuple[float, ...] = field(
        default=(),
        validator=[deep_iterable(member_validator=[ge(0), le(2)]), distinct],
        metadata={"help": "sampling temperatures, each from 0 to 2; default: the judge's own"},
    )
    vary_seed: bool = field(
        default=True,
        metadata={"help": "send every repeat with a sampling seed of its own, where the provider takes one"},
    )
