"""Metric `rerun-disagreement`: disagreement between repeats of the identical question."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import Basis, BreakdownOptions, Cell, Codes, MeasureBuilder, Trials, cells_of, rerun_codes
from jrh_stats import count_disagreeing_pairs, parts_of, rerun_disagreement
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
            # By plan and not by verdicts: a pair that lost a verdict is missing, and not left out.
            rows = cell.rows[repeats.planned[repeats.of[cell.rows]] > 1]
            if len(rows) or cell.test == REFERENCE:
                yield _measure_cell(builder, cell, repeats, rows)


def _repeats(trials: Trials) -> _Repeats:
    of = rerun_codes(trials)  # numbered without gaps
    groups, width = int(of.max(initial=-1)) + 1, len(trials.labels)
    counts, planned = np.zeros((groups, width), dtype=np.int64), np.zeros(groups, dtype=np.int32)
    for part in parts_of(len(of)):
        usable = trials.usable[part]
        np.add.at(counts, (of[part][usable], trials.label[part][usable]), 1)
        np.add.at(planned, of[part], 1)
    cluster = np.zeros(groups, dtype=np.int32)
    cluster[of] = trials.cluster.codes  # that of any: they are about one item
    return _Repeats(of=of, counts=counts, answered=counts.sum(axis=1, dtype=np.int32), planned=planned, cluster=cluster)


def _measure_cell(builder: MeasureBuilder, cell: Cell, repeats: _Repeats, rows: Codes) -> Measure:
    occurs = np.zeros(len(repeats.planned), dtype=np.bool_)
    occurs[repeats.of[rows]] = True
    groups = np.flatnonzero(occurs)
    counts = repeats.counts[groups]
    estimate = rerun_disagreement(counts, repeats.cluster[groups], level=builder.context.level)
    # A single verdict has none to differ from.
    usable = rows[builder.trials.usable[rows] & (repeats.answered[repeats.of[rows]] > 1)]
    bounds = _bounds(counts, repeats.planned[groups])
    return builder.measure(_NAME, Basis(cell, rows, usable), estimate, bounds=bounds, note=_why(rows, usable))


def _bounds(counts: NDArray[np.int64], planned: Codes) -> tuple[float, float] | None:
    """Bound the share of differing pairs if all pairs with a missing verdict agreed, and if all of them differed."""
    differing, pairs = count_disagreeing_pairs(counts)
    all_pairs = float((planned.astype(np.int64) * (planned - 1) // 2).sum())
    if not all_pairs:
        return None
    # Over all pairs of the plan: at worst every lost pair differs, at best none does.
    low = float(differing.sum()) / all_pairs
    return low, low + (all_pairs - float(pairs.sum())) / all_pairs


def _why(rows: Codes, usable: Codes) -> str:
    if not len(rows):
        return "no case was repeated"
    return "" if len(usable) else "no case has two verdicts"
