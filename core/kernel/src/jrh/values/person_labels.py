"""Define what people say about items: one label of one person, and the labels of an item together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

from attrs import frozen

from jrh.hashing import content_id
from jrh.values.criteria import TOGETHER_FIELD
from jrh.values.items import Item
from jrh.values.json_values import Json


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


def labelled_fields(item: Item) -> dict[str, Json]:
    """Return the texts that a person labels: one criterion, however many a judge is asked about in one call."""
    hidden = TOGETHER_FIELD if item.criterion is not None else None
    return {name: value for name, value in item.fields.items() if name != hidden}


def item_content(item: Item) -> str:
    """Return the digest of an item's texts."""
    return content_id("labelled", labelled_fields(item))


def labels_that_count(log: Iterable[PersonLabel]) -> dict[tuple[str, str, str, bool], PersonLabel]:
    """Return the label or skip that counts of every person and screen: the last one, unless it was taken back."""
    last = {each.key: each for each in log}
    return {key: each for key, each in last.items() if each.action is not LabelAction.UNDO}


def majority(labels: Mapping[str, str]) -> str | None:
    """Return the most common label of several people; None without labels, or where two are equally common."""
    first = Counter(labels.values()).most_common(2)
    return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None
