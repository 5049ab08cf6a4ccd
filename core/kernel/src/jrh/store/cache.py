"""Replies shared between runs, by content. Only usable replies are kept."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from jrh.document.convert import from_text
from jrh.errors import DamagedStoreError
from jrh.places import cache_directory
from jrh.store.calls_table import CallsTable
from jrh.store.writer import Writer, close_on_error, connect
from jrh.values.verdicts import Reply

FILENAME: Final = "replies.sqlite"

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID"


class Cache:
    """Replies by key, readable and writable by several processes at once."""

    def __init__(self, reader: sqlite3.Connection, writer: Writer | None = None) -> None:
        """Use `Cache.open` or `Cache.view` instead."""
        self._reader = reader
        self._writer = writer

    @classmethod
    def open(cls, path: Path | None = None) -> Cache:
        """Open the cache; create it if missing.

        Raises:
            OSError, sqlite3.Error: it cannot be used; a run goes on without it.
        """
        folder = path or cache_directory()
        # Replies may quote private texts: other users of the machine cannot read them.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # What a power failure takes from the cache costs money at most: the run's own store has its replies, durably.
        connection = connect(folder / FILENAME, synchronous="NORMAL")
        with close_on_error(connection):
            connection.execute(_SCHEMA)
            reader = connect(folder / FILENAME, synchronous="NORMAL")
        return cls(reader, Writer(connection, FILENAME))

    @classmethod
    def view(cls) -> Cache | None:
        """Open the cache for reading; None if there is none, or it cannot be read."""
        path = cache_directory() / FILENAME
        if not path.is_file():
            return None
        try:
            return cls(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True))
        # Only a plan reads it so: without the cache it counts more calls.
        except (OSError, sqlite3.Error):
            return None

    def get(self, key: str) -> str | None:
        """Return the payload of a key; None if there is none or the cache cannot be read."""
        try:
            row = self._reader.execute("SELECT payload FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error:  # the cache saves money; a run goes on without it
            return None
        return row[0] if row else None

    def put(self, key: str, payload: str) -> None:
        """Store a payload unless the key already has one; only if opened for writing."""
        assert self._writer is not None
        # The first reply to a request stays, so that later runs see the same one.
        self._writer.put(("INSERT OR IGNORE INTO replies VALUES (?, ?)", [(key, payload)]))

    def close(self) -> None:
        """Write everything queued, then close."""
        if self._writer is not None:
            self._writer.close()
        self._reader.close()


def stored_reply(key: str, calls: CallsTable | None, cache: Cache | None) -> Reply | None:
    """Return the reply that is stored for a request, in a run directory or in the cache."""
    text = calls.usable_reply(key) if calls is not None else None
    if text is not None:
        return from_text(Reply, text)
    with suppress(DamagedStoreError):  # the cache saves money; a run goes on without it
        text = cache.get(key) if cache is not None else None
        return None if text is None else from_text(Reply, text)
    return None
