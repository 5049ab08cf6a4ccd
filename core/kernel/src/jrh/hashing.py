"""Derive ids and seeds from content, so that the same work has the same id everywhere."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from types import NoneType
from typing import Any, Final, TypeVar

import orjson

T = TypeVar("T")

ID_LENGTH: Final = 32
"""Hexadecimal digits of an id: 128 bits."""

_HASHED_AT_ONCE: Final = 2047
_LEAVES: Final = frozenset({str, int, bool, NoneType})
_WRITTEN_ALIKE: Final = (1e-4, 1e16)
"""Floats that Python and orjson both write without an exponent."""
_CANONICAL: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """Write JSON with sorted keys and without white space, so that equal values give equal text."""
    # orjson takes a tenth of the time, but writes some floats in another way.
    if is_plain(value, _WRITTEN_ALIKE):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        except TypeError:  # a lone surrogate, a key that is no text, a number of more than 64 bits
            pass
    return _CANONICAL.encode(value)


def is_plain(value: object, floats: tuple[float, float] = (0.0, inf)) -> bool:
    """Tell whether a value is made of JSON's own types, so that orjson writes it as the standard library does.

    Args:
        value: of any type.
        floats: from which absolute value and below which one floats are allowed; zero always is.
    """
    kind = type(value)
    if kind is dict:
        parts: Iterable[object] = value.values()  # type: ignore[attr-defined]
    elif kind is list or kind is tuple:
        parts = value  # type: ignore[assignment]
    elif kind is float:
        return not value or floats[0] <= abs(value) < floats[1]  # type: ignore[arg-type]
    else:
        return kind in _LEAVES
    # A loop: a generator would cost as much again, and every reply and item comes by here. So would a look at all parts
    # beforehand, since most values have a part that is no leaf.
    for part in parts:  # noqa: SIM110
        if type(part) not in _LEAVES and not is_plain(part, floats):
            return False
    return True


def content_id(*parts: object) -> str:
    """Return the id of JSON-like parts: the first 128 bits of SHA-256 over their canonical JSON."""
    # JSON escapes can put lone surrogates into a text; strict UTF-8 would refuse to encode them.
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


def texts_id(texts: Sequence[str], *first: str) -> str:
    """Return the id of texts, which are hashed as they are: several times as fast as the id of parts.

    The lengths of all texts come first, so that no two lists are hashed alike.

    Args:
        texts: the texts.
        first: further texts before them.
    """
    written = [text.encode("utf-8", "surrogatepass") for text in (*first, *texts)]
    digest = hashlib.sha256(repr([len(text) for text in written]).encode())
    for text in written:
        # From 2,048 bytes on, hashlib lets other threads run, which takes longer to get back from than the hashing.
        for start in range(0, len(text), _HASHED_AT_ONCE):
            digest.update(text[start : start + _HASHED_AT_ONCE])
    return digest.hexdigest()[:ID_LENGTH]


def derive_seed(run_seed: int, *parts: object) -> int:
    """Derive a seed from the run's seed and its purpose, for example family, item and variant.

    Returns:
        A number from 0 to 2**31 - 1, which every library and provider accepts.
    """
    return int(content_id("seed", run_seed, *parts)[:8], 16) & 0x7FFFFFFF


def shuffled(things: Sequence[T], seed: int) -> list[T]:
    """Shuffle a sequence by a seed, with the same result in every version of Python."""
    # `Random.random` is the only method whose sequence Python guarantees across versions; `shuffle` may change.
    draws = random.Random(seed)  # noqa: S311 - a seeded order, no secret
    keys = [draws.random() for _ in things]
    return [things[place] for place in sorted(range(len(things)), key=keys.__getitem__)]


class RepeatedKeyError(ValueError):
    """Report a JSON object that has a key twice: it says two things, and the last is not more its word."""


def distinct_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, as the `object_pairs_hook` of Python's `json`, which alone would take the last of two keys.

    Raises:
        RepeatedKeyError: a key appears twice.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise RepeatedKeyError(f"key '{repeated[:80]}' appears twice in one object")
    return values
