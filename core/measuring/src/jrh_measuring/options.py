"""Options that metrics share."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from attrs import frozen
from attrs.validators import deep_iterable, ge, in_
from jrh.plugins import option

Factor: TypeAlias = Literal["variant", "stratum", "gold", "strength", "temperature", "output"]
"""What a test can be broken down by."""


@frozen(kw_only=True)
class MetricOptions:
    """Options that all metrics share."""

    few_items: int = option("estimates from fewer items than this are flagged `few-items`", ge(0), default=10)


@frozen(kw_only=True)
class BreakdownOptions(MetricOptions):
    """Options of metrics that can measure the parts of a test as well."""

    by: tuple[Factor, ...] = option(
        "also measure each level of: `variant`, `stratum`, `gold`, `strength`, `temperature`, `output`",
        deep_iterable(in_(get_args(Factor))),
        default=(),
    )
