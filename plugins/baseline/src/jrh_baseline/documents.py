"""Extract the texts of a question for the features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jrh import Json
from jrh.text import flat_text, utf8_text


class Document(NamedTuple):
    """One judged text with the request it answers."""

    text: str
    request: str


def documents_of(fields: Mapping[str, Json], judged: Iterable[str]) -> tuple[Document, ...]:
    """Return one document per judged field, in their order; missing fields are empty."""
    request = utf8_text(flat_text(fields.get("request")))
    return tuple(Document(utf8_text(flat_text(fields.get(name))), request) for name in judged)
