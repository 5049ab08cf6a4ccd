"""Track the responses to write: one bucket per source item, level and sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import Factory, define, frozen
from jrh import Item, Json, Skip, Task

from jrh_synthetic_ordinal.ramp import Ramp


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
