"""Extract the texts of a question for the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jrh import Json, Mode
from jrh.text import flat_text, utf8_text


class Document(NamedTuple):
    """One judged text with the request it answers."""

    text: str
    request: str


def documents_of(fields: Mapping[str, Json], mode: Mode) -> tuple[Document, ...]:
    """Return one document per judged field of the mode, in the mode's order; missing fields are empty."""
    request = utf8_text(flat_text(fields.get("request")))
    return tuple(Document(utf8_text(flat_text(fields.get(name))), request) for name in mode.judged_fields)
