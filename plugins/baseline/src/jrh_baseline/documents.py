"""The texts of a question, as the features need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jrh import Json, Mode


class Document(NamedTuple):
    """One judged text with the request it answers."""

    text: str
    request: str


def documents_of(fields: Mapping[str, Json], mode: Mode) -> tuple[Document, ...]:
    """Return one document per judged field of the mode, in the mode's order; missing fields are empty."""
    request = clean(flatten(fields.get("request")))
    return tuple(Document(clean(flatten(fields.get(name))), request) for name in mode.judged_fields)


def flatten(value: Json) -> str:
    """Return all text within a JSON value, one piece per line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(flatten(part) for part in value.values())
    if isinstance(value, Sequence):
        return "\n".join(flatten(part) for part in value)
    return "" if value is None else str(value)


def clean(text: str) -> str:
    """Return the text with lone surrogates replaced: what cannot be encoded cannot be hashed."""
    return text.encode("utf-8", "replace").decode("utf-8")
