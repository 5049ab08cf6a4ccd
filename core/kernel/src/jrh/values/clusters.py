"""Sequences of items that are read a block at a time, and which items are one cluster, the unit of every interval."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
        # One block: items are read in order nearly everywhere, and another block is one query.
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
            return [self[index] for index in range(*place.indices(self._length))]
        block, within = divmod(range(self._length)[place], BLOCK)
        return self._block(block)[within]

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in order; several may iterate at once."""
        # Not place by place: each reader keeps its own block, whatever others read meanwhile.
        for block in range(-(-self._length // BLOCK)):
            yield from self._block(block)

    def __eq__(self, other: object) -> bool:
        """Compare item by item."""
        if not isinstance(other, Sequence) or len(other) != self._length:
            return False
        # One after the other, so that a block of each is all that is in memory.
        return self is other or all(mine == theirs for mine, theirs in zip(self, other, strict=True))

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
        length = text_size(item.fields)
        # A bound on the texts as well: a few transcripts can be longer than thousands of essays.
        if part and (len(part) == most or size + length > TEXT_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part


def text_size(value: Json) -> int:
    """Return the characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(text_size, value.values()))
    return sum(map(text_size, value)) if isinstance(value, Sequence) else 0


_LONG: Final = 100
"""Characters from which a digest is shorter."""


class _Joined(dict[str, str]):
    """Clusters by item; an item that is not listed is a cluster of its own."""

    def __missing__(self, item_id: str) -> str:
        """Return the cluster of an item that shares nothing."""
        return item_id


def clusters_of(items: Iterable[Item]) -> Mapping[str, str]:
    """Find the clusters of the items of a task.

    Items that share a group, and items that show a judge the same content, are one cluster; so are items that are
    linked by others. An item without either is a cluster of its own.

    Returns:
        Item id -> name of its cluster, which is the smallest id in it. Does not depend on the order of the items. Of a
        long list it can be asked for each item and lists only those that are not alone.
    """
    # Texts of all items at once are what a long list must not hold.
    return _clusters_of_many(items) if isinstance(items, ItemBlocks) else link_members(map(_keys, items))


def _clusters_of_many(items: ItemBlocks) -> Mapping[str, str]:
    """Join the items that share a key; of the keys of all others only a number is held."""
    import numpy as np

    numbers = np.fromiter((hash(key) for item in items for key in _keys(item)[1]), np.int64, count=2 * len(items))
    numbers.sort()
    shared = set(numbers[1:][numbers[1:] == numbers[:-1]].tolist())
    # Two keys of one number do no harm: the keys themselves decide.
    members = map(_keys, items if shared else ())
    return _Joined(link_members(member for member in members if any(hash(key) in shared for key in member[1])))


def _keys(item: Item) -> tuple[str, tuple[str, str]]:
    # The line feed keeps texts apart from groups: a text may read like the name of a group.
    return item.id, (item.group or item.id, f"\n{_shorten(item_text(item))}")


def _shorten(text: str) -> str:
    """Return what is equal for equal texts: the texts of all items would take as much memory as the items."""
    return text if len(text) < _LONG else f"\0{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def link_members(members: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """Join the members that share a key, directly or through others: the connected components.

    Args:
        members: member and its keys; a member may come several times. Empty keys are ignored.

    Returns:
        Member -> the smallest member of its component.
    """
    root: dict[str, str] = {}
    first: dict[str, str] = {}
    for member, keys in members:
        root.setdefault(member, member)
        for key in keys:
            # An item without any text would otherwise be one cluster with all others without.
            if key.strip():
                _join(root, member, first.setdefault(key, member))
    return {member: _find(root, member) for member in root}


def item_text(item: Item) -> str:
    """Return what an item shows to a judge as one text: its fields without the id and the gold label.

    Runs of whitespace count as one space. Empty where the item has no text.
    """
    # Line breaks and indentation do not make another content: exports differ in them.
    texts = {name: " ".join(flat_text(value).split()) for name, value in item.fields.items()}
    return "\n".join(f"{name}: {text}" for name, text in sorted(texts.items()) if text)


def flat_text(value: Json) -> str:
    """Return all text of a value, the parts joined by spaces."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(f"{key} {flat_text(part)}" for key, part in value.items())
    if isinstance(value, Sequence):
        return " ".join(map(flat_text, value))
    return "" if value is None else str(value)


def _join(root: dict[str, str], one: str, other: str) -> None:
    # The smaller id becomes the root, so that the name does not depend on the order of the members.
    low, high = sorted((_find(root, one), _find(root, other)))
    root[high] = low


def _find(root: dict[str, str], member: str) -> str:
    while root[member] != member:
        # Path halving (Tarjan and van Leeuwen 1984): the next search is half as long.
        root[member] = root[root[member]]
        member = root[member]
    return member
