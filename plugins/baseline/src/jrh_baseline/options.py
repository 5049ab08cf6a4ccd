"""Define the options of the baseline judge."""

from __future__ import annotations

import math
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, instance_of, lt, optional


def _check_finite(_instance: object, attribute: Attribute[Any], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"'{attribute.name}' must be a finite number, got {value}")


@frozen(kw_only=True)
class BaselineOptions:
    """Options of `baseline`."""

    regularisation: float | None = field(
        default=None,
        validator=optional([gt(0), _check_finite]),
        metadata={
            "help": "Strength of the L2 penalty; larger values give a more cautious judge. Default: chosen from "
            "0.01 to 1 by cross-validation inside the training examples, no group split."
        },
    )
    balanced: bool = field(
        default=True,
        validator=instance_of(bool),
        metadata={"help": "Weight labels by inverse training frequency (unordered scales)."},
    )
    tie_margin: float = field(
        default=0.05,
        validator=[ge(0), lt(0.5)],
        metadata={"help": "Pairwise tasks with a tie label: predict a tie if the probability is this close to 0.5."},
    )
    min_examples: int = field(
        default=4,
        validator=ge(2),
        metadata={"help": "Fewest labelled examples outside the fold; with fewer, the judge abstains."},
    )
