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
from attrs import asdict, define, field, validators
from filelock import FileLock, Timeout
from jrh import JrhError
from jrh_interchange import check_table_file
from jrh_measuring import Floats

_HEADER: Final = "jrh_watch"
_VERSION: Final = 1
_PATIENCE: Final = 30.0
"""Seconds to wait for another `jrh watch` with the same store."""
# A store may come from somebody else: what is of another type or size is damage, not a traceback later.
_TEXT: Final = validators.instance_of(str)
_CODE: Final[Sequence[Any]] = [validators.instance_of(int), validators.ge(-1)]
_NUMBER: Final[Sequence[Any]] = [validators.instance_of((int, float)), validators.ge(-1), validators.le(1)]


def _list_of(*member: Any) -> Any:
    return validators.deep_iterable(validators.and_(*member), validators.instance_of((list, tuple)))


@define(kw_only=True, slots=False)
class Anchors:
    """The frozen items, as the first look found them."""

    judge: str = field(validator=_TEXT)
    alpha: float = field(validator=[*_NUMBER, validators.gt(0)])
    identity: str = field(validator=_TEXT)
    """Digest of judge, model and parser with their options, without versions."""
    prompt: str = field(validator=_TEXT)
    labels: Sequence[str] = field(validator=_list_of(_TEXT))
    items: Sequence[Sequence[str]] = field(validator=_list_of(_list_of(_TEXT)))
    """Task, id, and digest of the text of every item."""
    clusters: Sequence[int] = field(validator=_list_of(*_CODE, validators.ge(0)))
    gold: Sequence[int] = field(validator=_list_of(*_CODE))
    """Positions in `labels`, -1 where the item has no label."""
    positions: Mapping[str, Sequence[float]] = field(validator=validators.deep_mapping(_TEXT, _list_of(*_NUMBER)))
    """Task -> where its labels are on its scale; -1 where it has no direction."""
    repeats: int = field(validator=[*_CODE, validators.ge(1)])

    @cached_property
    def levels(self) -> Floats:
        """Return where every label is on the scale of an item, shape (items, labels)."""
        return np.array([self.positions[item[0]] for item in self.items], dtype=np.float64)


@define(kw_only=True)
class Look:
    """The verdicts of one run."""

    id: str = field(validator=_TEXT)
    run: str = field(validator=_TEXT)
    ended: str = field(validator=_TEXT)
    served: tuple[str, ...] = field(converter=tuple[str, ...], validator=_list_of(_TEXT))
    fingerprint: str = field(validator=_TEXT)
    verdicts: Sequence[Sequence[int]] = field(validator=_list_of(_list_of(*_CODE)))
    """By item and repeat: a position in the labels, -1 without a verdict."""
    p: Mapping[str, float] = field(factory=dict, validator=validators.deep_mapping(_TEXT, validators.and_(*_NUMBER)))
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
        whole_looks = anchors is None or _are_whole(anchors, looks)
    except (TypeError, ValueError):
        whole_looks = False
    if not whole_looks:
        raise JrhError(f"'{path}' is damaged: a row is not as `jrh watch` wrote it; restore the file from a copy")
    return LooksFile(path=path, anchors=anchors, looks=looks)


def _are_whole(anchors: Anchors, looks: Sequence[Look]) -> bool:
    """Return whether every list has a place for each item, repeat and label, and every code its label."""
    size, verdicts = len(anchors.items), [item for look in looks for item in look.verdicts]
    return (
        {len(each) for each in (anchors.clusters, anchors.gold, *(look.verdicts for look in looks))} == {size}
        and {len(item) for item in verdicts} <= {anchors.repeats}
        and {len(each) for each in anchors.positions.values()} == {len(anchors.labels)}
        and all(len(item) == 3 and item[0] in anchors.positions for item in anchors.items)  # noqa: PLR2004
        and max([*anchors.gold, *(code for item in verdicts for code in item)]) < len(anchors.labels)
        and max(anchors.clusters) < size
        and all(look.p.keys() == looks[1].p.keys() for look in looks[1:])
    )


def _begins_as_store(text: bytes) -> bool:
    """Return whether a file begins as a store does, or is what a kill left of its first row."""
    start = f'{{"{_HEADER}":'.encode()
    return start.startswith(text[: len(start)])


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise JrhError(f"'{path}', line {number} is damaged; restore the file from a copy")
    return value
