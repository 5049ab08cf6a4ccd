"""What a suite can say about the shout test."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import gt, le


@frozen(kw_only=True)
class ShoutOptions:
    """Options of the perturber `shout`."""

    share: float = field(
        default=1.0,
        validator=[gt(0), le(1)],
        metadata={"help": "share of the words to write in capitals, above 0 and at most 1"},
    )
