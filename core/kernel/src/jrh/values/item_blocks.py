"""Items that are read a block at a time from where they lie, as a sequence like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, overload

from jrh.values.items import Item
from jrh.values.json_values import Json

BLOCK: Final = 500
"""Items that are in memory at once."""
TEXT_AT_ONCE: Final = 8_000_000
"""Characters of the items that are worked on at once; a longer item is alone."""


class ItemBlocks(Sequence[Item]):
    """A sequence of items that holds one block of them; equal to any sequence of equal items."""

    __hash__ = None  # type: ignore[assignment] # as of a list

    def __init__(self, length: int, read: Callable[[int, int], Sequence[Item]]) -> None:
        """Keep the number of items, and what reads those from one place up to another."""
        self._length = length
        self._read = read
        self._held: tuple[int, Sequence[Item]] = (-1, ())
        self.known_id = ""
        """Id of the items, once somebody has made it: it takes reading all of them."""

    def __len__(self) -> int:
        """Return the number of items; reads nothing."""
        return self._length

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        """Return the item in a place, or a list of those in a slice."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._length))]
        number = range(self._length)[place]
        block, within = divmod(number, BLOCK)
        return self._block(block)[within]

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in order; several may iterate at once."""
        for block in range(-(-self._length // BLOCK)):
            yield from self._block(block)

    def __eq__(self, other: object) -> bool:
        """Compare item by item."""
        if self is other:
            return True
        if not isinstance(other, Sequence) or len(other) != self._length:
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def _block(self, number: int) -> Sequence[Item]:
        if self._held[0] != number:
            start = number * BLOCK
            self._held = number, self._read(start, min(start + BLOCK, self._length))
        return self._held[1]


def in_small_parts(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """Yield items some at a time: at most so many, and fewer where their texts are long."""
    part: list[Item] = []
    size = 0
    for item in items:
        own = text_size(item.fields)
        if part and (len(part) == most or size + own > TEXT_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(item)
        size += own
    if part:
        yield part


def text_size(value: Json) -> int:
    """Return the characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(text_size, value.values()))
    return sum(map(text_size, value)) if isinstance(value, Sequence) else 0
