"""Metrics `agreement` with the reference condition and `flip-rate`, its complement."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    NOTHING_EXPECTED,
    BreakdownOptions,
    MeasureBuilder,
    agreeing,
    cells_of,
    change_due,
    mirrored,
)

from jrh_metrics.options import RateOptions


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
        scores = agreeing(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            if cell.test != REFERENCE:
                flags = change_due(builder.trials, cell)
                yield builder.rate("agreement", cell, scores, nothing=NOTHING_EXPECTED, flags=flags)


@frozen
class FlipRate:
    """Measure the share of verdicts that differ from the reference: 1 - agreement, with the mirrored interval."""

    options: RateOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `flip-rate` wherever `agreement` is measured."""
        for agreement in Agreement(self.options).measure(records, context):
            yield mirrored(agreement, "flip-rate")
