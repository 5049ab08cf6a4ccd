"""Convert values to plain text, and text to valid UTF-8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jrh.values.json_values import Json


def utf8_text(text: str) -> str:
    """Make text encodable as UTF-8: lone surrogates, which JSON allows, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def flat_text(value: Json) -> str:
    """Return all text within a JSON value, one piece per line; text stays unchanged, null becomes the empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(flat_text(part) for part in value.values())
    if isinstance(value, Sequence):
        return "\n".join(flat_text(part) for part in value)
    return "" if value is None else str(value)
