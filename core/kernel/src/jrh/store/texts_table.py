"""JSON values as small blobs: compressed against the long texts they share with others, which are stored once.

A case is nearly its item. So zstd compresses it with the item's texts as the dictionary: what is stored is the
difference. Strings that equal a shared text are left out altogether.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

import orjson
import zstandard

from jrh.document.convert import compact, read_compact
from jrh.errors import DamagedStoreError
from jrh.store.database import Database
from jrh.store.writer import SALVAGE, Statement

LONG: Final = 200
"""Characters from which a text is worth a row of its own; a reference to one takes some 30 bytes."""
LEVEL: Final = 3
"""Levels above 3 save 5% of the bytes of essays and take twice the time."""
_MARK: Final = "\0"
"""Starts the place of a shared text. A string that really starts so is shared whatever its length."""
_MARK_IN_JSON: Final = rb'"\u0000'
"""The mark at the start of a string in JSON."""
_NUMBERS: Final = frozenset({int, float, bool, NoneType})
_MOST_CONTEXTS: Final = 8
CODING: Final = ("utf-8", "surrogatepass")
"""How texts become bytes; strict UTF-8 would refuse the lone surrogates that JSON can bring."""
_FRAME: Final = b"\x28\xb5\x2f\xfd\xe0"
"""Magic number and descriptor of a frame."""
_BLOCK: Final = 1 << 17
"""Bytes of the largest block."""
_LARGEST_WINDOW: Final = 27
"""A window of 128 MB, the most that a decompressor accepts unasked."""


def is_shared(text: str) -> bool:
    """Tell whether a string is stored apart, once."""
    return len(text) >= LONG or text.startswith(_MARK)


def fold(value: Any, places: Mapping[str, int], left: list[str]) -> Any:
    """Return a JSON value with the strings that have a place replaced by it; other long strings stay.

    Args:
        value: the value.
        places: of the texts.
        left: gets the long strings that stay.
    """
    if isinstance(value, str):
        if is_shared(value):
            if value in places:
                return f"{_MARK}{places[value]}"
            left.append(value)
        return value
    if type(value) is dict or isinstance(value, Mapping):
        return {key: part if type(part) in _NUMBERS else fold(part, places, left) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [fold(part, places, left) for part in value]
    return value


def unfold(value: Any, texts: Sequence[str]) -> Any:
    """Return what `fold` was given; what is inside of the value is replaced in place."""
    kind = type(value)
    if kind is str:
        return texts[int(value[1:])] if value.startswith(_MARK) else value
    if kind is dict or kind is list:
        for key, part in value.items() if kind is dict else enumerate(value):
            if type(part) not in _NUMBERS:
                value[key] = unfold(part, texts)
    return value


def collect_texts(value: Any) -> Iterator[str]:
    """Yield the strings of a JSON value that are stored apart, in order."""
    if isinstance(value, str):
        if is_shared(value):
            yield value
        return
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        yield from collect_texts(part)


class Compressor:
    """Compresses bytes against others that will be there when they are read; one thread at a time."""

    def __init__(self) -> None:
        """Start without a dictionary."""
        self._compressors: dict[tuple[bytes, int], zstandard.ZstdCompressor] = {}

    def compress(self, data: bytes | memoryview, shared: bytes = b"") -> bytes:
        """Compress bytes; the blob carries a checksum."""
        # Sizes to the next power of two: a dictionary serves for all cases of an item, which follow one another.
        wanted = (shared, len(data).bit_length())
        compressor = self._compressors.get(wanted)
        if compressor is None:
            # The oldest goes: the cases of an item follow one another, so that it is rarely needed again.
            if len(self._compressors) == _MOST_CONTEXTS:
                del self._compressors[next(iter(self._compressors))]
            compressor = self._compressors[wanted] = _compressor(shared, 1 << wanted[1])
        return compressor.compress(data)


def _compressor(shared: bytes, size: int) -> zstandard.ZstdCompressor:
    # Bytes further back than the window are not found again: it spans the dictionary and the value.
    window = min(max((size + len(shared)).bit_length(), 10), _LARGEST_WINDOW)
    # The frame's checksum is how damage is noticed. Raw dictionaries have no id to write.
    settings = zstandard.ZstdCompressionParameters.from_level(
        LEVEL, source_size=size, dict_size=len(shared), window_log=window, write_checksum=True, write_dict_id=False
    )
    return zstandard.ZstdCompressor(compression_params=settings, dict_data=_dictionary(shared))


class Decompressor:
    """Decompresses many blobs, each compressed against other bytes; one thread at a time."""

    def __init__(self) -> None:
        """Start without a dictionary."""
        self._context = zstandard.ZstdDecompressor()

    def decompress(self, blob: bytes, shared: bytes = b"") -> bytes:
        """Return what was compressed, or raise `ZstdError` or `ValueError`."""
        if not shared:
            return self._context.decompress(blob)
        # In a chain the bytes of a frame are the dictionary of the next. A context for each dictionary is three times
        # as slow.
        return self._context.decompress_content_dict_chain([_frame(shared), blob])

    def text(self, body: bytes) -> str:
        """Return a text of its own; raise one of `BROKEN` if it is not what was written."""
        return self.decompress(body).decode(*CODING)

    def value(self, ids: Sequence[int], blob: bytes, texts: Mapping[int, str]) -> Any:
        """Return the value of a blob; raise one of `BROKEN` if it is not what was packed."""
        end = ids.index(_END)
        against, more = (tuple([texts[text_id] for text_id in part]) for part in (ids[:end], ids[end + 1 :]))
        data = self.decompress(blob, join_texts(against))
        value = read_compact(data)
        # Many values refer to no text, and a search of the bytes is faster than a walk through the value.
        return unfold(value, against + more) if _MARK_IN_JSON in data else value


@lru_cache(maxsize=2)
def _frame(data: bytes) -> bytes:
    """Return bytes as a frame of zstd (RFC 8878) that holds them uncompressed: one segment, its size in 8 bytes."""
    parts = [_FRAME, len(data).to_bytes(8, "little")]
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        last = start + _BLOCK >= len(data)
        parts += [(len(block) << 3 | last).to_bytes(3, "little"), block]
    return b"".join(parts)


@lru_cache(maxsize=2)
def _dictionary(shared: bytes) -> zstandard.ZstdCompressionDict | None:
    return zstandard.ZstdCompressionDict(shared, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if shared else None


@lru_cache(maxsize=2)
def join_texts(texts: tuple[str, ...]) -> bytes:
    """Return texts as one dictionary."""
    return "".join(texts).encode(*CODING)


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
BROKEN: Final = (LookupError, ValueError, TypeError, AttributeError, RecursionError, zstandard.ZstdError)
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


NOTHING: Final = Shared((), ())


class Packer:
    """Packs the values of one transaction; `statement` writes the texts that are new."""

    def __init__(self, database: Database, first: int) -> None:
        """Use `TextsTable.packer` instead."""
        self._database = database
        self._next = first
        self._new: list[tuple[int, bytes, bytes]] = []
        self._ids: dict[bytes, int] = {}
        # One for texts, which have no dictionary, and one for values: each keeps few contexts.
        self._plain = Compressor()
        self._against = Compressor()

    @property
    def statement(self) -> Statement:
        """Return the statement that writes the new texts."""
        return _INSERT, self._new

    def share(self, texts: Sequence[str]) -> Shared:
        """Return the places of texts, which are new or stored already."""
        # Half of a digest: 128 bits do not collide by accident.
        hashes = [hashlib.sha256(text.encode(*CODING)).digest()[:16] for text in texts]
        unknown = [digest for digest in hashes if digest not in self._ids]
        if unknown:
            self._ids.update((row[0], row[1]) for row in self._database.by_id(_KNOWN, unknown))
        for digest, text in zip(hashes, texts, strict=True):
            if digest not in self._ids:
                self._ids[digest] = self._next
                self._new.append((self._next, digest, self._plain.compress(text.encode(*CODING))))
                self._next += 1
        return Shared(tuple(self._ids[digest] for digest in hashes), tuple(texts))

    def pack(self, value: Any, form: Shared, base: Shared = NOTHING, apart: Any = None) -> Packed:
        """Pack a JSON value.

        Args:
            value: what is packed.
            form: texts that all values of its kind resemble: they are compressed against these.
            base: further texts that it resembles or has, such as those of the case's item.
            apart: the part of the value whose long strings get rows of their own, because other values have them too.
        """
        before = form + base
        known = set(before.texts)
        shared = before + self.share([text for text in dict.fromkeys(collect_texts(apart)) if text not in known])
        places = {text: place for place, text in enumerate(shared.texts)}
        left: list[str] = []
        data = compact(fold(value, places, left)).encode()
        # A string that starts with the mark and is not among the texts would be read as a place.
        odd = [text for text in dict.fromkeys(left) if text[0] == "\0"]
        if odd:
            return self.pack(value, form, shared.after(form) + self.share(odd))
        # Every base makes a compressor of its own, which costs more than all else: worth it for a long text alone.
        against = before if left else form
        ids = (*against.ids, _END, *shared.after(against).ids)
        return compact(ids), self._against.compress(data, join_texts(against.texts))


class TextsTable:
    """Texts by id, and how values are read that were packed against them."""

    def __init__(self, database: Database) -> None:
        """Use `Store` instead."""
        self._database = database

    def packer(self) -> Packer:
        """Return a packer; only one at a time, and what it packs is written before the next."""
        # Ids are given before the rows are written, so two packers at once would give the same ones.
        ((last,),) = self._database.rows("SELECT coalesce(max(id), 0) FROM texts")
        return Packer(self._database, last + 1)

    def unpack(self, rows: Sequence[tuple[str, bytes]]) -> Iterator[Any]:
        """Yield the values of rows, read together.

        Raises:
            DamagedStoreError: one of them is not what was written.
        """
        listed = [self._ids(ids) for ids, _ in rows]
        # One query for all rows: most texts are shared by several of them.
        texts = self._texts({text_id for ids in listed for text_id in ids})
        unpack = Decompressor().value
        for ids, (_, blob) in zip(listed, rows, strict=True):
            with self._refuse_damage():
                value = unpack(ids, blob, texts)
            yield value

    def read_shared(self, rows: Sequence[tuple[str, str]]) -> dict[str, Shared]:
        """Return the texts that values name, by what names the values.

        Raises:
            DamagedStoreError: a text is not what was written, or is gone.
        """
        listed = {name: tuple(text_id for text_id in self._ids(ids) if text_id != _END) for name, ids in rows}
        texts = self._texts({text_id for ids in listed.values() for text_id in ids})
        with self._refuse_damage():
            return {name: Shared(ids, tuple(texts[text_id] for text_id in ids)) for name, ids in listed.items()}

    def _ids(self, written: object) -> tuple[int, ...]:
        """Return the ids of texts that a row names."""
        with self._refuse_damage():
            ids = orjson.loads(written)  # type: ignore[arg-type] # whatever a damaged page holds
            if not isinstance(ids, list) or not _NUMBER.issuperset(map(type, ids)):
                raise ValueError("no list of ids")
            return tuple(ids)

    def _texts(self, ids: Iterable[int]) -> dict[int, str]:
        text_of = Decompressor().text
        ids = set(ids) - {_END}
        with self._refuse_damage():
            return {row[0]: text_of(row[1]) for row in self._database.by_id(_BODIES, sorted(ids))}

    @contextmanager
    def _refuse_damage(self) -> Iterator[None]:
        """Turn what reading a changed text raises into a message that says how to save the rest."""
        try:
            yield
        except BROKEN as error:
            path = self._database.path
            raise DamagedStoreError(
                f"a text in '{path}' changed after jrh wrote it. {SALVAGE.format(name=path.parent)}"
            ) from error
