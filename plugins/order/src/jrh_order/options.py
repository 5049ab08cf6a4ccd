"""Options of the perturbers of option order."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen
from jrh.authoring import repeats_option


class Design(Enum):
    """Choose the orders in which an item is shown."""

    CROSSED = "crossed"
    """Every item in every order."""
    RANDOM = "random"
    """One random order per call, drawn by the seed."""


@frozen(kw_only=True)
class OrderOptions:
    """Options of the perturber `option-order`."""

    design: Design = field(
        default=Design.CROSSED,
        metadata={"help": "`crossed`: every item in every order; `random`: one random order per call"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class IdenticalOptions:
    """Options of the perturber `identical-options`."""

    repeats: int = repeats_option()
