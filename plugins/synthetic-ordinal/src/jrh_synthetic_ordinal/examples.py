"""Choose example responses that show the writer what a level looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from jrh import Item, Scale, derive_seed


@frozen(kw_only=True)
class Shelf:
    """The labelled items by level, to choose examples from."""

    scale: Scale
    by_level: Mapping[str, tuple[Item, ...]]

    @classmethod
    def of(cls, scale: Scale, items: Sequence[Item]) -> Shelf:
        """Sort the items with a gold level and a text into their levels."""
        usable = [item for item in items if isinstance(item.fields.get("response"), str) and item.gold is not None]
        return cls(
            scale=scale,
            by_level={
                level: tuple(sorted((item for item in usable if item.gold == level), key=lambda item: item.id))
                for level in scale.labels
            },
        )

    @property
    def empty_levels(self) -> tuple[str, ...]:
        """Return the levels without any gold item."""
        return tuple(level for level, items in self.by_level.items() if not items)

    def choose(self, level: str, source: Item, most: int, seed: int) -> tuple[Item, ...]:
        """Choose items of a level by seed, never the source, nor another with the same response.

        If the level has none, they come from the nearest level that does, or from both if two are equally near.
        """
        for distance in range(len(self.scale.labels)):
            near = [other for other in self.scale.labels if self.scale.distance(level, other) == distance]
            found = [
                item
                for other in near
                for item in self.by_level[other]
                if item.fields["response"] != source.fields.get("response")
            ]
            if found:
                found.sort(key=lambda item: (derive_seed(seed, item.id), item.id))
                return tuple(found[:most])
        return ()
