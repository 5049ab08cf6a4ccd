"""Metric `error-rates`: false positive rate and false negative rate."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Cell, Codes, MeasureBuilder, Scores, cells_of, positive_label, stated_label

from jrh_metrics.options import ErrorRateOptions


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
        truth = stated_label(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            positive = positive_label(context.tasks.get(cell.task), self.options.positive, "error-rates")
            if positive is not None:
                yield from _rates(builder, cell, truth, positive)


def _rates(builder: MeasureBuilder, cell: Cell, truth: Codes, positive: str) -> Iterator[Measure]:
    trials = builder.trials
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
