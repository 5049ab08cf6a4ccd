"""JSON values as small blobs: compressed against the long texts they share with others, which are stored once.

A case is nearly its item. So zstd compresses it with the item's texts as the dictionary: what is stored is the
difference. Strings that equal a shared text are left out altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, Final

import zstandard

from jrh.document.serial import read_compact

LONG: Final = 200
"""Characters from which a text is worth a row of its own; a reference to one takes some 30 bytes."""
LEVEL: Final = 3
"""Levels above 3 save 5% of the bytes of essays and take twice the time."""
_MARK: Final = "\0"
"""Starts the place of a shared text. A string that really starts so is shared whatever its length."""
WRITTEN_MARK: Final = rb'"\u0000'
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


def folded(value: Any, places: Mapping[str, int], left: list[str]) -> Any:
    """Return a JSON value with the strings that have a place replaced by it; other long strings stay.

    Args:
        value: the value.
        places: of the texts.
        left: gets the long strings that stay.
    """
    if isinstance(value, str):
        if not is_shared(value):
            return value
        place = places.get(value)
        if place is None:
            left.append(value)
            return value
        return f"{_MARK}{place}"
    if type(value) is dict or isinstance(value, Mapping):
        return {key: each if type(each) in _NUMBERS else folded(each, places, left) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [folded(each, places, left) for each in value]
    return value


def unfolded(value: Any, texts: Sequence[str]) -> Any:
    """Return what `folded` was given; what is inside of the value is replaced in place."""
    kind = type(value)
    if kind is str:
        return texts[int(value[1:])] if value.startswith(_MARK) else value
    if kind is dict:
        entries = value.items()
    elif kind is list:
        entries = enumerate(value)
    else:
        return value
    for key, each in entries:
        if type(each) is str:
            if each.startswith(_MARK):
                value[key] = texts[int(each[1:])]
        elif type(each) is dict or type(each) is list:
            unfolded(each, texts)
    return value


def read_folded(data: bytes, texts: Sequence[str]) -> Any:
    """Return the value whose folded form `compact` wrote."""
    value = read_compact(data)
    return unfolded(value, texts) if WRITTEN_MARK in data else value


def shared_texts(value: Any) -> list[str]:
    """Return the strings of a JSON value that are stored apart, each once, in order."""
    found: dict[str, None] = {}
    _collect(value, found)
    return list(found)


def _collect(value: Any, found: dict[str, None]) -> None:
    if isinstance(value, str):
        if is_shared(value):
            found[value] = None
    elif isinstance(value, Mapping):
        for each in value.values():
            _collect(each, found)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found)


class Compressor:
    """Compresses bytes against others that will be there when they are read; one thread at a time."""

    def __init__(self) -> None:
        """Start without a dictionary."""
        self._made: dict[tuple[bytes, int], zstandard.ZstdCompressor] = {}

    def compressed(self, data: bytes | memoryview, shared: bytes = b"") -> bytes:
        """Compress bytes; the blob carries a checksum."""
        # Sizes to the next power of two: a dictionary serves for all cases of an item, which follow one another.
        wanted = (shared, len(data).bit_length())
        made = self._made.get(wanted)
        if made is None:
            if len(self._made) == _MOST_CONTEXTS:
                del self._made[next(iter(self._made))]
            made = self._made[wanted] = _compressor(shared, 1 << wanted[1])
        return made.compress(data)


def _compressor(shared: bytes, size: int) -> zstandard.ZstdCompressor:
    # Bytes further back than the window are not found again: it spans the dictionary and the value.
    window = min(max((size + len(shared)).bit_length(), 10), _LARGEST_WINDOW)
    settings = zstandard.ZstdCompressionParameters.from_level(
        LEVEL, source_size=size, dict_size=len(shared), window_log=window, write_checksum=True, write_dict_id=False
    )
    return zstandard.ZstdCompressor(compression_params=settings, dict_data=_dictionary(shared))


class Decompressor:
    """Decompresses many blobs, each compressed against other bytes; one thread at a time."""

    def __init__(self) -> None:
        """Start without a dictionary."""
        self._context = zstandard.ZstdDecompressor()

    def decompressed(self, blob: bytes, shared: bytes = b"") -> bytes:
        """Return what was compressed, or raise `ZstdError` or `ValueError`."""
        if not shared:
            return self._context.decompress(blob)
        # In a chain the bytes of a frame are the dictionary of the next. A context for each dictionary is three times
        # as slow.
        return self._context.decompress_content_dict_chain([_frame(shared), blob])


@lru_cache(maxsize=2)
def _frame(data: bytes) -> bytes:
    """Return bytes as a frame of zstd (RFC 8878) that holds them uncompressed: one segment, its size in 8 bytes."""
    parts = [_FRAME, len(data).to_bytes(8, "little")]
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        last = start + _BLOCK >= len(data)
        parts += [(len(block) << 3 | last).to_bytes(3, "little"), block]
    return b"".join(parts)


def decompressed(blob: bytes, shared: bytes = b"") -> bytes:
    """Return what was compressed.

    Raises:
        zstandard.ZstdError: it is something else, or was compressed against other bytes.
    """
    return zstandard.ZstdDecompressor(dict_data=_dictionary(shared)).decompress(blob)


@lru_cache(maxsize=2)
def _dictionary(shared: bytes) -> zstandard.ZstdCompressionDict | None:
    return zstandard.ZstdCompressionDict(shared, dict_type=zstandard.DICT_TYPE_RAWCONTENT) if shared else None


@lru_cache(maxsize=2)
def joined(texts: tuple[str, ...]) -> bytes:
    """Return texts as one dictionary."""
    return "".join(texts).encode(*CODING)
