"""Metrics that are shares of verdicts: as expected, right, wrong by kind, changed, missing, and what is missing why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    NOTHING_EXPECTED,
    Basis,
    BreakdownOptions,
    Cell,
    Codes,
    MeasureBuilder,
    MetricOptions,
    Reason,
    Scores,
    against_gold,
    agreement_scores,
    as_expected,
    cells_of,
    change_due,
    complement,
    condition_codes,
    informative,
    positive_label,
    right_label,
    tasks_of,
)
from jrh_stats import missingness_test

from jrh_metrics.flag_list import MISSING_ON_ERRORS, MISSING_ON_RIGHT
from jrh_metrics.options import ErrorRateOptions, RateOptions


@frozen
class AsExpected:
    """Measure the share of verdicts that a reliable judge would give under the condition.

    A verdict is compared, in canonical labels, with

    * the gold label in the reference condition;
    * the stated label where the case expects `Equals`;
    * the same judge's verdict on the item in the reference condition where the case expects `Same` (equal), `Changes`
      (different), `NotAbove` or `NotBelow` (by rank on an ordinal scale; other scales have no order, and such trials
      do not count). With several reference repeats a trial scores the share of them that it fits.

    Trials without an expectation or a required gold label do not count.
    """

    options: RateOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `as-expected` per task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores = as_expected(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            yield builder.rate("as-expected", cell, scores, nothing="no trial has a gold label or another expectation")


@frozen
class GoldAccuracy:
    """Measure the share of verdicts that equal the gold label.

    Only cases that keep the gold label count: the reference condition, and cases that expect `Same`.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `gold-accuracy` per task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores = against_gold(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            yield builder.rate("gold-accuracy", cell, scores, nothing="no case with an unchanged gold label")


@frozen
class Missing:
    """Measure the share of trials without a usable verdict; `missing` holds the counts by status."""

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing` per task, judge and test, the reference included, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        # 1 for a missing verdict: the only share in which those count and are not left out.
        value = (~trials.usable).astype(np.float64)
        everything = np.ones(len(value), dtype=np.bool_)
        # Which verdicts are missing is known: the bounds are the share itself.
        scores = Scores(eligible=everything, value=value, low=value, high=value)
        for cell in cells_of(trials, self.options.by):
            yield builder.rate("missing", cell, scores, nothing="no trial")


@frozen
class ErrorRates:
    """Measure how often a judge gives the positive label where it is wrong, and misses it where it is right.

    The positive label is the one the task's scale declares, or the option `positive`, otherwise the first of a scale of
    two labels. Any other verdict counts
    as negative. Tasks without a positive label have no such measures.
    """

    options: ErrorRateOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `false-positive-rate` and `false-negative-rate` per test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        truth = right_label(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            positive = positive_label(context.tasks.get(cell.task), self.options.positive, "error-rates")
            if positive is not None:
                yield from _rates(builder, cell, truth, positive)


def _rates(builder: MeasureBuilder, cell: Cell, truth: Codes, positive: str) -> Iterator[Measure]:
    trials = builder.trials
    # A label that no record has gets a code that no trial has.
    code = trials.labels.index(positive) if positive in trials.labels else len(trials.labels)
    says = trials.label == code
    sides = (
        ("false-positive-rate", (truth >= 0) & (truth != code), says, f"no trial whose right label is not {positive}"),
        ("false-negative-rate", truth == code, ~says, f"no trial whose right label is {positive}"),
    )
    for name, eligible, wrong, nothing in sides:
        yield builder.rate(
            name, cell, Scores.of(trials, wrong, eligible), nothing=nothing, note=f"positive label: {positive}"
        )


@frozen
class Agreement:
    """Measure the share of verdicts that equal the same judge's verdict on the item in the reference condition.

    With several reference repeats a trial scores the share of them that it equals. Labels are canonical: swapped
    options and inverted polarity are undone first. JudgeSense calls it the judge sensitivity score (JSS).
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `agreement` per task, judge and test other than the reference, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores = agreement_scores(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            # The reference would agree with itself; how it differs from its own reruns is `rerun-disagreement`.
            if cell.test != REFERENCE:
                # Where another verdict is due, agreeing with the reference is the defect.
                flags = change_due(builder.trials, cell)
                yield builder.rate("agreement", cell, scores, nothing=NOTHING_EXPECTED, flags=flags)


@frozen
class FlipRate:
    """Measure the share of verdicts that differ from the reference: 1 - agreement, with the mirrored interval."""

    options: RateOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `flip-rate` wherever `agreement` is measured."""
        for agreement in Agreement(self.options).measure(records, context):
            # Mirrored, so that both always add up to 1, the ends of their intervals included.
            yield complement(agreement, "flip-rate")


_TEST = "Cochran-Mantel-Haenszel test stratified by item; null hypothesis: equal missing rates in all conditions"
_FURTHER = {
    Reason.LABEL: "missing-by-label-p",
    Reason.ERROR: "missing-by-error-p",
    Reason.CONFIDENCE: "missing-by-confidence-p",
}
_DIRECTIONS = {None: (), True: (MISSING_ON_ERRORS,), False: (MISSING_ON_RIGHT,)}
_MANTEL = (
    "Mantel's test over clusters, beyond what conditions explain; adjusted by Holm over the tests of what is missing"
)
_NONE = "no item has both missing and usable verdicts across several conditions"


@frozen
class MissingByCondition:
    """Test whether missing verdicts depend on the condition, the gold label, the judge being wrong, or its confidence.

    If they do, rates over the usable verdicts are about other questions than those asked: measures with missing
    verdicts have the flag `informative-missing`, and intervals that allow for any missing verdicts.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing-by-condition-p`, `-label-p`, `-error-p` and `-confidence-p` per task and judge.

        `test` is empty: they are about all tests together. The last three are missing where they are not defined.
        """
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        conditions = condition_codes(trials)
        for cell in tasks_of(trials):
            rows = cell.rows
            test = missingness_test(
                ~trials.usable[rows], conditions[rows], trials.item.codes[rows], trials.cluster.codes[rows]
            )
            # A test that could not be made rests on no trial.
            tested = rows if test.p is not None else np.zeros(0, dtype=np.int64)
            few = ("few-missing",) if "few" in test.flags else ()
            note = _NONE if test.p is None else _TEST
            yield builder.p_value("missing-by-condition-p", Basis(cell, tested, tested), test.p, flags=few, note=note)
            dependence = informative(trials).get((cell.task, cell.judge))
            if dependence is None:
                continue
            for reason, name in _FURTHER.items():
                p = dependence.p.get(reason)
                if p is not None:
                    # Accuracy over the usable verdicts is too high where wrong ones are lost, and too low where right
                    # ones are.
                    flags = _DIRECTIONS[dependence.on_errors] if reason is Reason.ERROR else ()
                    yield builder.p_value(name, Basis(cell, rows, rows), p, flags=flags, note=_MANTEL)
