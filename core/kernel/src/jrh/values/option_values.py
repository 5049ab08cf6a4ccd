"""Define options that mean more than their text: names, local code, files, and objects that a suite in Python holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NewType

from attrs import frozen

ModelName = NewType("ModelName", str)
"""An option that names a model of the suite's `models`; checked when the suite is loaded."""

ParserName = NewType("ParserName", str)
"""An option that names a parser; checked when the suite is loaded."""

ValidatorName = NewType("ValidatorName", str)
"""An option that names a validator; checked when the suite is loaded."""

CodeName = NewType("CodeName", str)
"""An option that names local code, `path/to/file.py:name` or `module:name`; its source is part of the component."""

CommandWord = NewType("CommandWord", str)
"""A word of an option that is a command; the files the command names are part of the component."""


@frozen(kw_only=True)
class Text:
    """An option that is text, written in the suite or in a file that `{file: name}` refers to."""

    content: str
    source: str | None = None
    """The file it came from, as written in the suite."""


PREFIX: Final = "<python>"
"""What the written name of a held object begins with: no file and no module has such a name."""
_LONGEST: Final = 60


class Held(str):
    """The name of a Python object that a suite in Python holds, as an option of type `CodeName`; carries the object."""

    __slots__ = ("thing",)
    thing: Any

    @classmethod
    def of(cls, thing: Any) -> Held:
        """Name an object; a text that is already held stays what it is."""
        if isinstance(thing, Held):
            return thing
        # A name that can stand after the colon of `module:name`.
        held = cls(f"{PREFIX}:{re.sub('[^0-9A-Za-z_]|^(?=[0-9])', '_', name_of(thing))}")
        # Beyond the text: two objects of one name remain two.
        held.thing = thing
        return held


def name_of(thing: Any) -> str:
    """Return a name for an object: its own, or that of its class, with letters, digits and underscores only."""
    # A partial has no name of its own, and its class says nothing.
    while isinstance(thing, partial):
        thing = thing.func
    name = getattr(thing, "__name__", None) or type(thing).__name__
    return re.sub(r"\W+", "_", str(name)[:_LONGEST]).strip("_") or "object"


def is_table(thing: Any) -> bool:
    """Tell whether an object looks like a table: a data frame, an Arrow table, or rows as mappings."""
    if isinstance(thing, list | tuple):
        return bool(thing) and all(isinstance(row, Mapping) for row in thing)
    # By what it can do: the kernel imports no library of tables. pyarrow, polars and pandas have these.
    return any(hasattr(thing, name) for name in ("to_pydict", "collect_schema", "iloc", "__arrow_c_stream__"))
