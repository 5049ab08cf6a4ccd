"""Options that metrics share."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, in_

Factor: TypeAlias = Literal["variant", "stratum", "gold", "strength", "temperature", "output"]
"""What a test can be broken down by."""
_FACTORS: Final = ("variant", "stratum", "gold", "strength", "temperature", "output")


@frozen(kw_only=True)
class MetricOptions:
    """Options that all metrics share."""

    few_items: int = field(
        default=10,
        validator=ge(0),
        metadata={"help": "estimates from fewer items than this are flagged `few-items`"},
    )


@frozen(kw_only=True)
class BreakdownOptions(MetricOptions):
    """Options of metrics that can measure the parts of a test as well."""

    by: tuple[Factor, ...] = field(
        default=(),
        validator=deep_iterable(in_(_FACTORS)),
        metadata={
            "help": "also measure each level of: `variant`, `stratum`, `gold`, `strength`, `temperature`, `output`"
        },
    )
