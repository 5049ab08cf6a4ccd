"""The items of a run, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from jrh.document.serial import from_text, to_text
from jrh.hashing import content_id
from jrh.store.database import Database
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

    def digest(self) -> str | None:
        """Return the id of all items, or None if none were written."""
        return self._database.digest(_STAGE)

    def write(self, items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
        """Write the items of every task unless they are already stored; return the id of each task's items."""
        texts = {task: [to_text(item) for item in chosen] for task, chosen in items.items()}
        ids = {task: content_id(written) for task, written in texts.items()}
        digest = content_id(ids)
        if self.digest() != digest:
            clusters = {task: clusters_of(chosen) for task, chosen in items.items()}
            rows = [
                (task, position, item.id, clusters[task][item.id], _gold_source(item), written(item.covariates), text)
                for task, chosen in items.items()
                for position, (item, text) in enumerate(zip(chosen, texts[task], strict=True))
            ]
            self._database.replace(
                _STAGE, digest, ("DELETE FROM items", [()]), ("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            )
        return ids

    def read(self) -> dict[str, tuple[Item, ...]]:
        """Read the items of every task; empty for records imported without items."""
        found: dict[str, list[Item]] = {}
        for task, payload in self._database.rows("SELECT task, payload FROM items ORDER BY task, position"):
            found.setdefault(task, []).append(from_text(Item, payload))
        return {task: tuple(items) for task, items in found.items()}

    def find(self, task: str, item_id: str) -> Item | None:
        """Read one item; None where it is not stored, as of records imported without items."""
        text = self._database.text("SELECT payload FROM items WHERE task = ? AND id = ?", (task, item_id))
        return None if text is None else from_text(Item, text)

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


def _gold_source(item: Item) -> str:
    return GoldSource.read(item.gold_source).text if item.gold is not None and item.gold_source else ""


def items_id(items: Sequence[Item]) -> str:
    """Return the id of a task's items, as `ItemsTable.write` does."""
    return content_id([to_text(item) for item in items])
