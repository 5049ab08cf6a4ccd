"""What people say about items: labels, the file in which `jrh label` keeps them, and gold labels out of it.

Labels outlive every run and are worth more than one, so they are a file of their own that people can read, compare and
put under version control: JSON Lines, to which rows are added and nothing else is done. Every row is on disk (fsync)
before the page says "saved".
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen
from filelock import FileLock, Timeout
from jrh import Item, JrhError, Json, Task, content_id
from jrh.plugins import Stage, plain_value, read_value
from jrh.text import is_person_name
from jrh.values import TOGETHER_FIELD, GoldKind, GoldSource
from jrh_interchange import check_table_file

from jrh_review.options import LabelsFrom

VERSION: Final = 1
LARGEST: Final = 256_000_000
"""Bytes of a file of labels."""
_HEADER: Final = "jrh-labels"
_SEVERAL = 2
_LOCK: Final = ".lock"


class LabelAction(Enum):
    """What a person did on the screen of an item."""

    LABEL = "label"
    SKIP = "skip"
    UNDO = "undo"
    """Takes the person's last label of the item back."""


@frozen(kw_only=True)
class LabelSettings:
    """The settings of a label file's screens; fixed once the file has labels."""

    seed: int = 0
    """Decides the order of the items and of options."""
    repeats: float = 0.1
    """Share of the items that everybody is shown twice."""


@frozen(kw_only=True)
class PersonLabel:
    """One row of the log of labels. Rows are added and never changed."""

    number: int = 0
    """Place in the log, from 1; 0: not stored yet."""
    task: str
    item_id: str
    content: str
    """Digest of the item's texts when it was labelled: a label of other texts does not count."""
    labeller: str
    again: bool = False
    """Whether it is the hidden repeat of an item that the person had already."""
    action: LabelAction
    label: str = ""
    """Canonical; empty unless `action` is `label`."""
    order: str = ""
    """The options of a comparison in the order shown, such as `BA`; empty elsewhere."""
    seconds: float | None = None
    """Time that the item was in sight; None from a table."""
    made: str = ""
    """When, ISO 8601 in UTC."""

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """Return whose label of which screen it is."""
        return self.labeller, self.task, self.item_id, self.again


def fields_to_label(item: Item) -> dict[str, Json]:
    """Return the texts that a person labels: one criterion, however many a judge is asked about in one call."""
    hidden = TOGETHER_FIELD if item.criterion is not None else None
    return {name: value for name, value in item.fields.items() if name != hidden}


def item_content(item: Item) -> str:
    """Return the digest of an item's texts."""
    return content_id("labelled", fields_to_label(item))


def labels_that_count(log: Iterable[PersonLabel]) -> dict[tuple[str, str, str, bool], PersonLabel]:
    """Return the label or skip that counts of every person and screen: the last one, unless it was taken back."""
    # The file is in the order of the decisions, so that a later row replaces an earlier one.
    last = {row.key: row for row in log}
    return {key: row for key, row in last.items() if row.action is not LabelAction.UNDO}


def majority(labels: Iterable[str]) -> str | None:
    """Return the most common label of several; None without labels, or where two are equally common."""
    first = Counter(labels).most_common(2)
    return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None


def add_labels_of_people(items: Iterable[Item], task: Task, path: Path) -> Iterator[Item]:
    """Return the items with their people's labels; the majority is the gold label of items without one.

    A hidden repeat tells how far a person agrees with themselves and is no second vote. An item whose people are split
    evenly stays without a gold label. A label of another text than the item has now does not count.

    Raises:
        JrhError: the file cannot be read, or has a label that is not on the task's scale.
    """
    _, rows = read_labels(path)
    by_item: dict[str, list[PersonLabel]] = {}
    for label in labels_that_count(rows).values():
        if label.task == task.name and label.action is LabelAction.LABEL and not label.again:
            if label.label not in task.scale:
                raise JrhError(
                    f"{path}: {label.labeller} labelled item '{label.item_id}' as '{label.label}', which is not on the "
                    f"scale {', '.join(task.scale.labels)}"
                )
            by_item.setdefault(label.item_id, []).append(label)
    return (_label_item(item, by_item.get(item.id, ())) for item in items)


def _label_item(item: Item, rows: Sequence[PersonLabel]) -> Item:
    content = item_content(item)
    # A text that was edited since is another item; its old labels would be noise.
    labels = {row.labeller: row.label for row in rows if row.content == content}
    if not labels:
        return item
    item = evolve(item, labels=dict(sorted(labels.items())))
    gold = majority(labels.values())
    # Labels of the data win: `labels_from` fills gaps and never overrules a source.
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
        check_table_file(path, LARGEST)
        # What follows the last line end is empty, or a row that a kill cut off.
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        raise JrhError(f"there is no label file '{path}' yet; `jrh label` creates it") from None
    except OSError as error:
        raise JrhError(f"cannot read the labels '{path}': {error.strerror or error}") from error
    header = _read(path, 1, lines[0]) if lines else {}
    if header.pop(_HEADER, None) != VERSION:
        raise JrhError(f"{path}:1: this is not a label file that this version of jrh can read")
    try:
        settings = read_value(header, LabelSettings)
    except JrhError as error:
        raise JrhError(f"{path}:1: {error}") from error
    return settings, tuple(_row(path, number, line) for number, line in enumerate(lines[1:], start=2))


def _row(path: Path, number: int, line: bytes) -> PersonLabel:
    fields = _read(path, number, line)
    try:
        row = read_value(fields, PersonLabel)
    except JrhError as error:
        raise JrhError(f"{path}:{number}: {error}") from error
    if not is_person_name(row.labeller):
        raise JrhError(f"{path}:{number}: the labeller's name does not have 1 to 80 visible characters")
    return evolve(row, number=number - 1)


def _read(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise JrhError(f"{path}:{number}: this line is not what jrh writes; restore the file, or remove the line")
    return fields


def _plain(value: object) -> dict[str, Any]:
    return {name: field for name, field in plain_value(value).items() if name != "number" and field not in ("", None)}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


@frozen(kw_only=True)
class LabelsLog:
    """A file of labels that is open for adding; no other process adds to it meanwhile."""

    path: Path
    _lock: FileLock

    @classmethod
    def open(cls, path: Path) -> LabelsLog:
        """Lock a file, which may not exist yet, and cut a row off that a kill left half-written.

        Raises:
            JrhError: another process uses it, or it cannot be written.
        """
        lock = FileLock(f"{path}{_LOCK}")
        with writing_to(path):
            try:
                lock.acquire(timeout=0)
            except Timeout:  # an error of the system by its class, but nothing is wrong with the file
                raise JrhError(f"'{path}' is in use by another `jrh label`") from None
        try:
            _mend(path)
        except BaseException:
            lock.release()
            raise
        return cls(path=path, lock=lock)

    def close(self) -> None:
        """Let others use the file."""
        self._lock.release()
        Path(f"{self.path}{_LOCK}").unlink(missing_ok=True)

    def start(self, settings: LabelSettings) -> None:
        """Write the header of a new file, or that of a file without labels again."""
        fresh = self.path.with_name(f"{self.path.name}.new")
        with writing_to(self.path):
            with fresh.open("wb") as file:
                file.write(_line({_HEADER: VERSION, **_plain(settings)}))
                file.flush()
                os.fsync(file.fileno())
            # By a rename, which is atomic: at no time is there a file without a header.
            fresh.replace(self.path)
            _sync_directory(self.path.parent)

    def add(self, labels: Iterable[PersonLabel]) -> None:
        """Append rows in one write; they are durable when this returns."""
        text = b"".join(_line(_plain(label)) for label in labels)
        with writing_to(self.path), self.path.open("ab") as file:
            before = file.tell()
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), before)  # nothing is half there when the page says "not saved"
                raise


def _mend(path: Path) -> None:
    """Cut off a last row without an end; a file that does not exist yet has none."""
    with writing_to(path), suppress(FileNotFoundError):
        check_table_file(path, LARGEST)
        with path.open("rb+") as file:
            text = file.read()
            if not text.endswith(b"\n"):
                file.truncate(text.rfind(b"\n") + 1)


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Turn an error of the system into one sentence.

    Raises:
        JrhError: the file cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _sync_directory(folder: Path) -> None:
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens a directory
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


class PeopleLabels(Stage):
    """Labels the items of tasks whose data name a file of labels."""

    def label(self, items: Sequence[Item], task: Task, options: LabelsFrom) -> Iterator[Item]:
        """Return the items with their people's labels."""
        return add_labels_of_people(items, task, options.labels_from)
