"""What a suite can say about the stochastic test."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import deep_iterable, ge, le


def _distinct(instance: object, attribute: Attribute[Any], value: tuple[object, ...]) -> None:  # noqa: ARG001
    if len(set(value)) != len(value):
        raise ValueError(f"'{attribute.name}' names a value twice")


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
        validator=[deep_iterable(member_validator=[ge(0), le(2)]), _distinct],
        metadata={"help": "sampling temperatures, each from 0 to 2; default: the judge's own"},
    )
    vary_seed: bool = field(
        default=True,
        metadata={"help": "send every repeat with a sampling seed of its own, where the provider takes one"},
    )
