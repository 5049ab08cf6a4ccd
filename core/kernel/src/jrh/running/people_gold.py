"""Gold labels from people: the file of labels that `jrh label` writes, and the items they are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from jrh.document.convert import structure, to_json
from jrh.document.plain_files import read_plain
from jrh.errors import JrhError
from jrh.text.visible import is_person_name
from jrh.values.gold_source import GoldKind, GoldSource
from jrh.values.items import Item, Task
from jrh.values.person_labels import (
    LabelAction,
    LabelSettings,
    PersonLabel,
    item_content,
    labels_that_count,
    majority,
)

VERSION: Final = 1
LARGEST: Final = 256_000_000
"""Bytes of a file of labels."""
_HEADER: Final = "jrh-labels"
_SEVERAL = 2


def labelled_by_people(items: Iterable[Item], task: Task, path: Path) -> Iterator[Item]:
    """Return the items with their people's labels; the majority is the gold label of items without one.

    A hidden repeat tells how far a person agrees with themselves and is no second vote. An item whose people are split
    evenly stays without a gold label. A label of another text than the item has now does not count.

    Raises:
        JrhError: the file cannot be read, or has a label that is not on the task's scale.
    """
    _, rows = read_labels(path)
    given: dict[str, list[PersonLabel]] = {}
    for each in labels_that_count(rows).values():
        if each.task == task.name and each.action is LabelAction.LABEL and not each.again:
            if each.label not in task.scale:
                raise JrhError(
                    f"{path}: {each.labeller} labelled item '{each.item_id}' as '{each.label}', which is not on the "
                    f"scale {', '.join(task.scale.labels)}"
                )
            given.setdefault(each.item_id, []).append(each)
    return (_labelled(item, given.get(item.id, ())) for item in items)


def _labelled(item: Item, rows: Sequence[PersonLabel]) -> Item:
    content = item_content(item)
    labels = {each.labeller: each.label for each in rows if each.content == content}
    if not labels:
        return item
    item = evolve(item, labels=dict(sorted(labels.items())))
    gold = majority(labels)
    if item.gold is not None or gold is None:
        return item
    kind = GoldKind.PEOPLE if len(labels) >= _SEVERAL else GoldKind.ONE_PERSON
    return evolve(item, gold=gold, gold_source=GoldSource(kind=kind).text)


def read_labels(path: Path) -> tuple[LabelSettings, tuple[PersonLabel, ...]]:
    """Read a file of labels. A last line without an end was never acknowledged, and is left out.

    Raises:
        JrhError: there is no such file, or a line is not what jrh writes; the text names file and line.
    """
    try:
        lines = read_plain(path, LARGEST).split(b"\n")[:-1]
    except FileNotFoundError:
        raise JrhError(f"there is no label file '{path}' yet; `jrh label` creates it") from None
    except OSError as error:
        raise JrhError(f"cannot read the labels '{path}': {error.strerror or error}") from error
    header = _read(path, 1, lines[0]) if lines else {}
    if header.pop(_HEADER, None) != VERSION:
        raise JrhError(f"{path}:1: this is not a label file that this version of jrh can read")
    try:
        settings = structure(header, LabelSettings)
    except JrhError as error:
        raise JrhError(f"{path}:1: {error}") from error
    return settings, tuple(_row(path, number, line) for number, line in enumerate(lines[1:], start=2))


def _row(path: Path, number: int, line: bytes) -> PersonLabel:
    found = _read(path, number, line)
    try:
        row = structure(found, PersonLabel)
    except JrhError as error:
        raise JrhError(f"{path}:{number}: {error}") from error
    if not is_person_name(row.labeller):
        raise JrhError(f"{path}:{number}: the labeller's name does not have 1 to 80 visible characters")
    return evolve(row, number=number - 1)


def _read(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise JrhError(f"{path}:{number}: this line is not what jrh writes; restore the file, or remove the line")
    return found


def _plain(value: object) -> dict[str, Any]:
    found = to_json(value)
    assert isinstance(found, Mapping)  # both are attrs classes
    return {name: each for name, each in found.items() if name != "number" and each not in ("", None)}


def labels_header(settings: LabelSettings) -> bytes:
    """Return the first line of a file of labels."""
    return _line({_HEADER: VERSION, **_plain(settings)})


def label_line(label: PersonLabel) -> bytes:
    """Return a label's line in the file, which numbers it by its place."""
    return _line(_plain(label))


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
