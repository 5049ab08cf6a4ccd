"""Columns of records as bytes, and back; what comes back equals what was given, bit by bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jrh.values.packed_ids import PackedIds, as_bytes

_END: Final = b"\n"
"""Ends the head, which is JSON without line breaks."""
_TYPES: Final = {kind.str: kind for kind in map(np.dtype, "bBhHiIqQfd")}
"""What a column can be made of."""


def pack_codes(codes: NDArray[np.signedinteger], categories: Sequence[str]) -> bytes:
    """Return codes and the texts they stand for as bytes."""
    ids = categories if isinstance(categories, PackedIds) else None
    return _packed(codes, b"" if ids is None else ids.to_bytes(), None if ids is not None else list(categories))


def unpack_codes(data: bytes) -> tuple[NDArray[np.signedinteger], Sequence[str]]:
    """Return what `pack_codes` was given.

    Raises:
        ValueError, KeyError, TypeError: these are other bytes.
    """
    codes, rest, categories = _unpacked(data)
    return codes, PackedIds.from_bytes(rest) if categories is None else tuple(categories)


def pack_numbers(values: NDArray[Any]) -> bytes:
    """Return numbers as bytes."""
    return _packed(values, b"", None)


def unpack_numbers(data: bytes) -> NDArray[Any]:
    """Return what `pack_numbers` was given; raise what `unpack_codes` does."""
    return _unpacked(data)[0]


def _packed(column: NDArray[Any], rest: bytes | memoryview, categories: list[str] | None) -> bytes:
    same = len(column) > 0 and column.strides == (0,)  # one value for all rows stays one
    head = {"type": column.dtype.str, "rows": len(column), "same": same, "categories": categories}
    return b"".join((json.dumps(head).encode("ascii"), _END, as_bytes(column[:1] if same else column), rest))


def _unpacked(data: bytes) -> tuple[NDArray[Any], bytes, list[str] | None]:
    end = data.index(_END)
    head = json.loads(data[:end])
    body = memoryview(data)[end + 1 :]
    column = np.frombuffer(body, dtype=_TYPES[head["type"]], count=1 if head["same"] else head["rows"]).copy()
    rest = bytes(body[column.nbytes :])
    return np.broadcast_to(column, (head["rows"],)) if head["same"] else column, rest, head["categories"]
