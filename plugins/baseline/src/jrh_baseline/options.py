"""Options of the baseline judge."""

from __future__ import annotations

import math
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, gt, instance_of, lt


def _check_finite(_instance: object, attribute: Attribute[Any], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"'{attribute.name}' must be a finite number, got {value}")


@frozen(kw_only=True)
class BaselineOptions:
    """How the baseline judge is trained; the defaults are scikit-learn's, not tuned."""

    regularisation: float = field(
        default=1.0,
        validator=[gt(0), _check_finite],
        metadata={"help": "Strength of the L2 penalty: larger values give smoother, more cautious judges."},
    )
    balanced: bool = field(
        default=True,
        validator=instance_of(bool),
        metadata={"help": "Weigh labels by the inverse of their frequency in training (scales without order)."},
    )
    tie_margin: float = field(
        default=0.05,
        validator=[ge(0), lt(0.5)],
        metadata={"help": "Pairs with a tie label: call a tie where the probability is this close to one half."},
    )
    min_examples: int = field(
        default=4,
        validator=ge(2),
        metadata={"help": "With fewer labelled examples outside the fold the judge abstains."},
    )
