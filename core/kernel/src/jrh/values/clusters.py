"""Decide which items are one cluster, the unit of every interval, test, claim and gate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from jrh.values.item_blocks import ItemBlocks
from jrh.values.items import Item
from jrh.values.json_values import Json

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
    return _among_many(items) if isinstance(items, ItemBlocks) else linked(map(_keys, items))


def _among_many(items: ItemBlocks) -> Mapping[str, str]:
    """Join the items that share a key; of the keys of all others only a number is held."""
    import numpy as np

    numbers = np.fromiter((hash(key) for item in items for key in _keys(item)[1]), np.int64, count=2 * len(items))
    numbers.sort()
    shared = set(numbers[1:][numbers[1:] == numbers[:-1]].tolist())
    # Two keys of one number do no harm: the keys themselves decide.
    return _Joined(linked(member for member in map(_keys, items if shared else ()) if _meets(member, shared)))


def _meets(member: tuple[str, tuple[str, str]], shared: set[int]) -> bool:
    return any(hash(key) in shared for key in member[1])


def _keys(item: Item) -> tuple[str, tuple[str, str]]:
    return item.id, (item.group or item.id, f"\n{_brief(shown_text(item))}")


def _brief(text: str) -> str:
    """Return what is equal for equal texts: the texts of all items would take as much memory as the items."""
    return text if len(text) < _LONG else f"\0{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def linked(members: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
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
            if key.strip():
                _join(root, member, first.setdefault(key, member))
    return {member: _find(root, member) for member in root}


def shown_text(item: Item) -> str:
    """Return what an item shows to a judge as one text: its fields without the id and the gold label.

    Runs of whitespace count as one space. Empty where the item has no text.
    """
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
        root[member] = root[root[member]]
        member = root[member]
    return member
