"""Finds the trials whose verdict moved against what was expected, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, RunReport, Scale
from numpy.typing import NDArray

_NEEDED: Final = frozenset(
    {"trial_id", "case_id", "item_id", "task", "test", "judge", "repeat", "status", "canonical", "expectation"}
)


@frozen(kw_only=True)
class ChangedVerdict:
    """One trial whose verdict changed, and the reference trial it is compared with."""

    row: int
    """Place among the report's records."""
    reference: int
    """Place of a reference trial with the judge's commonest reference verdict on the item."""
    distance: int
    """Levels between the two verdicts on an ordered scale, otherwise 1; 0 where the verdict should have moved."""
    steady: float
    """Share of the item's reference verdicts that are the commonest one: 1 where reruns agree."""
    spoilt: bool
    """The reference verdict was right by the gold label, and this one is not."""


@frozen(kw_only=True)
class JudgeChanges:
    """The changed verdicts of one judge in one task."""

    judge: str
    task: str
    total: int
    compared: int
    """Trials with a verdict, and a reference verdict to compare it with where one is needed."""
    worst: tuple[ChangedVerdict, ...]
    by_test: Mapping[str, tuple[int, int]]
    """Test -> its changed verdicts, and how many were compared."""


def find_changed_verdicts(report: RunReport, limit: int) -> Iterator[JudgeChanges]:
    """Yield the changed verdicts of each task and judge in the suite's order.

    Args:
        report: the run; records without the columns that are needed give nothing.
        limit: verdicts listed of each judge and task, taken from all tests in turn, the worst of each test first.
    """
    records = report.records
    # A report that was read back has no records, and an import may lack columns; neither is an error.
    if not len(records) or not set(records.columns) >= _NEEDED:
        return
    for summary in report.tasks:
        mine = np.flatnonzero(records.equals("task", summary.task.name))
        for judge in report.judges:
            rows = mine[records.equals("judge", judge)[mine]]
            if len(rows):
                yield _judge_changes(records.where(rows), rows, summary.task.scale, (judge, summary.task.name), limit)


def _judge_changes(
    records: RecordTable, places: NDArray[Any], scale: Scale, key: tuple[str, str], limit: int
) -> JudgeChanges:
    labels = tuple(scale.labels)
    rank = {label: place for place, label in enumerate(labels)}
    label = _ranks(records, "canonical", rank)
    usable = records.equals("status", "ok") & (label >= 0)
    item = records.codes("item_id")
    commonest, shares, rows_with_it = _commonest_reference(records, label, usable, len(labels))
    before, share, shown = commonest[item], shares[item], rows_with_it[item]
    compared = usable & ~records.equals("test", REFERENCE) & (before >= 0)
    against = _against(records, label, before, rank) & compared
    gold = _ranks(records, "gold", rank) if "gold" in records.columns else np.full(len(label), -1)
    spoilt = (gold >= 0) & (before == gold) & (label != gold)
    # Labels without an order are all equally far from each other.
    distance = np.abs(label - before) if scale.ordered else (label != before).astype(np.int64)
    rows = np.flatnonzero(against)
    # The last key decides first: distance, then spoilt, then steady; the row makes the order total.
    order = np.lexsort((rows, -share[rows], ~spoilt[rows], -distance[rows]))
    test, names = records.codes("test"), records.categories("test")
    chosen = _in_turn(rows[order], test, limit)
    counts = [np.bincount(test[where & (test >= 0)], minlength=len(names)).tolist() for where in (against, compared)]
    return JudgeChanges(
        judge=key[0],
        task=key[1],
        total=len(rows),
        compared=int(compared.sum()),
        worst=tuple(
            ChangedVerdict(
                row=int(places[row]),
                reference=int(places[shown[row]]),
                distance=int(distance[row]),
                steady=float(share[row]),
                spoilt=bool(spoilt[row]),
            )
            for row in chosen
        ),
        by_test=dict(zip(names, zip(*counts, strict=True), strict=True)),
    )


def _ranks(records: RecordTable, column: str, rank: dict[str, int]) -> NDArray[np.int64]:
    """Return the place of a text column's labels on the scale, shape (n,); -1 for none."""
    # Code -1 means no text, and indexes the last entry.
    lookup = np.array([*(rank.get(name, -1) for name in records.categories(column)), -1], dtype=np.int64)
    return lookup[records.codes(column)]


def _commonest_reference(
    records: RecordTable, label: NDArray[np.int64], usable: NDArray[np.bool_], width: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return of each item the commonest reference verdict or -1, its share, and a row that has it; shape (items,)."""
    item = records.codes("item_id")
    size = len(records.categories("item_id"))
    rows = np.flatnonzero(records.equals("test", REFERENCE) & usable)
    counts = np.zeros((size, width), dtype=np.int64)
    # `counts[...] += 1` would count a repeated index once.
    np.add.at(counts, (item[rows], label[rows]), 1)
    total = counts.sum(axis=1)
    commonest = counts.argmax(axis=1)
    shown = np.zeros(size, dtype=np.int64)
    # Reversed, so that the first of several rows is the one that stays.
    fitting = rows[label[rows] == commonest[item[rows]]][::-1]
    shown[item[fitting]] = fitting
    return np.where(total > 0, commonest, -1), counts.max(axis=1, initial=0) / np.maximum(total, 1), shown


def _against(
    records: RecordTable, label: NDArray[np.int64], before: NDArray[np.int64], rank: dict[str, int]
) -> NDArray[np.bool_]:
    """Tell which verdicts are not what was expected; where nothing is expected, which moved."""
    expected = _ranks(records, "expected", rank) if "expected" in records.columns else np.full(len(label), -1)
    named = {name: records.equals("expectation", name) for name in ("changes", "equals", "not_above", "not_below")}
    return np.select(
        # A label off the scale can be compared with nothing; such a case counts as one that should not move.
        [named["changes"], named["equals"] & (expected >= 0), named["not_above"], named["not_below"]],
        [label == before, label != expected, label > before, label < before],
        label != before,
    )


def _in_turn(rows: NDArray[np.int64], test: NDArray[np.int32], limit: int) -> Sequence[int]:
    """Take rows from all tests in turn, and return them in the order given."""
    turn: dict[int, int] = {}
    ranked = []
    for place, row in enumerate(rows.tolist()):
        code = int(test[row])
        ranked.append((turn.get(code, 0), place, row))
        turn[code] = turn.get(code, 0) + 1
    return [row for _, _, row in sorted(sorted(ranked)[:limit], key=lambda each: each[1])]
