"""The kernel's own values as JSON text, for the store and the cache."""

from __future__ import annotations

import json
from typing import TypeVar

from jrh.convert import from_json, to_json

T = TypeVar("T")


def to_text(value: object) -> str:
    """Write a value as one line of ASCII JSON, which holds any text, lone surrogates too; equal values, equal text."""
    return json.dumps(to_json(value), separators=(",", ":"), allow_nan=False)


def storable(text: str) -> str:
    """Return a text for a column of its own: what UTF-8 cannot hold, a lone surrogate, becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def from_text(cls: type[T], text: str) -> T:
    """Read what `to_text` wrote."""
    return from_json(cls, json.loads(text))
