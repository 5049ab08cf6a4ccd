"""Draw reproducible uniform numbers from a seed and a purpose."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct
from typing import Final, TypeVar

T = TypeVar("T")

_FOUR: Final = Struct(">4Q")
_UNIT: Final = 2.0**-53


class Draws:
    """A source of uniform draws; the same seed and parts give the same draws on every machine."""

    def __init__(self, seed: int) -> None:
        """Keep the seed, a number from 0 to 2**64 - 1."""
        self._key = seed.to_bytes(8, "big")

    def uniforms(self, *parts: str) -> tuple[float, float, float, float]:
        """Return four independent uniform numbers in [0, 1), of 53 bits each, for these parts.

        The bits are BLAKE2b of the parts, keyed with the seed. Draws for different parts are independent, and no draw
        depends on earlier ones.
        """
        # Prefix each part with its length, so that ("a", "bc") and ("ab", "c") give different draws.
        message = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
        first, second, third, fourth = _FOUR.unpack(blake2b(message, key=self._key, digest_size=32).digest())
        return (first >> 11) * _UNIT, (second >> 11) * _UNIT, (third >> 11) * _UNIT, (fourth >> 11) * _UNIT


def pick(uniform: float, choices: Sequence[T]) -> T:
    """Return the choice for a uniform number in [0, 1); all choices are equally likely."""
    return choices[int(uniform * len(choices))]
