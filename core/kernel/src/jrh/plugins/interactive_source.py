"""The source of a function that has no file: one of a notebook or an interactive session."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final
from uuid import uuid4

_THIS_PROCESS: Final = uuid4().hex
_PLAIN: Final = (bool, int, float, str, bytes, type(None), tuple, frozenset)


def digests(name: str) -> tuple[dict[str, str], bool]:
    """Return name -> digest of an object of `__main__` and of what it uses there, and whether all of it has source.

    Functions, classes and plain values are followed by name. Where a source is not to be had, the digest is a new one
    in every process.
    """
    found: dict[str, str] = {}
    lasting = True
    waiting = [name.partition(".")[0]]
    while waiting:
        current = waiting.pop()
        if current in found or not hasattr(sys.modules["__main__"], current):
            continue
        thing = getattr(sys.modules["__main__"], current)
        text = _text(thing)
        lasting = lasting and text is not None
        found[current] = hashlib.sha256((text or _THIS_PROCESS).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        waiting += _names(thing)
    return found, lasting


def _text(thing: Any) -> str | None:
    if isinstance(thing, _PLAIN):
        return repr(thing)
    if inspect.ismodule(thing) or getattr(thing, "__module__", "__main__") != "__main__":
        return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}"
    try:
        return inspect.getsource(thing if callable(thing) and hasattr(thing, "__name__") else type(thing))
    except (OSError, TypeError):
        return None


def _names(thing: Any) -> Iterator[str]:
    """Yield the global names that the code of a function, or of a class's methods, uses."""
    if getattr(thing, "__module__", None) != "__main__":
        return
    for part in [thing, *vars(thing if isinstance(thing, type) else type(thing)).values()]:
        code = getattr(part, "__code__", None)
        waiting = [code] if code else []
        while waiting:
            current = waiting.pop()
            yield from current.co_names
            waiting += [constant for constant in current.co_consts if inspect.iscode(constant)]
