"""Represent and choose the places where a text can change."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

# Plain tuples: a text has hundreds of places.
Edit: TypeAlias = tuple[int, int, str]
"""Start, end and text: the characters between, which are white space or nothing, are replaced with the text."""
Place: TypeAlias = tuple[Edit, ...]
"""One place that changes as a whole: one or more edits, in text order."""


class Draws:
    """Draw reproducibly from a seed.

    Uses only `Random.random`, the one method whose sequence Python guarantees across versions.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 -- a seeded choice of places, no secret

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
        return int(self._random.random() * n)

    def order(self, n: int) -> list[int]:
        """Draw an order of the numbers from 0 to n - 1."""
        keys = [self._random.random() for _ in range(n)]
        return sorted(range(n), key=keys.__getitem__)


def count(strength: float, possible: int) -> int:
    """Return how many places a strength changes: its share, rounded half up, and at least one."""
    return max(1, int(strength * possible + 0.5))


def choose(places: Sequence[Place], changed: int, seed: int) -> list[Place]:
    """Choose places by seed; the choice of fewer places is always a part of the choice of more."""
    if changed >= len(places):
        return list(places)
    chosen = Draws(seed).order(len(places))[:changed]
    return [places[index] for index in sorted(chosen)]


def apply(text: str, places: Iterable[Place]) -> str:
    """Return the text with all edits of the places applied."""
    pieces = []
    done = 0
    for start, end, new in sorted(chain.from_iterable(places), key=itemgetter(0)):
        pieces.append(text[done:start])
        pieces.append(new)
        done = end
    return "".join([*pieces, text[done:]])
