"""What a suite can say about the shout test."""

from __future__ import annotations

from attrs import frozen
from attrs.validators import gt, le
from jrh.plugins import option


@frozen(kw_only=True)
class ShoutOptions:
    """Options of the perturber `shout`."""

    share: float = option("share of the words to write in capitals, above 0 and at most 1", gt(0), le(1), default=1.0)
