"""Take values out of the JSON of an export."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from statistics import multimode
from typing import Any, Final

from jrh import Json
from jrh_interchange import value_at

_MOST_FIELDS: Final = 60
_LONGEST: Final = 200
"""Characters of a text that may be a label."""


def find(value: Any, place: str) -> Any:
    """Return what is at a place: keys joined by `/`, for `value_at`; the first of `one or other` that is not empty."""
    for path in place.split(" or "):
        part = value_at(value, *path.split("/"))
        # Tools write empty values where they have none, next to the key that has one.
        if part not in (None, "", [], {}):
            return part
    return None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings of a list; none of anything else."""
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a value as text; of an object its JSON, nothing of None."""
    if value is None or isinstance(value, str):
        return value or ""
    # Sorted: the text also tells whether two values are the same.
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def number(value: Any) -> float | int | None:
    """Return a number, which some tools write as text; None for anything else."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def labels_in(value: Any, name: str) -> Iterable[tuple[str, Json]]:
    """Return what may be a label in a value, by path: the value itself, or the entries of a mapping two levels deep."""
    labels = (
        (path, label)
        for path, label in _entries(value, name, 2)
        if isinstance(label, bool | int | float) or (isinstance(label, str) and 0 < len(label) <= _LONGEST)
    )
    # Metadata may be a whole document; the list of candidates is shown to the user.
    return islice(labels, _MOST_FIELDS)


def _entries(value: Any, name: str, depth: int) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _entries(inner, f"{name}.{key}", depth - 1)
    else:
        yield name, value


def majority(values: Sequence[Json]) -> Json:
    """Return what most people said; None if there is a tie or no label."""
    labels = [value for value in values if value is not None and value != ""]
    modes = multimode(map(text, labels))
    return next(value for value in labels if text(value) == modes[0]) if len(modes) == 1 else None


def seconds(start: str, end: str) -> Callable[[Any], float | None]:
    """Take the seconds between the times at two places, given as numbers or in ISO 8601."""

    def take(value: Any) -> float | None:
        try:
            first, last = (_moment(find(value, place)) for place in (start, end))
        except (ValueError, OverflowError, OSError):
            return None
        # An end before the start is a mistake of the clocks: the time is unknown.
        return last - first if last >= first else None

    return take


def _moment(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else datetime.fromisoformat(str(value)).timestamp()


def thousandths(place: str) -> Callable[[Any], float | None]:
    """Take the seconds of the milliseconds at a place."""

    def take(value: Any) -> float | None:
        milliseconds = number(find(value, place))
        return None if milliseconds is None else milliseconds / 1000

    return take


class Names:
    """Number things by what makes them the same: `test-1`, `test-2`, ... in order of first appearance."""

    def __init__(self, prefix: str) -> None:
        """Start without any."""
        self._prefix = prefix
        self._known: dict[str, str] = {}

    def of(self, *parts: Any) -> str:
        """Return the name of a thing."""
        return self._known.setdefault(text(list(parts)), f"{self._prefix}-{len(self._known) + 1}")
