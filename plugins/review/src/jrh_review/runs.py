"""Find run directories and give each a name that an address can hold."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from attrs import define, field
from jrh import JrhError

STORE: Final = "run.sqlite"
DEPTH: Final = 4
"""Levels below a directory where runs are looked for: `runs/<name>` is two."""
MOST: Final = 2_000
"""Runs that are listed."""
_HIDDEN: Final = (".", "__pycache__", "node_modules")


@define
class Runs:
    """The run directories below some places."""

    places: Sequence[Path]
    _known: dict[str, Path] = field(factory=dict, init=False)

    def scan(self) -> dict[str, Path]:
        """Look for runs, and return them by name, the one written to last first.

        A name stays the same as long as its directory does, so that an address can be kept.
        """
        run_dirs = list(dict.fromkeys(path.resolve() for place in self.places for path in _below(place)))[:MOST]
        by_name: dict[str, list[Path]] = {}
        for path in run_dirs:
            by_name.setdefault(_plain(path.name) or "run", []).append(path)
        named = {_name(path, name, paths): path for name, paths in by_name.items() for path in paths}
        self._known = dict(sorted(named.items(), key=lambda pair: (-last_write(pair[1]), pair[0])))
        return self._known

    def path(self, name: str) -> Path:
        """Return the directory of a run.

        Raises:
            JrhError: no run has this name.
        """
        if name not in self._known:
            # A run that began after the last look is found when its address is opened.
            self.scan()
        if name not in self._known:
            raise JrhError("There is no run of this name in the given directories.")
        return self._known[name]


def last_write(run_dir: Path) -> float:
    """Return when a run was last written to, in seconds of the clock; 0 where it is gone."""
    times = []
    # SQLite writes to the log first; the file itself may not change for a long time.
    for name in (STORE, f"{STORE}-wal"):
        try:
            times.append((run_dir / name).stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def _name(path: Path, name: str, same: Sequence[Path]) -> str:
    is_unique = len(same) == 1 and name == path.name
    return name if is_unique else f"{name}~{sha256(os.fsencode(path)).hexdigest()[:8]}"


def _plain(name: str) -> str:
    """Return a name without what an address cannot hold: control characters, bytes that are no text, backslashes."""
    return "".join("_" if sign == "\\" or unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in name)


def _below(place: Path) -> Iterator[Path]:
    """Yield the run directories at and below a place; links to directories are not followed."""
    base = len(place.parts)
    for folder, folders, names in os.walk(place):
        if STORE in names:
            yield Path(folder)
        # `jrh view` in a home directory must not walk all of it.
        deep = len(Path(folder).parts) - base >= DEPTH
        # In place: this is how `os.walk` learns where not to go.
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith(_HIDDEN))
