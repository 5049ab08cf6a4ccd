"""Track the responses to write: one bucket per source item, level and sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import Factory, define, evolve, frozen
from jrh import Item, JrhError, Json, Skip, Task

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
    """Whether the model is told the temperature; attempts differ by seeds, examples and wording anyway."""

    @classmethod
    def of(cls, initial: float | None, step: float, highest: float, attempts: int) -> Ramp:
        """Build the ramp from `initial` in steps of `step` up to and including `highest`; a step of 0 stays constant.

        Without `initial` there are as many attempts as from 0.7, at the model's own temperature.

        Raises:
            JrhError: The highest temperature is below the first, or the step is too small.
        """
        if initial is None:
            return evolve(cls.of(min(USUAL, highest), step, highest, attempts), told=False)
        if highest < initial:
            raise JrhError(
                f"synthetic-ordinal: `max_temperature` {highest} is below `initial_temperature` {initial}; raise it"
            )
        temperatures = [initial]
        while step > 0 and temperatures[-1] < highest:
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

    def described(self) -> dict[str, Json]:
        """Return everything but the text, for the provenance."""
        return {
            "wanted": self.wanted,
            "number": self.number,
            "temperature": self.temperature,
            "seed": self.seed,
            "examples": list(self.examples),
            "examples_of": list(self.examples_of),
            "status": self.status,
            "achieved": self.achieved,
            "to_seeds": self.to_seeds,
            "to_kept": self.to_kept,
            "rejected": self.rejected,
            "filled": self.filled,
        }


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


NO_TEXT: Final = Skip(reason="field 'response' is empty or not text")


def has_text(item: Item) -> bool:
    """Return whether an item has a response to start from."""
    text = item.fields.get("response")
    return isinstance(text, str) and bool(text.strip())


def buckets(task: Task, items: Sequence[Item], levels: Sequence[str], samples: int) -> list[Bucket]:
    """Return all buckets, empty, in an order that does not depend on the order of the items."""
    return [
        Bucket(item=item, level=level, place=place)
        for item in sorted(items, key=lambda item: item.id)
        for level in sorted(levels, key=task.scale.rank)
        for place in range(samples)
    ]
