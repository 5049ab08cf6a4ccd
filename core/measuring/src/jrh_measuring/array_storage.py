"""Put the arrays of any value into the temporary file of a table: what no one reads takes no memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, Final, TypeVar

import attrs
import numpy as np
from jrh.values.column_file import ColumnFile

T = TypeVar("T")

_FEW: Final = 64
_PLAIN: Final = (str, int, float)
"""Of many parts, the first of which is one of these, none is looked at: they are names or numbers."""
_MOST: Final = 2**16
"""Parts of a value that are looked at, which takes a tenth of a second; arrays in the others stay in memory."""
_DEEPEST: Final = 50
"""Levels of a value that are looked at."""


def put_all(file: ColumnFile, value: T) -> T:
    """Put the arrays of a value: of its fields where it is an attrs object, of its parts where it has several.

    Attrs objects, lists and dicts are changed in place: their arrays must not be in use elsewhere.
    """
    return _Putting(file).of(value)


class _Putting:
    """Puts each array of a value once, so that what was one array stays one."""

    def __init__(self, file: ColumnFile) -> None:
        self._file = file
        self._done: dict[int, tuple[object, object]] = {}
        self._level = 0

    def of(self, value: T) -> T:
        if value is None or isinstance(value, _PLAIN):
            return value
        known = self._done.get(id(value))
        if known is None:
            # Beyond these bounds arrays stay in memory, which costs room and changes no result.
            if len(self._done) >= _MOST or self._level >= _DEEPEST:
                return value
            # The value is kept with the result: another could have its id otherwise.
            self._done[id(value)] = (value, value)
            self._level += 1
            known = self._done[id(value)] = (value, self._put(value))
            self._level -= 1
        return known[1]  # type: ignore[return-value]  # of the same type

    def _put(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            # An array of objects holds pointers, which mean nothing in a file.
            return self._file.put(value) if value.dtype != np.object_ else value
        # Scores hold what computes their sides as partials: the arrays among their arguments are the large ones.
        if type(value) is partial:
            return self._put_partial(value)
        if type(value) is tuple:
            # A tuple cannot be changed in place: there is a new one if some part is.
            put = value if _are_plain(value) else tuple(map(self.of, value))
            return value if all(after is before for after, before in zip(put, value, strict=True)) else put
        if type(value) is dict and not _are_plain(value.values()):
            self._put_parts(value, list(value.items()))
        elif type(value) is list and not _are_plain(value):
            self._put_parts(value, list(enumerate(value)))
        elif attrs.has(type(value)):
            for attribute in attrs.fields(type(value)):
                before = getattr(value, attribute.name, None)
                if (after := self.of(before)) is not before:
                    # Frozen classes, too: the numbers are the same, only their place is another.
                    object.__setattr__(value, attribute.name, after)
        return value

    def _put_partial(self, value: partial[Any]) -> partial[Any]:
        args, keywords = self.of(value.args), self.of(dict(value.keywords))
        if args is value.args and all(keywords[name] is before for name, before in value.keywords.items()):
            return value
        return partial(value.func, *args, **keywords)

    def _put_parts(self, value: Any, parts: Iterable[tuple[Any, object]]) -> None:
        for place, before in parts:
            if (after := self.of(before)) is not before:
                value[place] = after


def _are_plain(parts: Collection[object]) -> bool:
    return len(parts) > _FEW and isinstance(next(iter(parts)), _PLAIN)
