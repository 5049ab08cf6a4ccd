"""Long texts, each once, and the values that are stored against them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import orjson
import zstandard

from jrh.document.serial import compact
from jrh.errors import DamagedStoreError
from jrh.store.database import Database
from jrh.store.packing import (
    CODING,
    Compressor,
    Decompressor,
    decompressed,
    folded,
    joined,
    read_folded,
    shared_texts,
    unfolded,
)
from jrh.store.writer import SALVAGE, Statement

_INSERT: Final = "INSERT INTO texts VALUES (?, ?, ?)"
_KNOWN: Final = "SELECT hash, id FROM texts WHERE hash IN ({ids})"
_BODIES: Final = "SELECT id, body FROM texts WHERE id IN ({ids})"
# A value names its texts in a column, so that those without a value can be found without reading any value.
_UNUSED: Final = (
    "DELETE FROM texts WHERE id NOT IN ("
    "SELECT value FROM items, json_each(items.texts) UNION SELECT value FROM cases, json_each(cases.texts) "
    "UNION SELECT value FROM drafts, json_each(drafts.texts))"
)
SWEEP: Final[Statement] = (_UNUSED, [()])
"""Deletes the texts that no item, case or draft has."""
BROKEN: Final = (LookupError, ValueError, TypeError, zstandard.ZstdError)
"""What reading a changed text raises."""
Packed: TypeAlias = tuple[str, bytes]
"""The ids of texts, as a JSON list, and the blob."""
_NUMBER: Final = frozenset({int})
_END: Final = 0
"""In the list of ids, after those of the texts that the blob was compressed against."""


class Shared(NamedTuple):
    """Texts that values are packed against."""

    ids: tuple[int, ...]
    texts: tuple[str, ...]

    def __add__(self, other: object) -> Shared:
        """Return the texts of both."""
        assert isinstance(other, Shared)
        return Shared(self.ids + other.ids, self.texts + other.texts)

    def after(self, first: Shared) -> Shared:
        """Return the texts that follow some of the same."""
        return Shared(self.ids[len(first.ids) :], self.texts[len(first.texts) :])


class _Own(NamedTuple):
    """The texts of one value."""

    against: tuple[str, ...]
    """Those it was compressed against."""
    texts: tuple[str, ...]
    """All of them, in the order of their places."""

    @classmethod
    def of(cls, ids: Sequence[int], texts: Mapping[int, str]) -> _Own:
        end = ids.index(_END)
        against = tuple([texts[each] for each in ids[:end]])
        return cls(against, against + tuple([texts[each] for each in ids[end + 1 :]]))


NOTHING: Final = Shared((), ())


class Packer:
    """Packs the values of one transaction; `statement` writes the texts that are new."""

    def __init__(self, database: Database, first: int) -> None:
        """Use `TextsTable.packer` instead."""
        self._database = database
        self._next = first
        self._new: list[tuple[int, bytes, bytes]] = []
        self._ids: dict[bytes, int] = {}
        self._plain = Compressor()
        self._against = Compressor()

    @property
    def statement(self) -> Statement:
        """Return the statement that writes the new texts."""
        return _INSERT, self._new

    def share(self, texts: Sequence[str]) -> Shared:
        """Return the places of texts, which are new or stored already."""
        hashes = [hashlib.sha256(text.encode(*CODING)).digest()[:16] for text in texts]
        unknown = [each for each in hashes if each not in self._ids]
        if unknown:
            self._ids.update((row[0], row[1]) for row in self._database.by_id(_KNOWN, unknown))
        for each, text in zip(hashes, texts, strict=True):
            if each not in self._ids:
                self._ids[each] = self._next
                self._new.append((self._next, each, self._plain.compressed(text.encode(*CODING))))
                self._next += 1
        return Shared(tuple(self._ids[each] for each in hashes), tuple(texts))

    def packed(self, value: Any, form: Shared, base: Shared = NOTHING, apart: Any = None) -> Packed:
        """Pack a JSON value.

        Args:
            value: what is packed.
            form: texts that all values of its kind resemble: they are compressed against these.
            base: further texts that it resembles or has, such as those of the case's item.
            apart: the part of the value whose long strings get rows of their own, because other values have them too.
        """
        before = form + base
        known = set(before.texts)
        shared = before + self.share([text for text in shared_texts(apart) if text not in known])
        places = {text: place for place, text in enumerate(shared.texts)}
        left: list[str] = []
        data = compact(folded(value, places, left)).encode()
        # A string that starts with the mark and is not among the texts would be read as a place.
        odd = [each for each in dict.fromkeys(left) if each[0] == "\0"]
        if odd:
            return self.packed(value, form, shared.after(form) + self.share(odd))
        # Every base makes a compressor of its own, which costs more than all else: worth it for a long text alone.
        against = before if left else form
        ids = (*against.ids, _END, *shared.after(against).ids)
        return compact(ids), self._against.compressed(data, joined(against.texts))


class TextsTable:
    """Texts by id, and how values are read that were packed against them."""

    def __init__(self, database: Database) -> None:
        """Use `Store` instead."""
        self._database = database

    def packer(self) -> Packer:
        """Return a packer; only one at a time, and what it packs is written before the next."""
        ((last,),) = self._database.rows("SELECT coalesce(max(id), 0) FROM texts")
        return Packer(self._database, last + 1)

    def unpacked(self, rows: Sequence[tuple[str, bytes]]) -> Iterator[Any]:
        """Yield the values of rows, read together.

        Raises:
            DamagedStoreError: one of them is not what was written.
        """
        listed = [self._ids(ids) for ids, _ in rows]
        texts = self._texts({each for ids in listed for each in ids})
        unpack = Decompressor().decompressed
        for ids, (_, blob) in zip(listed, rows, strict=True):
            try:
                own = _Own.of(ids, texts)
                value = read_folded(unpack(blob, joined(own.against)), own.texts)
            except BROKEN as error:
                raise self._damaged() from error
            yield value

    def parts(self, rows: Sequence[tuple[str, bytes]], key: str) -> Iterator[Any]:
        """Yield what stands under a key of each row's object, several times as fast as `unpacked` yields the whole.

        Args:
            rows: as for `unpacked`.
            key: in the object; nothing that stands before it has the same key.

        Raises:
            DamagedStoreError: a row is not what was written.
        """
        listed = [self._ids(ids) for ids, _ in rows]
        texts = self._texts({each for ids in listed for each in ids})
        decompressor, decoder, start = Decompressor(), json.JSONDecoder(), f'"{key}":'
        for ids, (_, blob) in zip(listed, rows, strict=True):
            try:
                own = _Own.of(ids, texts)
                text = decompressor.decompressed(blob, joined(own.against)).decode()
                value = unfolded(decoder.raw_decode(text, text.index(start) + len(start))[0], own.texts)
            except BROKEN as error:
                raise self._damaged() from error
            yield value

    def shared(self, rows: Sequence[tuple[str, str]]) -> dict[str, Shared]:
        """Return the texts that values name, by what names the values.

        Raises:
            DamagedStoreError: a text is not what was written, or is gone.
        """
        listed = {name: tuple(each for each in self._ids(ids) if each != _END) for name, ids in rows}
        texts = self._texts({each for ids in listed.values() for each in ids})
        try:
            return {name: Shared(ids, tuple(texts[each] for each in ids)) for name, ids in listed.items()}
        except KeyError as error:
            raise self._damaged() from error

    def _ids(self, written: object) -> tuple[int, ...]:
        """Return the ids of texts that a row names."""
        try:
            found = orjson.loads(written)  # type: ignore[arg-type] # whatever a damaged page holds
        except (TypeError, ValueError) as error:
            raise self._damaged() from error
        if not isinstance(found, list) or not _NUMBER.issuperset(map(type, found)):
            raise self._damaged()
        return tuple(found)

    def _texts(self, ids: Iterable[int]) -> dict[int, str]:
        unpack = Decompressor().decompressed
        ids = set(ids) - {_END}
        try:
            return {row[0]: unpack(row[1]).decode(*CODING) for row in self._database.by_id(_BODIES, sorted(ids))}
        except BROKEN as error:
            raise self._damaged() from error

    def _damaged(self) -> DamagedStoreError:
        path = self._database.path
        return DamagedStoreError(f"a text in '{path}' changed after jrh wrote it. {SALVAGE.format(name=path.parent)}")


def read(ids: Sequence[int], blob: bytes, texts: Mapping[int, str]) -> Any:
    """Return the value of a blob; raise one of `BROKEN` if it is not what was packed."""
    own = _Own.of(ids, texts)
    return read_folded(decompressed(blob, joined(own.against)), own.texts)


def text_of(body: bytes) -> str:
    """Return a text of its own; raise one of `BROKEN` if it is not what was written."""
    return decompressed(body).decode(*CODING)
