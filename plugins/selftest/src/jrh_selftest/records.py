"""Lay out drawn verdicts as the records of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from jrh import RecordTable, Status, Task
from jrh.values import Categorical
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_CONSTANT: Final = {
    **dict.fromkeys(("variant", "stratum", "template", "option_order"), ("",)),
    "polarity": ("positive",),
}
"""Columns with one value, unless a design has others."""


def planted_table(
    task: Task,
    *,
    judges: tuple[str, ...],
    tests: tuple[str, ...],
    items: int,
    copies: int,
    item: Codes,
    test: Codes,
    repeat: Codes,
    gold: Codes,
    said: Codes,
    judge: Codes | None = None,
    presented: Codes | None = None,
    more: Mapping[str, tuple[Codes, tuple[str, ...]]] | None = None,
) -> RecordTable:
    """Return the records; one value per verdict in every array of codes.

    Args:
        task: with the scale whose labels `gold` and `said` are codes of.
        judges: names.
        tests: names, the reference first.
        items: number of items.
        copies: items of one group; they follow each other.
        item: the item.
        test: the test.
        repeat: number of the asking.
        gold: the right label.
        said: the verdict, -1 where it is missing.
        judge: the judge; the only one by default.
        presented: the verdict as presented, if it differs.
        more: further columns, or others in the place of those with one value.
    """
    labels, zero, changed = task.scale.labels, np.zeros(len(item), dtype=np.int64), (test > 0).astype(np.int64)
    names = tuple(f"item-{number:05}" for number in range(items))
    coded = {
        **{name: (zero, values) for name, values in _CONSTANT.items()},
        "task": (zero, (task.name,)),
        "judge": (zero if judge is None else judge, judges),
        "item_id": (item, names),
        "group": (item // copies * copies, names),
        "case_id": (item + test * items, tuple(f"{name}/{each}" for each in tests for name in names)),
        "test": (test, tests),
        "family": (test, tests),
        "gold": (gold, labels),
        "expectation": (changed, ("equals", "same")),
        "expected": (np.where(changed == 0, gold, -1), labels),
        "status": ((said < 0).astype(np.int64), (Status.OK.value, Status.UNPARSABLE.value)),
        "presented": (said if presented is None else presented, labels),
        "canonical": (said, labels),
        **(more or {}),
    }
    numeric = {
        "repeat": repeat.astype(np.float64),
        "simulated": np.ones(len(item)),
        "strength": np.zeros(len(item)),
    }
    return RecordTable(
        {name: Categorical(codes.astype(np.int32), categories) for name, (codes, categories) in coded.items()},
        numeric,
    )
