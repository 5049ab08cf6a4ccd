"""Options of the perturbers of option order."""

from __future__ import annotations

from attrs import frozen
from attrs.validators import ge, optional
from jrh.plugins import option
from jrh_authoring import repeats_option


@frozen(kw_only=True)
class OrderOptions:
    """Options of the perturber `option-order`."""

    permutations: int | None = option(
        "for three options or more: random orders per item; default: the rotations, and the reverse order",
        optional(ge(1)),
        default=None,
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class IdenticalOptions:
    """Options of the perturber `identical-options`."""

    repeats: int = repeats_option()
