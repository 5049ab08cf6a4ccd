"""The file of `jrh watch`: JSON Lines, to which rows are added and nothing else is done.

The first row holds the items and the settings, every other one a look. A row without an end was cut off by a kill: it
is left out when the file is read, and cut off before the next row is added. The run it came from can be added again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import asdict, define, field
from filelock import FileLock, Timeout
from jrh import JrhError
from jrh_interchange import check_table_file
from jrh_measuring import Floats

_HEADER: Final = "jrh_watch"
_VERSION: Final = 1
_PATIENCE: Final = 30.0
"""Seconds to wait for another `jrh watch` with the same store."""


@define(kw_only=True, slots=False)
class Anchors:
    """The frozen items, as the first look found them."""

    judge: str
    alpha: float
    identity: str
    """Digest of judge, model and parser with their options, without versions."""
    prompt: str
    labels: Sequence[str]
    items: Sequence[Sequence[str]]
    """Task, id, and digest of the text of every item."""
    clusters: Sequence[int]
    gold: Sequence[int]
    """Positions in `labels`, -1 where the item has no label."""
    positions: Mapping[str, Sequence[float]]
    """Task -> where its labels are on its scale; -1 where it has no direction."""
    repeats: int

    @cached_property
    def levels(self) -> Floats:
        """Return where every label is on the scale of an item, shape (items, labels)."""
        return np.array([self.positions[item[0]] for item in self.items], dtype=np.float64)


@define(kw_only=True)
class Look:
    """The verdicts of one run."""

    id: str
    run: str
    ended: str
    served: tuple[str, ...] = field(converter=tuple[str, ...])
    fingerprint: str
    verdicts: Sequence[Sequence[int]]
    """By item and repeat: a position in the labels, -1 without a verdict."""
    p: Mapping[str, float] = field(factory=dict)
    """Stream -> p-value, computed once; none for the first look."""


@define(kw_only=True)
class LooksFile:
    """A store that is open."""

    path: Path
    anchors: Anchors | None
    looks: list[Look]

    def add(self, anchors: Anchors, look: Look) -> None:
        """Append a look, which is durable when this returns; in a new file, after the header."""
        rows: list[dict[str, Any]] = []
        if self.anchors is None:
            self.anchors = anchors
            rows.append({_HEADER: _VERSION, **asdict(self.anchors)})
        rows.append(asdict(look))
        text = "".join(json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n" for row in rows)
        try:
            with self.path.open("ab") as file:
                file.write(text.encode("ascii"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise JrhError(f"cannot write '{self.path}': {error.strerror or error}") from error
        self.looks.append(look)


@contextmanager
def open_looks(path: Path, *, write: bool) -> Iterator[LooksFile]:
    """Open a store; to write, no other process uses it meanwhile, and a row that a kill cut off is removed.

    Raises:
        JrhError: it is no store, is damaged, or is in use.
    """
    if not write:
        yield _read(path, cut=False)
        return
    lock = FileLock(f"{path}.lock", timeout=_PATIENCE, mode=0o600)
    try:
        _read(path, cut=False)  # a file that is no store gets no lock
        with lock:
            yield _read(path, cut=True)
    except Timeout:
        raise JrhError(f"'{path}' is in use by another `jrh watch`; try again when it has ended") from None
    except OSError as error:
        raise JrhError(f"cannot use '{path}': {error.strerror or error}") from error


def _read(path: Path, *, cut: bool) -> LooksFile:
    if not path.exists():
        return LooksFile(path=path, anchors=None, looks=[])
    check_table_file(path)
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not _begins_as_store(text):
        raise JrhError(f"'{path}' is no store of `jrh watch`; name another file")
    values = [_parse(path, number, line) for number, line in enumerate(whole.splitlines(), start=1)]
    if values and values[0].pop(_HEADER, None) != _VERSION:
        raise JrhError(f"'{path}' is no store of this version of `jrh watch`; name another file")
    if cut and len(whole) < len(text):
        os.truncate(path, len(whole))
    try:
        anchors, looks = (Anchors(**values[0]) if values else None), [Look(**value) for value in values[1:]]
        whole_looks = all(_is_whole(look, anchors) for look in looks if anchors is not None)
    except TypeError:
        whole_looks = False
    if not whole_looks:
        raise JrhError(f"'{path}' is damaged: a row is not as `jrh watch` wrote it; restore the file from a copy")
    return LooksFile(path=path, anchors=anchors, looks=looks)


def _is_whole(look: Look, anchors: Anchors) -> bool:
    return [len(item) for item in look.verdicts] == [anchors.repeats] * len(anchors.items)


def _begins_as_store(text: bytes) -> bool:
    """Return whether a file begins as a store does, or is what a kill left of its first row."""
    start = f'{{"{_HEADER}":'.encode()
    return start.startswith(text[: len(start)])


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise JrhError(f"'{path}', line {number} is damaged; restore the file from a copy")
    return value
