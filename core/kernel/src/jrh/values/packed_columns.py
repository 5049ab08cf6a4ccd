"""Columns of records as pieces of bytes, and back; what comes back equals what was given, bit by bit.

A large column is not in memory as bytes: its pieces are made, and read, one at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jrh.values.column_file import ColumnFile
from jrh.values.packed_ids import WORD, WORDS, PackedIds

Piece: TypeAlias = bytes | memoryview
_PIECE: Final = 2**20
"""Most bytes of a piece; a whole number of codes, numbers and ids."""
_TYPES: Final = {kind.str: kind for kind in map(np.dtype, "bBhHiIqQfd")}
"""What a column can be made of."""


def pack_codes(codes: NDArray[np.signedinteger], categories: Sequence[str]) -> Iterator[Piece]:
    """Yield codes and the texts they stand for as bytes."""
    if isinstance(categories, PackedIds):
        yield from _packed(codes, len(categories.words), None)
        yield from _pieces(categories.words)
    else:
        yield from _packed(codes, 0, list(categories))


def unpack_codes(pieces: Iterable[Piece], file: ColumnFile) -> tuple[NDArray[np.signedinteger], Sequence[str]]:
    """Return what `pack_codes` was given; large arrays are in the file.

    Raises:
        ValueError, KeyError, TypeError, BufferError: these are other bytes.
    """
    feed = iter(pieces)
    codes, head = _unpacked(feed, file)
    if head["categories"] is not None:
        return codes, tuple(head["categories"])
    return codes, PackedIds(_array(feed, head["ids"] * WORDS, WORD, file).reshape(-1, WORDS))


def pack_numbers(values: NDArray[Any]) -> Iterator[Piece]:
    """Yield numbers as bytes."""
    return _packed(values, 0, None)


def unpack_numbers(pieces: Iterable[Piece], file: ColumnFile) -> NDArray[Any]:
    """Return what `pack_numbers` was given, in the file if it is large; raise what `unpack_codes` does."""
    return _unpacked(iter(pieces), file)[0]


def _packed(column: NDArray[Any], ids: int, categories: list[str] | None) -> Iterator[Piece]:
    same = len(column) > 0 and column.strides == (0,)  # one value for all rows stays one
    head = {"type": column.dtype.str, "rows": len(column), "same": same, "ids": ids, "categories": categories}
    yield json.dumps(head).encode("ascii")
    yield from _pieces(column[:1] if same else column)


def _pieces(array: NDArray[Any]) -> Iterator[memoryview]:
    rows = _PIECE // (array.itemsize * (array.shape[1] if array.ndim > 1 else 1))
    for start in range(0, len(array), rows):
        yield np.ascontiguousarray(array[start : start + rows]).reshape(-1).view(np.uint8).data


def _unpacked(pieces: Iterator[Piece], file: ColumnFile) -> tuple[NDArray[Any], dict[str, Any]]:
    head = json.loads(bytes(next(pieces, b"")))
    rows, kind = head["rows"], _TYPES[head["type"]]
    if head["same"]:
        return np.broadcast_to(_array(pieces, 1, kind, file), (rows,)), head
    return _array(pieces, rows, kind, file), head


def _array(pieces: Iterator[Piece], size: int, kind: np.dtype[Any], file: ColumnFile) -> NDArray[Any]:
    """Read the pieces of one array."""
    number = -(-size * kind.itemsize // _PIECE)
    return file.joined((np.frombuffer(piece, dtype=kind) for piece in islice(pieces, number)), (size,), kind)
