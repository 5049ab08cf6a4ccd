"""Track the responses to write: one bucket per source item, level and sample."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from attrs import Factory, asdict, define, evolve, frozen
from jrh import Draft, Equals, Item, JrhError, Json, Scale, Skip, Task

USUAL: Final = 0.7
_DIGITS: Final = 6
"""Rounding: 0.7 + 0.2 + 0.2 must be 1.1, not 1.0999999999999999."""
_MOST: Final = 200
"""Maximum number of steps; more indicate a mistake in the options."""


@frozen(kw_only=True)
class Ramp:
    """Which temperature comes after how many misses, and when to stop."""

    temperatures: tuple[float, ...]
    """From the first to the last, each used `attempts` times."""
    attempts: int
    told: bool = True
    """Whether the prompt tells the model the temperature; attempts differ by seeds, examples and wording anyway."""

    @classmethod
    def of(cls, initial: float | None, step: float, highest: float, attempts: int) -> Ramp:
        """Build the ramp from `initial` in steps of `step` up to and including `highest`; a step of 0 stays constant.

        Without `initial` there are as many attempts as from 0.7, at the model's own temperature.

        Raises:
            JrhError: The highest temperature is below the first, or the step is too small.
        """
        # The number of attempts must not depend on whether the temperature is set.
        if initial is None:
            return evolve(cls.of(min(USUAL, highest), step, highest, attempts), told=False)
        if highest < initial:
            raise JrhError(
                f"synthetic-ordinal: `max_temperature` {highest} is below `initial_temperature` {initial}; raise it"
            )
        temperatures = [initial]
        while step > 0 and temperatures[-1] < highest:
            # From the start and not from the last value: rounding errors of many steps would add up.
            temperatures.append(min(highest, round(initial + len(temperatures) * step, _DIGITS)))
            if len(temperatures) > _MOST:
                raise JrhError(
                    f"synthetic-ordinal: `temperature_step` {step} needs more than {_MOST} steps; increase it"
                )
        return cls(temperatures=tuple(temperatures), attempts=attempts)

    @property
    def longest(self) -> int:
        """Return the number of attempts after which a level is given up."""
        return len(self.temperatures) * self.attempts

    def temperature(self, misses: int) -> float | None:
        """Return the temperature after `misses` misses, or None to give up."""
        step = misses // self.attempts
        return self.temperatures[step] if step < len(self.temperatures) else None


@frozen(kw_only=True)
class Attempt:
    """One requested response and its outcome."""

    wanted: str
    """The level it should reach."""
    number: int
    """0-based, within the bucket that asked."""
    temperature: float | None
    """None: the model's own, because the suite says so or the model cannot be told."""
    seed: int
    examples: tuple[str, ...]
    """Ids of the items whose responses were shown."""
    examples_of: tuple[str, ...]
    """Their levels, each once."""
    status: str
    """Status of the writer's reply."""
    text: str = ""
    """The response; empty if none is usable."""
    achieved: str | None = None
    """The level it reached, if it was graded."""
    to_seeds: float | None = None
    to_kept: float | None = None
    rejected: str = ""
    """Why it fills no bucket; empty if it fills one."""
    filled: str = ""
    """The level of the bucket it fills."""

    def details(self) -> dict[str, Json]:
        """Return what the draft's details keep: all but the text."""
        details = asdict(self)
        del details["text"]
        return details


@define(kw_only=True)
class Bucket:
    """Waits for one response of one level for one item."""

    item: Item
    level: str
    place: int
    """0-based, among the buckets of the same item and level."""
    attempts: list[Attempt] = Factory(list)
    """The attempts for this bucket, in order."""
    kept: Attempt | None = None
    """The attempt that fills it; it may have been made for another bucket."""

    def temperature(self, ramp: Ramp) -> float | None:
        """Return the temperature of the next attempt, or None if the bucket is full or given up."""
        return None if self.kept is not None else ramp.temperature(len(self.attempts))


def variant(level: str) -> str:
    """Name the variant of a level."""
    return f"level-{level}"


NO_TEXT: Final = Skip(reason="field 'response' is empty or not text")


def has_text(item: Item) -> bool:
    """Return whether an item has a response to start from."""
    text = item.fields.get("response")
    return isinstance(text, str) and bool(text.strip())


def buckets(task: Task, items: Sequence[Item], levels: Sequence[str], samples: int) -> list[Bucket]:
    """Return all buckets, empty, in an order that does not depend on the order of the items."""
    return [
        Bucket(item=item, level=level, place=place)
        # Buckets compete for responses, so that their order is part of the result.
        for item in sorted(items, key=lambda item: item.id)
        for level in sorted(levels, key=task.scale.rank)
        for place in range(samples)
    ]


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
                yield self._scramble(item, level, place)

    def _scramble(self, item: Item, level: str, place: int) -> Draft | Skip:
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
        # Pairs of words and not of places: a repeated pair reads as before wherever it comes from.
        left = sum((words[one], words[other]) in before for one, other in pairwise(order))
        if left <= _MOST_LEFT * (len(words) - 1):
            return order
    return None
