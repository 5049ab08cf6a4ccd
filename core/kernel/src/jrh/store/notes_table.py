"""Notes of models: what a provider has been handed and what it is called there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from jrh.store.database import Database

_WRITE: Final = "INSERT OR REPLACE INTO model_notes (model, name, value) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM model_notes WHERE model = ? AND name = ?"


class NotesTable:
    """Texts by model and name, which outlive the process."""

    def __init__(self, database: Database) -> None:
        """Use `Store.notes` instead."""
        self._database = database

    def read(self, model: str) -> Mapping[str, str]:
        """Return all notes of a model, in the order of their names."""
        rows = self._database.rows("SELECT name, value FROM model_notes WHERE model = ? ORDER BY name", (model,))
        return {str(name): str(value) for name, value in rows}

    def write(self, model: str, name: str, text: str) -> asyncio.Future[None]:
        """Queue a note, or its deletion where the text is empty; return a future that completes once it is durable."""
        if not text:
            return self._database.writer.commit((_DELETE, [(model, name)]))
        return self._database.writer.commit((_WRITE, [(model, name, text)]))
