"""The verdicts of one judge in one test, as counts by item, level of a factor, and label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from attrs import frozen
from jrh import RecordTable, Status
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Mask = NDArray[np.bool_]


@frozen(kw_only=True)
class Cell:
    """Whose verdicts in which test."""

    judge: str
    task: str
    test: str


@frozen(kw_only=True, eq=False)
class Answers:
    """Verdicts by item, level and label; items, levels and labels are sorted, so that no order of rows shows."""

    cell: Cell
    items: tuple[str, ...]
    levels: tuple[str, ...]
    """The levels of the factor: the names of templates, or the orders of options."""
    labels: tuple[str, ...]
    counts: Counts
    """Verdicts, shape (items, levels, labels)."""
    planned: Counts
    """Trials with or without a verdict, shape (items, levels)."""
    missing: Mapping[str, Counts]
    """Status -> trials without a verdict, shape (items, levels)."""

    @property
    def answered(self) -> Counts:
        """Return the verdicts by item and level, shape (items, levels)."""
        total: Counts = self.counts.sum(axis=2)
        return total

    @property
    def missing_by_status(self) -> dict[str, int]:
        """Return the trials without a verdict by status."""
        return {status: int(found.sum()) for status, found in self.missing.items() if found.any()}


def cells_of(records: RecordTable, *needed: str) -> Iterator[tuple[Cell, RecordTable]]:
    """Yield the rows of every judge, task and test in which all the named text columns are filled."""
    if not len(records) or any(name not in records.columns for name in needed):
        return
    filled = np.ones(len(records), dtype=np.bool_)
    for name in needed:
        empty = [code for code, text in enumerate(records.categories(name)) if not text]
        codes = records.codes(name)
        filled &= (codes >= 0) & ~np.isin(codes, empty)
    for (task, test, judge), rows in records.where(filled).split("task", "test", "judge"):
        yield Cell(judge=judge, task=task, test=test), rows


def answers_of(cell: Cell, rows: RecordTable, *, by: str, label: str) -> Answers:
    """Count the verdicts.

    Args:
        cell: whose rows they are.
        rows: rows of one judge, task and test.
        by: the text column whose values are the levels.
        label: `canonical` or `presented`.
    """
    items, item = coded(rows.text("item_id"))
    levels, level = coded(rows.text(by))
    given = [
        text if status == Status.OK.value else None
        for text, status in zip(rows.text(label), rows.text("status"), strict=True)
    ]
    labels, code = coded(given)
    shape = (len(items), len(levels))
    counts = np.zeros((*shape, len(labels)))
    there = code >= 0
    np.add.at(counts, (item[there], level[there], code[there]), 1)
    planned = np.zeros(shape)
    np.add.at(planned, (item, level), 1)
    missing = {}
    # A trial that is said to be ok and has no label has none.
    told = [Status.OFF_SCALE.value if status == Status.OK.value else str(status) for status in rows.text("status")]
    names, status_code = coded(told)
    for place, name in enumerate(names):
        without = ~there & (status_code == place)
        missing[name] = np.zeros(shape)
        np.add.at(missing[name], (item[without], level[without]), 1)
    return Answers(
        cell=cell, items=items, levels=levels, labels=labels, counts=counts, planned=planned, missing=missing
    )


def coded(values: Sequence[str | None]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct texts, sorted, and every value's place among them, -1 for None."""
    names = tuple(sorted(dict.fromkeys(value for value in values if value is not None)))
    place: dict[str | None, int] = {None: -1} | {name: number for number, name in enumerate(names)}
    return names, np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))


def modal(counts: Counts) -> NDArray[np.int64]:
    """Return the most frequent label along the last axis, -1 where there is none or several."""
    if not counts.shape[-1]:
        return np.full(counts.shape[:-1], -1, dtype=np.int64)
    top = counts.max(axis=-1, keepdims=True)
    alone = ((counts == top).sum(axis=-1) == 1) & (top[..., 0] > 0)
    return np.where(alone, counts.argmax(axis=-1), -1)
