"""Metrics `as-expected` (against the expected verdict) and `gold-accuracy` (against the gold label)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import BreakdownOptions, MeasureBuilder, against_gold, as_expected, cells_of

from jrh_metrics.options import RateOptions


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
