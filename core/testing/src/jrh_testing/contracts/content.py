"""Checks that several contracts share: texts without item content, values that are JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from jrh.values.items import Item
from jrh.values.json_values import Json

_LONGEST_REASON = 200
_TELLING = 12
"""Characters in a row that are taken to be an item's words rather than chance."""


def assert_countable(reason: str, item: Item) -> None:
    """Require a reason that can be counted: short, one line, the same for all items of its kind."""
    assert reason.strip(), "a reason is empty"
    assert "\n" not in reason, f"a reason is one line, got {reason!r}"
    assert len(reason) <= _LONGEST_REASON, f"a reason has {len(reason)} characters; {_LONGEST_REASON} are enough"
    assert item.id not in reason, f"the reason {reason!r} names the item; put it into details"
    quoted = next((text for text in texts_of(item.fields) if _quotes(reason, text)), None)
    assert quoted is None, f"the reason {reason!r} quotes the item; put it into details"


def _quotes(reason: str, text: str) -> bool:
    return any(text[start : start + _TELLING] in reason for start in range(len(text) - _TELLING + 1))


def texts_of(value: Json) -> Iterator[str]:
    """Yield every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_of(inner)


def assert_json(value: object, what: str) -> None:
    """Require a value that the store can keep: JSON without NaN, keys are text."""
    try:
        json.dumps(value, allow_nan=False, default=_mapping)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} is not JSON: {error}") from error


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
