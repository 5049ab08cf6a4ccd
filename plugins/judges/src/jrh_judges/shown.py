"""Item fields as a template sees them, and delimiters that no item can close."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from jrh import Json

_TAG = re.compile(r"<\s*/?\s*(?:request|response|response_[ab]|transcript)(?![a-z])", re.IGNORECASE)


class ShownList(tuple[Any, ...]):
    """A list whose text is readable: a transcript as messages, anything else as JSON."""

    __slots__ = ()

    def __str__(self) -> str:
        """Write messages one below the other, each under its role."""
        if self and all(isinstance(part, Mapping) and "role" in part for part in self):
            return "\n\n".join(_message(part, number) for number, part in enumerate(self, 1))
        return _json(self)


class ShownMapping(dict[str, Any]):
    """A mapping whose text is JSON."""

    def __str__(self) -> str:
        """Write JSON, keys in the item's order."""
        return _json(self)


def shown(fields: Mapping[str, Json]) -> dict[str, object]:
    """Return the fields for a template: text as it is, structures readable and still accessible by key."""
    return {name: value if isinstance(value, str) else _shown(value) for name, value in fields.items()}


def mark_for(values: Iterable[object]) -> str:
    """Return what is appended to the delimiting tags so that no text can close them.

    Empty as long as no text has such a tag; otherwise the first of `-1`, `-2`, ... that occurs in none of the texts.
    The same texts give the same mark.
    """
    texts = [str(value) for value in values]
    if not any("<" in text and _TAG.search(text) for text in texts):
        return ""
    return next(mark for mark in (f"-{number}" for number in count(1)) if not any(mark in text for text in texts))


def _shown(value: Json) -> object:
    if isinstance(value, Mapping):
        return ShownMapping(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ShownList(value)
    return "" if value is None else value


def _message(message: Mapping[str, Json], number: int) -> str:
    rest = {key: value for key, value in message.items() if key not in ("role", "content") and value}
    parts = [f"[{number}] {message['role']}:", _content(message.get("content"))]
    parts += [f"{key}: {_content(value)}" for key, value in rest.items()]
    return "\n".join(part for part in parts if part)


def _content(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a field holds {type(value).__name__}, which is not JSON")
