"""Change of accuracy from the reference condition to a test, on the same items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_stats import cluster_sums, clustered_difference, equivalence, sign_flip_test
from numpy.typing import NDArray

from jrh_metrics.cells import Cell, cells_of
from jrh_metrics.families import Tested, p_values
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.options import EquivalenceOptions, MetricOptions
from jrh_metrics.trials import Codes, Trials
from jrh_metrics.truth import stated_label

_NAME: Final = "accuracy-change"
_NOTHING: Final = "no item with a right label has a verdict in the reference condition and in the test"
_SIGN_FLIP: Final = "two-sided sign-flip test, whole items exchanged: accuracy is the same as in the reference"
_FAMILY: Final = "the tests of this judge and task"


@frozen(kw_only=True, eq=False)
class AccuracyChanges:
    """Each trial's score minus the mean reference score of its item and judge; shape (n,), NaN where it has none."""

    value: NDArray[np.float64]

    @classmethod
    def of(cls, trials: Trials) -> AccuracyChanges:
        """Score every trial against its right label."""
        truth = stated_label(trials)
        scored = (truth >= 0) & trials.usable
        right = np.where(scored, trials.label == truth, np.nan).astype(np.float64)
        key = (trials.task.codes * len(trials.judge.names) + trials.judge.codes) * len(trials.item.names)
        groups, of = np.unique(key + trials.item.codes, return_inverse=True)
        before = np.flatnonzero(trials.reference & scored)
        number = np.bincount(of[before], minlength=len(groups))
        total = np.bincount(of[before], weights=right[before], minlength=len(groups))
        mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
        return cls(value=np.where(trials.reference, np.nan, right - mean[of]))

    def sums(self, trials: Trials, rows: Codes) -> tuple[Codes, NDArray[np.float64]]:
        """Return the usable rows, and per item the sum of differences and their number."""
        usable = rows[~np.isnan(self.value[rows])]
        sums = cluster_sums(trials.item.codes[usable], self.value[usable], np.ones(len(usable)))
        return usable, sums


@frozen
class AccuracyChange:
    """Accuracy in a test minus accuracy in the reference condition, paired by item.

    A trial counts where its right label is stated (see `truth.stated_label`) and its item has a verdict in the
    reference condition; it is compared with the mean over the reference repeats.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-change` per task, judge and test, and per variant, and its p-values per test."""
        builder = MeasureBuilder.of(records, context, self.options)
        changes = AccuracyChanges.of(builder.trials)
        for _, cells in groupby(cells_of(builder.trials), key=lambda cell: (cell.task, cell.judge)):
            yield from self._of_judge(builder, changes, cells)

    def _of_judge(self, builder: MeasureBuilder, changes: AccuracyChanges, cells: Iterable[Cell]) -> Iterator[Measure]:
        context = builder.context
        family: list[Tested] = []
        for cell in cells:
            if cell.test == REFERENCE:
                continue
            usable, sums = changes.sums(builder.trials, cell.rows)
            estimate = clustered_difference(sums[:, 0], sums[:, 1], level=context.level)
            yield builder.measure(
                _NAME,
                cell,
                estimate,
                rows=np.concatenate([usable, cell.rows[~builder.trials.usable[cell.rows]]]),
                usable=usable,
                flags=builder.flags(cell, cell.rows, usable),
                note="" if len(usable) else _NOTHING,
                unit="difference",
            )
            if not cell.levels:
                test = sign_flip_test(sums[:, 0], resamples=context.resamples, seed=cell.seed(context))
                family.append(Tested(cell=cell, usable=usable, p=test.p))
        yield from p_values(builder, _NAME, family, test=_SIGN_FLIP, over=_FAMILY, nothing=_NOTHING)


@frozen
class AccuracyEquivalence:
    """Whether a test changes accuracy by less than a declared margin: TOST with three answers, in `flags`.

    `equivalent`: the change is within the margin; `different`: it is beyond; `undecided`: the data do not say. The
    interval has the coverage 1 - 2 alpha, and decides.
    """

    options: EquivalenceOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-equivalence` per task, judge and test, and per variant."""
        level = 1 - 2 * self.options.alpha
        builder = MeasureBuilder.of(records, context, self.options).at(level)
        changes = AccuracyChanges.of(builder.trials)
        for cell in cells_of(builder.trials):
            if cell.test == REFERENCE:
                continue
            usable, sums = changes.sums(builder.trials, cell.rows)
            found = equivalence(sums[:, 0], sums[:, 1], margin=self.options.margin, alpha=self.options.alpha)
            p = "" if found.p_equivalent is None else f"; p of the two one-sided tests {found.p_equivalent:.3g}"
            yield builder.measure(
                "accuracy-equivalence",
                cell,
                found.difference,
                rows=np.concatenate([usable, cell.rows[~builder.trials.usable[cell.rows]]]),
                usable=usable,
                flags=(found.answer.value, *builder.flags(cell, cell.rows, usable)),
                note=f"margin {self.options.margin:g}{p}" if len(usable) else _NOTHING,
                unit="difference",
            )
