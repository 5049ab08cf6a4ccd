"""Options of the metrics."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge


@frozen(kw_only=True)
class MetricOptions:
    """Options that all metrics share."""

    few_items: int = field(
        default=10,
        validator=ge(0),
        metadata={"help": "estimates from fewer items than this are flagged `few-items`"},
    )
