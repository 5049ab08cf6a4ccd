"""Extract the JSON object from a model's reply, which may have fences, prose or thoughts around it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from jrh import Json
from jrh.hashing import RepeatedKeyError, distinct_keys

LONGEST_READ: Final = 1_000_000
"""Maximum length in characters; a longer text is not read, to bound the work."""

_MOST_FALSE_STARTS: Final = 200
"""Maximum number of invalid objects; the search stops after that many, to bound the work."""
# An object begins with a key or ends at once; other braces in prose are not worth an attempt to decode.
_START: Final = re.compile(r'\{\s*["}]')
# Drafts of a verdict in there are not the verdict; the opening tag may be missing.
_THOUGHT_OPENS: Final = re.compile(r"\s*<(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_CLOSES: Final = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)

_Placed: TypeAlias = tuple[int, dict[str, Json] | None]
"""Where an object ends, and the object; None if it has a key twice."""


def object_schema(properties: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the JSON schema of an object that has exactly these properties, in this order.

    Closed, so that a provider may bind the model to it (`response_format`).
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def json_text(value: object, indent: int | None = None) -> str:
    """Write a value of any mappings and sequences as JSON, on one line unless it is indented."""
    return json.dumps(value, ensure_ascii=False, indent=indent, default=_container)


def _container(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def read_json(text: str, *, keys: Collection[str] = ()) -> Mapping[str, Json] | None:
    """Return the JSON object of a reply, or None if there is none.

    A reply that is one object is that object. Otherwise the text is searched for objects, in fences or not, with
    anything around them; the last outermost one that has the keys binds. Objects in a thinking block at the
    beginning (`<think>`, `<thinking>`, `<reasoning>`; the opening tag may be missing) are not read. Line breaks
    inside strings are accepted, as models write them. NaN, infinite numbers and a text of more than `LONGEST_READ`
    characters are not. A reply in which an object has a key twice has none. Pure; never raises.

    Args:
        text: the reply.
        keys: keys that the object must have; objects that lack one are skipped.
    """
    if len(text) > LONGEST_READ:
        return None
    bare = text.strip()
    reply = _decode_at(bare, 0)
    # A reply that is one object without the keys is none, even if an object inside of it has them.
    if reply and reply[0] == len(bare) and isinstance(reply[1], dict):
        return reply[1] if _has(reply[1], keys) else None
    every = list(_answered(text))
    # One with a key twice says two things, and neither an earlier object nor one inside of it is the reply's word.
    objects = [] if None in every else [value for value in every if value is not None and _has(value, keys)]
    # Models restate and correct themselves: the last object is what they end with.
    return objects[-1] if objects else None


def json_objects(text: str) -> Iterator[Mapping[str, Json]]:
    """Yield the outermost JSON objects of a reply after its thoughts, in order, ignoring other text."""
    yield from (value for value in _answered(text) if value is not None)


def _answered(text: str) -> Iterator[dict[str, Json] | None]:
    """Yield the outermost objects after the thoughts; None for one that has a key twice."""
    thoughts = _thoughts_end(text)
    # By its end, not its start: an object around the closing tag is not inside the thoughts.
    yield from (value for end, value in _objects(text) if end > thoughts)


def _has(value: Mapping[str, Json], keys: Collection[str]) -> bool:
    return all(key in value for key in keys)


def _thoughts_end(text: str) -> int:
    """Return the end of the leading thoughts; an object that ends before it belongs to them."""
    closes = [match.end() for match in _THOUGHT_CLOSES.finditer(text)]
    if closes:
        return closes[-1]
    return len(text) if _THOUGHT_OPENS.match(text) else 0


def _objects(text: str) -> Iterator[_Placed]:
    """Yield the outermost objects of a text, in order."""
    position, false_starts = 0, 0
    # Each false start may scan to the end of the text, so their number bounds the time.
    while false_starts < _MOST_FALSE_STARTS:
        start = _START.search(text, position)
        if start is None:
            return
        decoded = _decode_at(text, start.start())
        if decoded is None:
            false_starts += 1
            # The object may begin inside of what looked like one, such as `{"a": {"verdict": ...` that is cut.
            position = start.start() + 1
        else:
            position = decoded[0]
            yield decoded


def _decode_at(text: str, start: int) -> _Placed | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RepeatedKeyError:
        try:
            return _REPEATING.raw_decode(text, start)[1], None
        except (ValueError, RecursionError):
            return None
    # A reply of a thousand opening brackets is no reason for a crash.
    except (ValueError, RecursionError):
        return None
    return end, value


def _finite(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written} is not a finite number")
    return value


# A name such as NaN is rejected by handing it to the same check. `strict=False`: control characters inside strings.
_DECODER: Final = json.JSONDecoder(
    parse_float=_finite, parse_constant=_finite, strict=False, object_pairs_hook=distinct_keys
)
_REPEATING: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, strict=False)
"""Finds the end of an object that has a key twice."""
