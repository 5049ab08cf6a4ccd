"""Metric `rerun-disagreement`: disagreement between repeats of the identical question."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh.measuring import BreakdownOptions, Cell, Codes, MeasureBuilder, Trials, cells_of, rerun_codes
from jrh_stats import disagreeing_pairs, rerun_disagreement
from numpy.typing import NDArray

_NAME = "rerun-disagreement"


@frozen(kw_only=True, eq=False)
class _Repeats:
    """The answers of every judge to every question."""

    of: Codes
    """Trial -> row in the tables below, shape (n,)."""
    counts: NDArray[np.int64]
    """Verdicts by label, shape (groups, labels)."""
    planned: Codes
    """Trials, with or without a verdict, shape (groups,)."""
    answered: Codes
    """Trials with a verdict, shape (groups,)."""
    cluster: Codes
    """Item of the group, shape (groups,)."""


@frozen
class RerunDisagreement:
    """Measure the noise floor: the share of pairs of repeats of one case, by one judge, whose verdicts differ.

    It is the probability that asking the identical question again gives another answer. Reported for the reference
    condition, and for every other test that asks a case more than once.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `rerun-disagreement` per task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        repeats = _repeats(trials)
        for cell in cells_of(trials, self.options.by):
            rows = cell.rows[repeats.planned[repeats.of[cell.rows]] > 1]
            if len(rows) or cell.test == REFERENCE:
                yield _measured(builder, cell, repeats, rows)


def _repeats(trials: Trials) -> _Repeats:
    groups, first, inverse = np.unique(rerun_codes(trials), return_index=True, return_inverse=True)
    width = len(trials.labels)
    usable = trials.usable
    counts = np.bincount(inverse[usable] * width + trials.label[usable], minlength=len(groups) * width)
    table = counts.reshape(len(groups), width).astype(np.int64)
    return _Repeats(
        of=inverse,
        counts=table,
        answered=table.sum(axis=1),
        planned=np.bincount(inverse, minlength=len(groups)).astype(np.int64),
        cluster=trials.cluster.codes[first],
    )


def _measured(builder: MeasureBuilder, cell: Cell, repeats: _Repeats, rows: Codes) -> Measure:
    groups = np.unique(repeats.of[rows])
    counts = repeats.counts[groups]
    estimate = rerun_disagreement(
        counts,
        repeats.cluster[groups],
        level=builder.context.level,
        resamples=builder.context.resamples,
        seed=builder.seed(cell),
    )
    usable = rows[builder.trials.usable[rows] & (repeats.answered[repeats.of[rows]] > 1)]
    return builder.measure(
        _NAME,
        cell,
        estimate,
        rows=rows,
        usable=usable,
        bounds=_bounds(counts, repeats.planned[groups]),
        note=_why(rows, usable),
    )


def _bounds(counts: NDArray[np.int64], planned: Codes) -> tuple[float, float] | None:
    """Bound the share of differing pairs if all pairs with a missing verdict agreed, and if all of them differed."""
    differing, pairs = disagreeing_pairs(counts)
    all_pairs = float((planned * (planned - 1) // 2).sum())
    if not all_pairs:
        return None
    low = float(differing.sum()) / all_pairs
    return low, low + (all_pairs - float(pairs.sum())) / all_pairs


def _why(rows: Codes, usable: Codes) -> str:
    if not len(rows):
        return "no case was repeated"
    return "" if len(usable) else "no case has two verdicts"
