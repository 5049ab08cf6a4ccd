"""Metric `missing`: trials without a verdict, by status."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import BreakdownOptions, MeasureBuilder, Scores, cells_of


@frozen
class Missing:
    """Measure the share of trials without a usable verdict; `missing` holds the counts by status."""

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing` per task, judge and test, the reference included, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        value = (~trials.usable).astype(np.float64)
        everything = np.ones(len(value), dtype=np.bool_)
        scores = Scores(eligible=everything, value=value, low=value, high=value)
        for cell in cells_of(trials, self.options.by):
            yield builder.rate("missing", cell, scores, nothing="no trial")
