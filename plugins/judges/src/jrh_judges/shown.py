"""Prepare item fields for templates, with delimiters that no item can close."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from jrh import Json, read_transcript
from jrh.text import transcript_problems
from jrh_authoring import LeftOut, Rendered, render_transcript

_TAG = re.compile(r"<\s*/?\s*(?:request|response|response_[a-z]|transcript)(?![a-z])", re.IGNORECASE)

_TRANSCRIPT = "transcript"


class ShownList(tuple[Any, ...]):
    """A list whose text is JSON."""

    __slots__ = ()

    def __str__(self) -> str:
        """Write JSON."""
        return _json(self)


class ShownTranscript(tuple[Any, ...]):
    """The messages of a transcript, whose text is the transcript within its length budget."""

    rendered: Rendered
    left_out: LeftOut
    """What was cut when the template rendered the transcript; nothing if it did not."""

    @classmethod
    def of(cls, value: Sequence[Any], limit: int | None) -> ShownTranscript:
        """Build from a transcript field's messages."""
        made = cls(value)
        made.rendered = render_transcript(read_transcript(value), limit=limit)
        made.left_out = LeftOut()
        return made

    def __str__(self) -> str:
        """Render the transcript and record what was cut."""
        self.left_out = self.rendered.left_out
        return self.rendered.text


class ShownText(str):
    """A transcript that is plain text, within its length budget."""

    __slots__ = ("left_out",)
    left_out: LeftOut

    @classmethod
    def of(cls, text: str, limit: int | None) -> ShownText:
        """Shorten the text if it is too long."""
        rendered = render_transcript(text, limit=limit)
        made = cls(rendered.text)
        made.left_out = rendered.left_out
        return made


class ShownMapping(dict[str, Any]):
    """A mapping whose text is JSON."""

    def __str__(self) -> str:
        """Write JSON, keys in the item's order."""
        return _json(self)


def shown(fields: Mapping[str, Json], limit: int | None = None) -> dict[str, object]:
    """Return the fields for a template: text unchanged, structures as readable JSON and still accessible by key.

    Args:
        fields: of the question.
        limit: the longest transcript in characters.

    Raises:
        JrhError: The field `transcript` is a list but not a transcript.
    """
    return {name: _shown(name, value, limit) for name, value in fields.items()}


def left_out_of(variables: Mapping[str, object]) -> int:
    """Return how many characters of transcripts were cut when the templates were rendered."""
    found = 0
    for value in variables.values():
        if isinstance(value, (ShownTranscript, ShownText)):
            found += value.left_out.characters
    return found


def mark_for(values: Iterable[object]) -> str:
    """Return the suffix for the delimiting tags that keeps any text from closing them.

    It is empty if no text contains such a tag, otherwise the first of `-1`, `-2`, ... that occurs in none of the texts.
    The same texts give the same suffix.
    """
    texts = [value.rendered.text if isinstance(value, ShownTranscript) else str(value) for value in values]
    if not any("<" in text and _TAG.search(text) for text in texts):
        return ""
    return next(mark for mark in (f"-{number}" for number in count(1)) if not any(mark in text for text in texts))


def _shown(name: str, value: Json, limit: int | None) -> object:
    if isinstance(value, str):
        return ShownText.of(value, limit) if name == _TRANSCRIPT else value
    if isinstance(value, Mapping):
        return ShownMapping(value)
    if isinstance(value, Sequence):
        is_transcript = name == _TRANSCRIPT or not transcript_problems(value)
        return ShownTranscript.of(value, limit) if is_transcript else ShownList(value)
    return "" if value is None else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a field holds {type(value).__name__}, which is not JSON")
