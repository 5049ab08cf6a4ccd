"""The list of cases of the workbench: one row for all repeats of a case and judge, scored as the metrics score them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import numpy as np
from jrh import JrhError, MetricContext, RecordTable, Task, __version__, content_id
from jrh.plugins import Stage, StageOutcome
from jrh.running import StageWork
from jrh_measuring import (
    Coded,
    Codes,
    Numbers,
    Scores,
    Trials,
    against_label,
    agreeing,
    as_expected,
    numbered,
    read_trials,
    stated_label,
)

from jrh_review.listed_cases import TABLE, CaseRow

_PART: Final = 4096
"""Rows that are made at a time."""


class CaseList(Stage):
    """Stores a row for each case and judge, so that the workbench need not hold the records."""

    async def run(self, work: StageWork) -> StageOutcome:
        """Make the list out of the records, unless it was made out of the same ones."""
        store = work.store
        made_of = [*store.records.written()], list(work.tasks)
        digest = content_id(store.items.digest(), store.trials.digest(), *made_of, __version__)
        listed = store.table(TABLE)
        if listed.digest() != digest:
            # Where labels are off their scale, metrics say so; the list is no more than a help and ends nothing.
            with suppress(JrhError):
                listed.replace(digest, case_rows(work.records, work.tasks))
        return StageOutcome()


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
    sizes = np.bincount(key).astype(np.int32)
    order = np.argsort(key, kind="stable").astype(np.int32)
    del key  # the lists of a large run fill memory
    truth = against_label(trials, stated_label(trials), np.ones(len(order), dtype=np.bool_))
    scores = agreeing(trials), truth, as_expected(trials)
    texts = _texts(trials)
    taken = 0

    def part(start: int) -> Iterator[CaseRow]:
        nonlocal taken
        many = sizes[start : start + _PART]
        rows = order[taken : taken + int(many.sum())]
        taken += len(rows)
        columns = _columns(trials, scores, texts, rows, np.repeat(np.arange(len(many)), many))
        return map(CaseRow._make, zip(*columns, strict=True))

    return chain.from_iterable(map(part, range(0, len(sizes), _PART)))


def _columns(
    trials: Trials, scores: Sequence[Scores], texts: Sequence[Coded], rows: Codes, group: Codes
) -> Iterator[Sequence[Any]]:
    """Yield the columns of `CaseRow` for some trials in the order of their groups, which are numbered from 0."""
    trials_of, usable = np.bincount(group), trials.usable[rows]
    by_place = rows[np.lexsort((trials.place[rows], group))]
    first = by_place[np.cumsum(trials_of) - trials_of]
    yield trials.place[first].tolist()
    yield from (_names(column, first) for column in texts)
    yield trials_of.tolist()
    labels = _counts(group[usable], trials.label[rows[usable]], trials.labels, len(first))
    yield [given[0][0] if given else "" for given in labels]
    yield [_in_words(given, count) for given, count in zip(labels, trials_of.tolist(), strict=True)]
    yield np.bincount(group[~usable], minlength=len(first)).tolist()
    statuses = _counts(group[~usable], trials.status.codes[rows[~usable]], trials.status.names, len(first))
    yield [given[0][0] if given else "" for given in statuses]
    agreement, *others = (_means(each, rows, group, len(first)) for each in scores)
    yield from map(_known, (1 - agreement, *others))


def _texts(trials: Trials) -> tuple[Coded, ...]:
    """Return the columns that a row names, in the order of `CaseRow`."""
    gold = Coded(codes=np.where(trials.gold >= 0, trials.gold, len(trials.labels)), names=(*trials.labels, ""))
    return (
        *(trials.task, trials.written_test, trials.variant, trials.stratum, trials.judge, trials.item, trials.case),
        gold,
    )


def _names(column: Coded, rows: Codes) -> list[str]:
    return [column.names[code] for code in column.codes[rows].tolist()]


def _counts(group: Codes, codes: Codes, names: Sequence[str], groups: int) -> list[list[tuple[str, int]]]:
    """Return the names of each group with their counts, the commonest first."""
    found: list[list[tuple[str, int]]] = [[] for _ in range(groups)]
    pairs, counts = np.unique(group * len(names) + codes, return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        place, code = divmod(pair, len(names))
        found[place].append((names[code], count))
    for listed in found:
        if len(listed) > 1:
            listed.sort(key=lambda each: -each[1])
    return found


def _in_words(labels: Sequence[tuple[str, int]], trials: int) -> str:
    """Write every label with its count; of a single trial only the label."""
    return labels[0][0] if labels and trials == 1 else ", ".join(f"{count}x {label}" for label, count in labels)


def _means(scores: Scores, rows: Codes, group: Codes, groups: int) -> Numbers:
    """Return the mean score of each group; NaN where no trial of it has one."""
    values = scores.value[rows]
    known = scores.eligible[rows] & scores.answered[rows] & ~np.isnan(values)
    number = np.bincount(group[known], minlength=groups)
    total = np.bincount(group[known], weights=values[known], minlength=groups)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _known(means: Numbers) -> list[float | None]:
    return [None if gone else mean for mean, gone in zip(means.tolist(), np.isnan(means), strict=True)]
