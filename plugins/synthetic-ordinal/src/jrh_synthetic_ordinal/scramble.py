"""Write a response of the lowest level by rule: scrambled words are the worst on any scale of quality."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen
from jrh import Draft, Equals, Item, Scale, Skip

from jrh_synthetic_ordinal.buckets import NO_TEXT, has_text
from jrh_synthetic_ordinal.manager import variant

_FEWEST: Final = 20
"""Words; shorter texts may be understood in any order."""
_MOST_LEFT: Final = 0.1
"""Share of neighbouring words that may still be neighbours."""
_DRAWS: Final = 10
"""Random orders to try; with enough words the first one nearly always works."""


@frozen(kw_only=True)
class Scrambler:
    """Writes for the lowest level by rule and skips the others."""

    scale: Scale
    levels: tuple[str, ...]
    samples: int
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Return a draft or a skip per item, level and sample; deterministic given the seed."""
        return [(item, outcome) for item in items for outcome in self._outcomes(item)]

    def _outcomes(self, item: Item) -> Iterator[Draft | Skip]:
        if not has_text(item):
            yield NO_TEXT
            return
        for level in sorted(self.levels, key=self.scale.rank):
            if level != self.scale.labels[0]:
                yield Skip(reason=f"rules cannot write a response of level {level}", variant=variant(level))
                continue
            for place in range(self.samples):
                yield self._scrambled(item, level, place)

    def _scrambled(self, item: Item, level: str, place: int) -> Draft | Skip:
        words = str(item.fields["response"]).split()
        if len(words) < _FEWEST:
            return Skip(reason=f"fewer than {_FEWEST} words to scramble", variant=variant(level))
        seed = self.seed(item.id, level, place)
        order = _disorder(words, seed)
        if order is None:
            return Skip(reason="the words make sense in many orders", variant=variant(level))
        return Draft(
            variant=variant(level),
            fields={"response": " ".join(words[index] for index in order)},
            expectation=Equals(label=level),
            details={"by": "rules", "rule": "all words in random order", "place": place, "seed": seed},
        )


def _disorder(words: Sequence[str], seed: int) -> list[int] | None:
    """Return an order of the words that keeps hardly any neighbours together; None if none was found."""
    draws = random.Random(seed)  # noqa: S311 -- a seeded order of words, no secret
    before = set(pairwise(words))
    for _ in range(_DRAWS):
        # Only `random()`: Python guarantees its sequence across versions, unlike that of `shuffle`.
        keys = [draws.random() for _ in words]
        order = sorted(range(len(words)), key=keys.__getitem__)
        left = sum((words[one], words[other]) in before for one, other in pairwise(order))
        if left <= _MOST_LEFT * (len(words) - 1):
            return order
    return None
