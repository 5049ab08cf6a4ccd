"""Fold the repeats of every case and judge into one row, scored as the metrics score them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from jrh.measuring.coded import Coded, Codes, numbered
from jrh.measuring.scoring import Scores, against_label, agreeing, as_expected, stated_label
from jrh.measuring.trials import Trials, read_trials
from jrh.plugins.protocols import MetricContext
from jrh.values.items import Task
from jrh.values.listed_cases import CaseRow
from jrh.values.records import RecordTable


def case_rows(records: RecordTable, tasks: Mapping[str, Task]) -> Iterator[CaseRow]:
    """Yield a row for each case and judge.

    Args:
        records: all records of a run, in plan order.
        tasks: by name.
    """
    if not len(records):
        return
    trials = read_trials(records, MetricContext(tasks=tasks))
    key = numbered(trials.case.codes, trials.judge.codes)
    _, first = np.unique(key[order := np.argsort(trials.place, kind="stable")], return_index=True)
    first = order[first]
    agreed = _means(agreeing(trials), key)
    truth = against_label(trials, stated_label(trials), np.ones(len(key), dtype=np.bool_))
    labels = _counted(key, trials.label, trials.usable, trials.labels)
    statuses = _counted(key, trials.status.codes, ~trials.usable, trials.status.names)
    trials_of, missing = np.bincount(key).tolist(), np.bincount(key[~trials.usable], minlength=len(first)).tolist()
    columns = zip(
        trials.place[first].tolist(),
        *(_names(column, first) for column in _texts(trials)),
        trials_of,
        labels,
        missing,
        statuses,
        agreed,
        _means(truth, key),
        _means(as_expected(trials), key),
        strict=True,
    )
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
    ) in columns:
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


def _counted(key: Codes, codes: Codes, rows: np.ndarray, names: Sequence[str]) -> list[list[tuple[str, int]]]:
    """Return the names of each group with their counts, the commonest first, among some rows."""
    found: list[list[tuple[str, int]]] = [[] for _ in range(int(key.max()) + 1)]
    pairs, counts = np.unique(key[rows] * len(names) + codes[rows], return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        group, code = divmod(pair, len(names))
        found[group].append((names[code], count))
    for group in found:
        if len(group) > 1:
            group.sort(key=lambda each: -each[1])
    return found


def _means(scores: Scores, key: Codes) -> list[float | None]:
    """Return the mean score of each group; None where no trial of it has one."""
    rows = np.flatnonzero(scores.eligible & scores.answered & ~np.isnan(scores.value))
    size = int(key.max()) + 1
    number = np.bincount(key[rows], minlength=size).tolist()
    total = np.bincount(key[rows], weights=scores.value[rows], minlength=size).tolist()
    return [each / count if count else None for each, count in zip(total, number, strict=True)]
