"""The kernel's own values as JSON text, for the store and the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar
from weakref import ReferenceType, ref

import orjson

from jrh.document.convert import from_json, to_json
from jrh.errors import DamagedStoreError
from jrh.hashing import is_plain

T = TypeVar("T")

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)


_BY_HAND: Final = " "
"""Starts a text that orjson would read as something else, or not at all: numbers of more than 64 bits and lone
surrogates, which are escaped in it."""


def compact(value: object) -> str:
    """Write a plain value as one line of JSON, which holds any text, lone surrogates too.

    Raises:
        ValueError: it holds a float that is not finite.
    """
    if is_plain(value):
        try:
            return orjson.dumps(value).decode()
        except TypeError:
            pass
    return _BY_HAND + _COMPACT.encode(value)


def read_compact(text: str | bytes) -> Any:
    """Read what `compact` wrote, as text or in UTF-8; raise `ValueError` if it is something else."""
    return json.loads(text) if text[:1].isspace() else orjson.loads(text)


def to_text(value: object) -> str:
    """Write a value as one line of JSON; equal values, equal text."""
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
    return _read(cls, lambda: read_compact(text))


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
            "`jrh salvage RUN_DIR` copies what can be read to a new run directory"
        ) from error
