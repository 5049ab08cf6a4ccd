"""Entry points of what is installed, read once in a process: a run asks for them several times, 20 ms each."""

from __future__ import annotations

import sys
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
INSTALLED: Final = frozenset(sys.path)
"""Where this environment's distributions are; no test changes them."""
_read_anew: Final = metadata.entry_points
_remembered: dict[tuple[object, ...], metadata.EntryPoints] = {}


def remember_entry_points() -> None:
    """Read the entry points of a path once in this process, whoever asks for them."""
    metadata.entry_points = entry_points


def entry_points(**which: Any) -> metadata.EntryPoints:
    """Return the entry points of what is installed.

    Directories that a test adds to the path are searched every time.
    """
    elsewhere = any(not path.startswith(str(ROOT)) for path in INSTALLED.symmetric_difference(sys.path))
    if elsewhere or not which:  # without a group the answer is another type in Python 3.11
        return _read_anew(**which)
    place = (*sys.path, *sorted(which.items()))
    if place not in _remembered:
        _remembered[place] = _read_anew(**which)
        for point in _remembered[place]:
            point.dist.__class__ = ReadOnce
    return _remembered[place]


class ReadOnce(metadata.PathDistribution):
    """A distribution whose metadata are parsed once; loading plugins asks for those of every plugin."""

    @cached_property
    def metadata(self) -> Any:
        """Return the metadata, parsed."""
        return super().metadata
