"""What an item of a task with criteria asks, and how a draft asks otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh import Item, Json, Skip, Task
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, Criterion, asked_together

from jrh_criteria.mode import written_together

NO_CRITERIA: Final = Skip(reason="the task has no criteria; set `mode: criteria`")


def own_of(item: Item) -> tuple[str, str]:
    """Return id and text of the item's criterion; empty without one."""
    one = item.fields.get(CRITERION_FIELD)
    return (str(one["id"]), str(one["text"])) if item.criterion and isinstance(one, Mapping) else ("", "")


def call_of(item: Item) -> dict[str, str]:
    """Return id -> text of all criteria of the item's call, in order; also where it is the only one."""
    own, text = own_of(item)
    return dict(asked_together(item.fields)) or {own: text}


def rubric_of(item: Item, task: Task) -> tuple[Criterion, ...]:
    """Return all criteria of the item's response."""
    if item.criterion is None or task.criteria is None:
        return ()
    return task.criteria.entries or item.criterion.others or (item.criterion.criterion,)


def asking(item: Item, call: Mapping[str, str]) -> dict[str, Json]:
    """Return the fields that ask these criteria in one call, for the verdict on that of the item."""
    own, _ = own_of(item)
    fields: dict[str, Json] = {CRITERION_FIELD: {"id": own, "text": call[own]}}
    if len(call) > 1:
        fields[TOGETHER_FIELD] = written_together(call.items())
    elif TOGETHER_FIELD in item.fields:
        fields[TOGETHER_FIELD] = ""
    return fields


def poles(task: Task) -> tuple[str, str] | None:
    """Return the labels for met and not met; None where there are more, or levels."""
    apart = task.criteria.not_applicable if task.criteria else ""
    labels = [label for label in task.scale.labels if label != apart]
    if task.scale.ordered or len(labels) != 2:  # noqa: PLR2004 - met and not met
        return None
    met = task.scale.positive_label or labels[0]
    return met, next(label for label in labels if label != met)
