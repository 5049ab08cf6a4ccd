"""Change of accuracy from the reference condition to a test, on the same items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh.stats import cluster_sums, clustered_difference, equivalence, holm, sign_flip_test
from numpy.typing import NDArray

from jrh_metrics.cells import Cell, cells_of
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.options import EquivalenceOptions, MetricOptions
from jrh_metrics.trials import Codes, Trials
from jrh_metrics.truth import stated_label

_NOTHING: Final = "no item with a right label has a verdict in the reference condition and in the test"
_SIGN_FLIP: Final = "two-sided sign-flip test, whole items exchanged: accuracy is the same as in the reference"
_HOLM: Final = "the same, adjusted by Holm over the tests of this judge and task"
_TWO: Final = 2


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
        family: list[tuple[Cell, Codes, float | None]] = []
        for cell in cells_of(builder.trials):
            if family and (family[0][0].task, family[0][0].judge) != (cell.task, cell.judge):
                yield from p_values(builder, "accuracy-change", family, _SIGN_FLIP, _HOLM)
                family = []
            if cell.test == REFERENCE:
                continue
            usable, sums = changes.sums(builder.trials, cell.rows)
            estimate = clustered_difference(sums[:, 0], sums[:, 1], level=context.level)
            yield builder.measure(
                "accuracy-change",
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
                family.append((cell, usable, test.p))
        yield from p_values(builder, "accuracy-change", family, _SIGN_FLIP, _HOLM)


def p_values(
    builder: MeasureBuilder, name: str, family: list[tuple[Cell, Codes, float | None]], test: str, adjusted: str
) -> Iterator[Measure]:
    """Yield the p-value of every member of a family, and the adjusted one where there are several.

    Args:
        builder: the metric's.
        name: name of what is compared; `-p` and `-p-holm` are added.
        family: cell, rows and p-value of each test.
        test: note of the plain p-values.
        adjusted: note of the adjusted ones.
    """
    defined = [p for _, _, p in family if p is not None]
    raised = iter(holm(defined).tolist())
    for cell, usable, p in family:
        note = _NOTHING if p is None else test
        yield builder.p_value(f"{name}-p", cell, p, usable=usable, note=note)
        if p is not None and len(defined) >= _TWO:
            yield builder.p_value(f"{name}-p-holm", cell, next(raised), usable=usable, note=adjusted)


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
