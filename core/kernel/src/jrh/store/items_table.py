"""The items of a run, task by task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh.document.convert import to_json
from jrh.document.serial import compact, from_plain, to_text
from jrh.hashing import content_id
from jrh.store.database import Database
from jrh.store.texts_table import SWEEP, Packed, Packer, Shared, TextsTable
from jrh.values.clusters import clusters_of
from jrh.values.gold_source import GoldSource
from jrh.values.item_covariates import written
from jrh.values.items import Item

_STAGE: Final = "items"


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
        texts = {task: [to_text(item) for item in chosen] for task, chosen in items.items()}
        # Not `written`: early releases of Python 3.12 take the function of that name below for this variable.
        ids = {task: content_id(plain) for task, plain in texts.items()}
        digest = content_id(ids)
        if self.digest() != digest:
            clusters = {task: clusters_of(chosen) for task, chosen in items.items()}
            packer = self._texts.packer()
            rows = [
                (task, place, item.id, clusters[task][item.id], _gold_source(item), written(item.covariates), *packed)
                for task, chosen in items.items()
                for place, (item, packed) in enumerate(zip(chosen, _packed(packer, chosen), strict=True))
            ]
            insert = "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            self._database.replace(_STAGE, digest, ("DELETE FROM items", [()]), packer.statement, (insert, rows), SWEEP)
        return ids

    def read(self) -> dict[str, tuple[Item, ...]]:
        """Read the items of every task; empty for records imported without items."""
        found: dict[str, list[Item]] = {}
        for rows in self._database.chunks("SELECT task, texts, payload FROM items ORDER BY task, position"):
            for row, value in zip(rows, self._texts.unpacked([row[1:] for row in rows]), strict=True):
                found.setdefault(row[0], []).append(from_plain(Item, value))
        return {task: tuple(items) for task, items in found.items()}

    def find(self, task: str, item_id: str) -> Item | None:
        """Read one item; None where it is not stored, as of records imported without items."""
        rows = self._database.rows("SELECT texts, payload FROM items WHERE task = ? AND id = ?", (task, item_id))
        return next((from_plain(Item, value) for value in self._texts.unpacked(rows)), None)

    def clusters(self) -> dict[tuple[str, str], str]:
        """Return the cluster of every task and item id; empty for records imported without items."""
        rows = self._database.rows("SELECT task, id, cluster FROM items")
        return {(task, item): cluster for task, item, cluster in rows}

    def gold_sources(self) -> dict[tuple[str, str], str]:
        """Return where the gold label of every task and item id comes from; empty for imports without items."""
        rows = self._database.rows("SELECT task, id, gold_source FROM items")
        return {(task, item): source for task, item, source in rows}

    def covariates(self) -> dict[tuple[str, str], str]:
        """Return the covariates of every task and item id as text; empty for imports without items."""
        rows = self._database.rows("SELECT task, id, covariates FROM items")
        return {(task, item): text for task, item, text in rows}


def _packed(packer: Packer, items: Sequence[Item]) -> Iterator[Packed]:
    """Pack items against the first one, whose form is theirs; their long texts are stored apart."""
    form = Shared((), ())
    for position, item in enumerate(items):
        value = to_json(item)
        assert isinstance(value, dict)
        if position == 0:
            form = packer.share([compact(value | {"fields": {}})])
        yield packer.packed(value, form, value)


def _gold_source(item: Item) -> str:
    return GoldSource.read(item.gold_source).text if item.gold is not None and item.gold_source else ""


def items_id(items: Sequence[Item]) -> str:
    """Return the id of a task's items, as `ItemsTable.write` does."""
    return content_id([to_text(item) for item in items])
