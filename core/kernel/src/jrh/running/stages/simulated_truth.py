"""The truth that judges with planted behaviour get; no other judge sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from jrh.store.run_store import Store
from jrh.values.cases import Case, Changes, Equals
from jrh.values.item_blocks import ItemBlocks
from jrh.values.items import Item
from jrh.values.scales import invert
from jrh.values.verdicts import Truth

_HELD: Final = 500
"""Items of a long list that are kept after they are read."""


def originals(store: Store, items: Mapping[str, Sequence[Item]], task: str) -> Callable[[str], Item]:
    """Return what finds an item by its id; the store is asked where there are too many to hold."""
    known = items[task]
    if isinstance(known, ItemBlocks):

        @lru_cache(maxsize=_HELD)
        def stored(item_id: str) -> Item:
            found = store.items.find(task, item_id)
            assert found is not None
            return found

        return stored
    return {item.id: item for item in known}.__getitem__


def truth(case: Case, item: Item) -> Truth:
    """Return the truth about a case of an item for a judge with planted behaviour."""
    changes = isinstance(case.expectation, Changes)
    right = case.expectation.label if isinstance(case.expectation, Equals) else None if changes else case.gold
    return Truth(
        item_id=case.item_id,
        gold=case.gold,
        expected=invert(case.label_map, right) if right is not None else None,
        changes=changes,
        condition=case.condition,
        label_map=case.label_map,
        reference_fields=item.fields,
    )
