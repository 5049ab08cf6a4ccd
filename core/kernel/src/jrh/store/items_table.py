"""The items of a run, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from jrh.document.convert import to_json
from jrh.document.long_ids import listed_id
from jrh.document.serial import compact, from_plain, to_text
from jrh.hashing import content_id
from jrh.store.database import Database
from jrh.store.item_spool import IN_MEMORY
from jrh.store.texts_table import NOTHING, SWEEP, TextsTable
from jrh.store.writer import Statement
from jrh.values.clusters import clusters_of
from jrh.values.gold_source import GoldSource
from jrh.values.item_blocks import BLOCK, ItemBlocks
from jrh.values.item_covariates import written
from jrh.values.items import Item

_STAGE: Final = "items"
_INSERT: Final = "INSERT INTO new_items VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final[Statement] = ("DELETE FROM new_items", [()])


class ItemsTable:
    """Items as read from the data sources and sampled for this run."""

    def __init__(self, database: Database) -> None:
        """Use `Store.items` instead."""
        self._database = database
        self._texts = TextsTable(database)

    def digest(self) -> str | None:
        """Return the id of all items, or None if none were written."""
        return self._database.digest(_STAGE)

    def write(self, items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
        """Write the items of every task unless they are already stored; return the id of each task's items."""
        # Not `written`: early releases of Python 3.12 take the function of that name below for this variable.
        ids = items_ids(items)
        digest = content_id(ids)
        if self.digest() != digest:
            self._database.writer.flush(_FORGET)
            for task, chosen in items.items():
                self._stage(task, chosen)
            move = ("INSERT INTO items SELECT * FROM new_items", [()])
            self._database.replace(_STAGE, digest, ("DELETE FROM items", [()]), move, _FORGET, SWEEP)
        return ids

    def _stage(self, task: str, items: Sequence[Item]) -> None:
        """Gather the rows of a task, a block at a time."""
        clusters = clusters_of(items)
        feed = iter(items)
        form = ""
        place = 0
        while some := list(islice(feed, BLOCK)):
            values = [_plain(item) for item in some]
            # Items are packed against the first one, whose form is theirs; their long texts are stored apart.
            form = form or compact(values[0] | {"fields": {}})
            packer = self._texts.packer()
            shared = packer.share([form])
            packed = [packer.packed(value, shared, NOTHING, value) for value in values]
            rows = [
                (task, number, item.id, clusters[item.id], _gold_source(item), written(item.covariates), *blob)
                for number, (item, blob) in enumerate(zip(some, packed, strict=True), place)
            ]
            self._database.writer.flush(packer.statement, (_INSERT, rows))
            place += len(some)

    def read(self) -> dict[str, Sequence[Item]]:
        """Return the items of every task, few of them at once in memory; empty for records imported without items."""
        counted = self._database.rows("SELECT task, count(*) FROM items GROUP BY task ORDER BY task")
        found = {task: ItemBlocks(number, partial(self._between, task)) for task, number in counted}
        return {task: items if len(items) > IN_MEMORY else tuple(items) for task, items in found.items()}

    def _between(self, task: str, start: int, stop: int) -> list[Item]:
        rows = self._database.rows(
            "SELECT texts, payload FROM items WHERE task = ? AND position >= ? AND position < ? ORDER BY position",
            (task, start, stop),
        )
        return [from_plain(Item, value) for value in self._texts.unpacked(rows)]

    def find(self, task: str, item_id: str) -> Item | None:
        """Read one item; None where it is not stored, as of records imported without items."""
        rows = self._database.rows("SELECT texts, payload FROM items WHERE task = ? AND id = ?", (task, item_id))
        return next((from_plain(Item, value) for value in self._texts.unpacked(rows)), None)


def _plain(item: Item) -> dict[str, Any]:
    value = to_json(item)
    assert isinstance(value, dict)
    return value


def _gold_source(item: Item) -> str:
    return GoldSource.read(item.gold_source).text if item.gold is not None and item.gold_source else ""


def items_ids(items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
    """Return the ids of the items of every task."""
    return {task: items_id(chosen) for task, chosen in items.items()}


def items_id(items: Sequence[Item]) -> str:
    """Return the id of a task's items, as `ItemsTable.write` does."""
    if not isinstance(items, ItemBlocks):
        return listed_id(map(to_text, items))
    items.known_id = items.known_id or listed_id(map(to_text, items))
    return items.known_id
