"""Keep cells as text exactly as the file writes them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

from attrs import frozen
from jrh import Json


@frozen(kw_only=True)
class Row:
    """One row of a file, by column name."""

    line: int
    """1-based line where the row starts; in formats without lines, the 1-based row."""
    values: Mapping[str, Json]


class Written(float):
    """A number that remembers its spelling in the file: label `1.0` is not label `1`."""

    literal: str

    def __new__(cls, literal: str) -> Written:
        """Read a number; raise `ValueError` if it is too large."""
        number = super().__new__(cls, literal)
        if isinf(number):
            raise ValueError(f"number {literal[:40]} is too large")
        number.literal = literal
        return number


def is_nested(value: Json) -> bool:
    """Return whether a value is a list or an object."""
    return value is not None and not isinstance(value, str | int | float)


def as_text(value: Json) -> str | None:
    """Return a single value as the file writes it: text as it is, numbers by their digits, `true`, None for null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Written):
        return value.literal
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError("lists and objects are not single values")


def plain(value: Json) -> Json:
    """Return the value with plain Python numbers, as components expect them."""
    if isinstance(value, Written):
        return float(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
