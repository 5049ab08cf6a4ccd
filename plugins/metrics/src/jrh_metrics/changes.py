"""Metrics of differences of accuracy: from the reference condition to a test, and between two judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    Basis,
    Cell,
    Codes,
    Floats,
    Levels,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Tested,
    accuracy_change_of,
    allow_for_missing,
    as_expected,
    cells_of,
    gold_changes,
    judge_pairs,
    p_values,
    panels_of,
    sensitive,
)
from jrh_stats import Equivalence, Estimate, cluster_sums, clustered_difference, equivalence

from jrh_metrics.options import EquivalenceOptions, FullOptions

_NAME: Final = "accuracy-change"
_NOTHING: Final = "no item with a right label has a verdict in the reference condition and in the test"
_TEST: Final = "two-sided permutation test by cluster; null hypothesis: accuracy is the same as in the reference"
_FAMILY: Final = "the tests of this judge and task"
_ONE_SIDED: Final = "larger p-value of two one-sided tests; null hypothesis: a change of the margin or more"


@frozen
class AccuracyChange:
    """Measure accuracy in a test minus accuracy in the reference condition, paired by item.

    A trial counts where its right label is stated (see `jrh_measuring.right_label`) and its item has a verdict in the
    reference condition; it is compared with the mean over the reference repeats. Interval and p-value are one decision
    (`jrh_stats.paired_change`): the interval excludes 0 exactly where the p-value is below 1 minus its level. With
    `all` also the p-values adjusted by Holm and by Benjamini and Hochberg.
    """

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-change` per task, judge and test, and by the factors of `by`; its p-values per test."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores = gold_changes(builder.trials)
        cells = cells_of(builder.trials, self.options.by)
        for _, of_judge in groupby(cells, key=lambda cell: (cell.task, cell.judge)):
            yield from self._of_judge(builder, scores, of_judge)

    def _of_judge(self, builder: MeasureBuilder, scores: Scores, cells: Iterable[Cell]) -> Iterator[Measure]:
        family: list[Tested] = []
        for cell in cells:
            if cell.test == REFERENCE:
                continue
            basis = builder.basis(cell, scores)
            change = accuracy_change_of(builder, cell, basis.rows)
            bounds = _around(scores.bounds(basis.rows), change.estimate.value)
            note = "" if len(basis.usable) else _NOTHING
            measured = builder.measure(_NAME, basis, change.estimate, bounds=bounds, note=note, unit="difference")
            yield sensitive(allow_for_missing(measured, builder.trials, scores, basis.rows, _ends), (-1.0, 1.0))
            # Parts of a test are no further members of the family.
            if not cell.levels:
                family.append(Tested(basis=basis, p=change.test.p, least=change.test.least))
        yield from p_values(
            builder, _NAME, family, test=_TEST, over=_FAMILY, nothing=_NOTHING, adjusted=self.options.all
        )


def _ends(sums: Floats, level: float) -> Estimate:
    return clustered_difference(sums[:, 0], sums[:, 1], level=level)


def _around(bounds: tuple[float, float] | None, value: float | None) -> tuple[float, float] | None:
    """Return bounds that hold the estimate too: a lost verdict on an item that the reference gets wrong cannot fall."""
    if bounds is None or value is None:
        return bounds
    return min(bounds[0], value), max(bounds[1], value)


def equivalence_measures(
    builder: MeasureBuilder, name: str, basis: Basis, found: Equivalence, *, margin: float, note: str
) -> Iterator[Measure]:
    """Yield what an equivalence test finds and, for a whole test, its p-value: findings correct it over the report."""
    # The answer is a flag: a gate and a reader find it where they look for doubts.
    answer = (found.answer.value,)
    yield builder.measure(name, basis, found.difference, flags=answer, note=note, unit="difference", margin=margin)
    if found.p_equivalent is not None and not basis.cell.levels:
        yield builder.p_value(f"{name}-p", basis, found.p_equivalent, note=_ONE_SIDED)


@frozen
class AccuracyEquivalence:
    """Test whether the change of accuracy is within a declared margin: TOST with three results, in `flags`.

    `equivalent`: the change is within the margin; `different`: it is beyond; `undecided`: the data do not say. The
    interval has the coverage 1 - 2 alpha, and decides.
    """

    options: EquivalenceOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-equivalence` per task, judge and test, and per factor of `by`; its p-value per test."""
        # Two one-sided tests at alpha reject where the interval with coverage 1 - 2 alpha lies within the margin.
        margin = context.margin if self.options.margin is None else self.options.margin
        builder = MeasureBuilder.of(records, context, self.options).at(1 - 2 * self.options.alpha)
        scores = gold_changes(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            if cell.test == REFERENCE:
                continue
            basis, sums = builder.basis_and_sums(cell, scores)
            result = equivalence(sums[:, 0], sums[:, 1], margin=margin, alpha=self.options.alpha)
            p = "" if result.p_equivalent is None else f"; p of the two one-sided tests {result.p_equivalent:.3g}"
            note = f"margin {margin:g}{p}" if len(basis.usable) else _NOTHING
            yield from equivalence_measures(builder, "accuracy-equivalence", basis, result, margin=margin, note=note)


_NO_QUESTION: Final = "no question has an expected answer and a verdict from both judges"
_NO_DIFFERENCE: Final = (
    "two-sided test, judges exchanged by cluster (mid-p; McNemar where every cluster has one question)"
)
_ALL_PAIRS: Final = "all pairs of judges and tests of the task"
_DIFFERENCE: Final = "accuracy-difference"


@frozen
class JudgeComparison:
    """Measure the accuracy of one judge minus that of another, over the questions that both answered.

    Accuracy is defined as in the metric `as-expected`; a question is a case and a repeat.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-difference` per task, test and pair of judges (`cell`: against), and its p-values."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        scores = as_expected(trials)
        # All pairs of judges in all tests of a task are one family.
        for _, panels in groupby(panels_of(trials), key=lambda panel: panel.task):
            family: list[Tested] = []
            for panel in panels:
                for cell, first, second in judge_pairs(trials, panel):
                    # The same questions for both: a judge must not gain by an easier set.
                    about = scores.eligible[first] & scores.eligible[second]
                    measured, tested = _compare(builder, cell, scores, first[about], second[about])
                    yield measured
                    family.append(tested)
            yield from p_values(
                builder, _DIFFERENCE, family, test=_NO_DIFFERENCE, over=_ALL_PAIRS, nothing=_NO_QUESTION
            )


def _compare(
    builder: MeasureBuilder, cell: Cell, scores: Scores, first: Codes, second: Codes
) -> tuple[Measure, Tested]:
    both = scores.answered[first] & scores.answered[second]
    here, there = first[both], second[both]
    clusters = builder.trials.cluster.codes[here]
    value, against = scores.value[here], scores.value[there]
    # Differences on the same question: what makes a question hard cancels out.
    sums = cluster_sums(clusters, value - against, np.ones(len(clusters)))
    basis = Basis(cell, np.concatenate([first, second]), np.concatenate([here, there]))
    change = builder.exchange_sides(cell, sums)
    note = "" if len(basis.usable) else _NO_QUESTION
    measured = builder.measure(_DIFFERENCE, basis, change.estimate, note=note, unit="difference")
    return measured, Tested(basis=basis, p=change.test.p, least=change.test.least)


def reference_differences(records: RecordTable, context: MetricContext) -> Iterator[tuple[Measure, Tested]]:
    """Yield how much closer to the gold labels a judge is than another (`cell`), on the items that both answered.

    For every task and pair of judges, in the reference condition, with the test of it. A verdict is right or wrong; on
    an ordinal scale the square of its distance counts, as in the quadratic kappa that judges are ranked by.
    """
    builder = MeasureBuilder.of(records, context, MetricOptions())
    trials = builder.trials
    scores, levels = as_expected(trials), Levels.of(trials)
    near = 1 - (levels.errors / np.maximum(levels.top, 1)) ** 2
    value = np.where(levels.eligible & scores.eligible, near, scores.value)
    scores = evolve(scores, value=value, answered=~np.isnan(value))
    for panel in panels_of(trials):
        if panel.test == REFERENCE:
            for cell, first, second in judge_pairs(trials, panel):
                about = scores.eligible[first] & scores.eligible[second]
                yield _compare(builder, cell, scores, first[about], second[about])
