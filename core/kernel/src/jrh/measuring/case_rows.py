"""Fold the repeats of every case and judge into one row, scored as the metrics score them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from jrh.measuring.coded import Coded, Codes, Mask, numbered
from jrh.measuring.scoring import Numbers, Scores, against_label, agreeing, as_expected, stated_label
from jrh.measuring.trials import Trials, read_trials
from jrh.plugins.protocols import MetricContext
from jrh.values.items import Task
from jrh.values.listed_cases import CaseRow
from jrh.values.records import RecordTable

_PART: Final = 4096
"""Rows that are made at a time."""


def case_rows(records: RecordTable, tasks: Mapping[str, Task]) -> Iterator[CaseRow]:
    """Return a row for each case and judge; they are made some thousand at a time.

    Args:
        records: all records of a run, in plan order.
        tasks: by name.

    Raises:
        JrhError: a trial occurs twice, or a gold or expected label is not on the scale of its task.
    """
    return _rows(read_trials(records, MetricContext(tasks=tasks))) if len(records) else iter(())


def _rows(trials: Trials) -> Iterator[CaseRow]:
    key = numbered(trials.case.codes, trials.judge.codes)
    _, first = np.unique(key[order := np.argsort(trials.place, kind="stable")], return_index=True)
    first = order[first]
    truth = against_label(trials, stated_label(trials), np.ones(len(key), dtype=np.bool_))
    means = [_means(scores, key) for scores in (agreeing(trials), truth, as_expected(trials))]
    labels = _Counts(key, trials.label, trials.usable, trials.labels)
    statuses = _Counts(key, trials.status.codes, ~trials.usable, trials.status.names)
    trials_of, missing = np.bincount(key), np.bincount(key[~trials.usable], minlength=len(first))
    texts = _texts(trials)

    def part(start: int) -> Iterator[CaseRow]:
        groups = slice(start, start + _PART)
        rows = first[groups]
        return _made(
            trials.place[rows].tolist(),
            *(_names(column, rows) for column in texts),
            trials_of[groups].tolist(),
            labels.of(start, start + len(rows)),
            missing[groups].tolist(),
            statuses.of(start, start + len(rows)),
            *(_known(mean[groups]) for mean in means),
        )

    return chain.from_iterable(map(part, range(0, len(first), _PART)))


def _made(*columns: Sequence[Any]) -> Iterator[CaseRow]:
    for (
        place,
        task,
        test,
        variant,
        stratum,
        judge,
        item,
        case,
        gold,
        count,
        told,
        gone,
        why,
        same,
        right,
        expected,
    ) in zip(*columns, strict=True):
        yield CaseRow(
            position=place,
            task=task,
            test=test,
            variant=variant,
            stratum=stratum,
            judge=judge,
            item_id=item,
            case_id=case,
            gold=gold,
            trials=count,
            verdict=told[0][0] if told else "",
            verdicts=told[0][0] if told and count == 1 else ", ".join(f"{times}x {label}" for label, times in told),
            missing=gone,
            status=why[0][0] if why else "",
            moved=None if same is None else 1 - same,
            right=right,
            expected=expected,
        )


def _texts(trials: Trials) -> tuple[Coded, ...]:
    """Return the columns that a row names, in the order of `CaseRow`."""
    gold = Coded(codes=np.where(trials.gold >= 0, trials.gold, len(trials.labels)), names=(*trials.labels, ""))
    return (
        *(trials.task, trials.written_test, trials.variant, trials.stratum, trials.judge, trials.item, trials.case),
        gold,
    )


def _names(column: Coded, rows: Codes) -> list[str]:
    return [column.names[code] for code in column.codes[rows].tolist()]


class _Counts:
    """The names of each group with their counts, among some rows."""

    def __init__(self, key: Codes, codes: Codes, rows: Mask, names: Sequence[str]) -> None:
        self._names = names
        self._pairs, self._counts = np.unique(key[rows] * len(names) + codes[rows], return_counts=True)

    def of(self, start: int, end: int) -> list[list[tuple[str, int]]]:
        """Return those of the groups from `start` to before `end`, of each group the commonest first."""
        found: list[list[tuple[str, int]]] = [[] for _ in range(start, end)]
        size = len(self._names)
        part = slice(*np.searchsorted(self._pairs, (start * size, end * size)))
        for pair, count in zip(self._pairs[part].tolist(), self._counts[part].tolist(), strict=True):
            group, code = divmod(pair, size)
            found[group - start].append((self._names[code], count))
        for names in found:
            if len(names) > 1:
                names.sort(key=lambda each: -each[1])
        return found


def _means(scores: Scores, key: Codes) -> Numbers:
    """Return the mean score of each group; NaN where no trial of it has one."""
    rows = np.flatnonzero(scores.eligible & scores.answered & ~np.isnan(scores.value))
    size = int(key.max()) + 1
    number = np.bincount(key[rows], minlength=size)
    total = np.bincount(key[rows], weights=scores.value[rows], minlength=size)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _known(means: Numbers) -> list[float | None]:
    return [None if gone else mean for mean, gone in zip(means.tolist(), np.isnan(means), strict=True)]
