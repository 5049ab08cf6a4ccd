"""Calls that are answered hours later: their ids, their notes, and how a run that does not wait for them ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import uuid4

from attrs import frozen

from jrh.errors import StillPendingError, StopReason, StopRun
from jrh.store.run_store import Store
from jrh.text.redact import Redactor

_ID: Final = "id"
"""Meta key of a run directory's own id; a copy of the directory keeps it, and with it what was paid for."""


@frozen
class StoredNotes:
    """The notes of one model (`jrh.plugins.ModelNotes`)."""

    _store: Store
    _model: str
    """Its fingerprint: another model or endpoint has notes of its own."""
    _redact: Redactor

    def read(self) -> Mapping[str, str]:
        """Return all notes by name."""
        return self._store.notes.read(self._model)

    async def write(self, name: str, text: str) -> None:
        """Write a note; it is durable when this returns."""
        await self._store.notes.write(self._model, name, self._redact(text))


def call_prefix(store: Store) -> str:
    """Return what the ids of this run directory's calls begin with, so that no two runs share an id."""
    known = store.meta(_ID)
    if known is None:
        known = uuid4().hex[:16]
        store.set_meta(_ID, known)
    return known


def left_pending(model: str, error: StillPendingError) -> StopRun:
    """Return the end of a run whose calls a provider has accepted and not answered yet."""
    return StopRun(StopReason.PENDING, f"model '{model}' has not answered yet: {error}")
