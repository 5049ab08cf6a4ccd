"""Define the options of the baseline judge."""

from __future__ import annotations

import math
from typing import Any

from attrs import Attribute, frozen
from attrs.validators import ge, gt, instance_of, lt, optional
from jrh.plugins import option


def _check_finite(_instance: object, attribute: Attribute[Any], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"'{attribute.name}' must be a finite number, got {value}")


@frozen(kw_only=True)
class BaselineOptions:
    """Options of `baseline`."""

    regularisation: float | None = option(
        "Strength of the L2 penalty; larger values give a more cautious judge. Default: chosen from "
        "0.01 to 1 (unordered scales: to 10) by cross-validation inside the training examples, no group split.",
        optional([gt(0), _check_finite]),
        default=None,
    )
    balanced: bool = option(
        "Weight labels by inverse training frequency (unordered scales).", instance_of(bool), default=True
    )
    tie_margin: float = option(
        "Pairwise tasks with a tie label: predict a tie if the probability is this close to 0.5.",
        ge(0),
        lt(0.5),
        default=0.05,
    )
    min_examples: int = option(
        "Fewest labelled examples outside the fold; with fewer, the judge abstains.", ge(2), default=4
    )
