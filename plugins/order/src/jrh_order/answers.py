"""The verdicts of one judge in one test, as counts by item, level of a factor, and label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

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

    @cached_property
    def single(self) -> NDArray[np.int64] | None:
        """Return the label of every item and level, shape (items, levels), where none has two verdicts; else None."""
        answered = self.answered
        if not self.labels or answered.max(initial=0.0) > 1:
            return None
        return np.where(answered > 0, self.counts.argmax(axis=2), -1)

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
    items, item = coded(rows, "item_id")
    levels, level = coded(rows, by)
    ok = rows.equals("status", Status.OK.value)
    labels, code = coded(rows, label, ok)
    cells = item * len(levels) + level
    shape = (len(items), len(levels))
    there = code >= 0
    counts = _count(cells[there] * len(labels) + code[there], (*shape, len(labels)))
    status, told = coded(rows, "status")
    missing: dict[str, Counts] = {}
    for place, name in enumerate(status):
        # A trial that is said to be ok and has no label is off the scale.
        kind = Status.OFF_SCALE.value if name == Status.OK.value else name
        missing[kind] = missing.get(kind, np.zeros(shape)) + _count(cells[~there & (told == place)], shape)
    planned = _count(cells, shape)
    return Answers(
        cell=cell, items=items, levels=levels, labels=labels, counts=counts, planned=planned, missing=missing
    )


def coded(rows: RecordTable, name: str, kept: Mask | None = None) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the texts of a column that occur, sorted, and every row's place among them, -1 for None.

    Args:
        rows: the records.
        name: a text column.
        kept: the rows whose text counts, shape (n,); that of all others is None.
    """
    codes, categories = rows.codes(name), rows.categories(name)
    own = codes if kept is None else np.where(kept, codes, -1)
    present = np.unique(own[own >= 0])
    names = tuple(sorted(categories[code] for code in present))
    place = {text: number for number, text in enumerate(names)}
    # One more entry, for None: code -1 reads the last.
    lookup = np.full(len(categories) + 1, -1, dtype=np.int64)
    lookup[present] = [place[categories[code]] for code in present]
    return names, lookup[own]


def _count(keys: NDArray[np.int64], shape: tuple[int, ...]) -> Counts:
    return np.bincount(keys, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
