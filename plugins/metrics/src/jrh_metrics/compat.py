"""Metrics as the Judge Reliability Harness and JudgeSense report them, for comparison; never run by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import Basis, Codes, MeasureBuilder, Trials, cells_of, combine_codes, decision_rows, right_label
from jrh_stats import jrh_bootstrap_accuracy, judgesense_jss, judgesense_kappa

from jrh_metrics.options import HarnessOptions, JudgeSenseOptions

_HARNESS: Final = (
    "as in the Judge Reliability Harness: the interval covers only the bootstrap's own error, not sampling "
    "error, and ignores clusters"
)
_JUDGESENSE: Final = "as in JudgeSense: treats pairs of the same item, and of the same cluster, as independent"
_NO_TRUTH: Final = "no verdict with an expected label"
_NO_PAIR: Final = "no verdict has another to compare with: no listed pair, and no reference verdict"


@frozen
class CompatHarness:
    """Compute accuracy as in the Judge Reliability Harness: the mean of bootstrap means, ± t of its standard errors.

    Rows without a verdict are left out, like failed rows in the harness.
    """

    options: HarnessOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `compat-jrh` per task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        truth = right_label(trials)
        for cell in cells_of(trials, self.options.by):
            rows = cell.rows[truth[cell.rows] >= 0]
            usable = rows[trials.usable[rows]]
            estimate = jrh_bootstrap_accuracy(
                trials.label[usable] == truth[usable],
                size=self.options.bootstrap_size,
                repetitions=self.options.bootstrap_repetitions,
                level=context.level,
                seed=builder.seed(cell),
            )
            known = estimate.value is not None
            # Without an estimate the measure rests on no verdict.
            basis = Basis(cell, rows, usable if known else usable[:0])
            yield builder.measure("compat-jrh", basis, estimate, note=_HARNESS if known else _NO_TRUTH)


@frozen
class CompatJudgeSense:
    """JudgeSense's score, the share of pairs with the same decision, and its kappa, which is 1 where Cohen's has none.

    Where the items list pairs of prompts, `prompt_a` is paired with `prompt_b`, row by row as in the paper. Elsewhere
    each verdict of a test is paired with the first verdict of its item and judge in the reference condition. Pairs with
    a missing verdict are left out.
    """

    options: JudgeSenseOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `compat-judgesense-jss` and `compat-judgesense-kappa` per task, judge, test and factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        before = _first_reference(trials)
        first, second = decision_rows(trials, context.items)
        for cell in cells_of(trials, self.options.by):
            if cell.test == REFERENCE:
                continue
            # A pair belongs to the test that both of its trials are in.
            there = np.isin(first, cell.rows) & np.isin(second, cell.rows)
            if there.any():
                there &= trials.usable[first] & trials.usable[second]
                usable = np.union1d(first[there], second[there])
                left, right = trials.label[first[there]], trials.label[second[there]]
            else:
                # Without listed pairs the reference takes the place of `prompt_a`.
                usable = cell.rows[trials.usable[cell.rows] & (before[cell.rows] >= 0)]
                left, right = before[usable], trials.label[usable]
            jss = judgesense_jss(
                left, right, level=context.level, resamples=self.options.resamples, seed=builder.seed(cell)
            )
            for name, estimate, unit in (
                ("compat-judgesense-jss", jss, "proportion"),
                ("compat-judgesense-kappa", judgesense_kappa(left, right), "coefficient"),
            ):
                note = _JUDGESENSE if estimate.value is not None else _NO_PAIR
                yield builder.measure(name, Basis(cell, cell.rows, usable), estimate, note=note, unit=unit)


def _first_reference(trials: Trials) -> Codes:
    """Return the label of the first usable reference verdict of each trial's item and judge, -1 if there is none."""
    groups, of = np.unique(combine_codes(trials.task.codes, trials.judge.codes, trials.item.codes), return_inverse=True)
    rows = np.flatnonzero(trials.reference & trials.usable)
    rows = rows[np.lexsort((trials.label[rows], trials.repeat[rows]))[::-1]]
    first = np.full(len(groups), -1, dtype=np.int64)
    first[of[rows]] = trials.label[rows]  # the last one written is that of the lowest repeat
    return np.asarray(first[of])
