"""What a suite can say about the order of options."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen
from jrh.authoring import repeats_option


class Design(Enum):
    """Which orders an item is shown in."""

    CROSSED = "crossed"
    """Every order, each item in all of them."""
    RANDOM = "random"
    """For every call, one order drawn by the seed."""


@frozen(kw_only=True)
class OrderOptions:
    """Options of the perturber `option-order`."""

    design: Design = field(
        default=Design.CROSSED,
        metadata={"help": "`crossed`: every item in every order; `random`: one order per call, drawn by the seed"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class IdenticalOptions:
    """Options of the perturber `identical-options`."""

    repeats: int = repeats_option()
