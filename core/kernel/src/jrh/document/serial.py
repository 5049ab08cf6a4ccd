"""The kernel's own values as JSON text, for the store and the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, TypeVar
from weakref import ReferenceType, ref

from jrh.document.convert import from_json, to_json
from jrh.errors import DamagedStoreError

T = TypeVar("T")

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)


def compact(value: object) -> str:
    """Write a plain value as one line of ASCII JSON, which holds any text, lone surrogates too."""
    return _COMPACT.encode(value)


def to_text(value: object) -> str:
    """Write a value as one line of ASCII JSON; equal values, equal text."""
    return compact(to_json(value))


_TEXTS: Final[dict[int, tuple[ReferenceType[object], str]]] = {}
"""Identity of a value -> the value, weakly, and its text."""


def to_text_once(value: object) -> str:
    """Return `to_text` of an immutable value, which is kept while the value lives: a reply is stored in two places."""
    key = id(value)
    kept = _TEXTS.get(key)
    if kept is not None and kept[0]() is value:
        return kept[1]
    text = to_text(value)
    _TEXTS[key] = (ref(value, lambda _: _TEXTS.pop(key, None)), text)
    return text


def from_text(cls: type[T], text: str) -> T:
    """Read what `to_text` wrote.

    Raises:
        DamagedStoreError: it is something else.
    """
    return _read(cls, lambda: json.loads(text))


def from_plain(cls: type[T], value: object) -> T:
    """Read what `to_json` made.

    Raises:
        DamagedStoreError: it is something else.
    """
    return _read(cls, lambda: value)


def _read(cls: type[T], value: Callable[[], object]) -> T:
    try:
        return from_json(cls, value())
    except Exception as error:  # a changed text can break the reading of any type in any way
        kind = getattr(cls, "__name__", str(cls))
        raise DamagedStoreError(
            f"a stored {kind} cannot be read: it is not what jrh wrote; "
            "`jrh report RUN_DIR --salvage` copies what can be read to a new run directory"
        ) from error
