"""Trials without a verdict, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable

from jrh_metrics.cells import FACTORS, cells_of
from jrh_metrics.measuring import MeasureBuilder, Scores
from jrh_metrics.options import MetricOptions


@frozen
class Missing:
    """The share of trials without a usable verdict; `missing` holds their number by status."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing` per task, judge and test, the reference included, and per factor of `cells.FACTORS`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        value = (~trials.usable).astype(np.float64)
        everything = np.ones(len(value), dtype=np.bool_)
        scores = Scores(eligible=everything, value=value, low=value, high=value)
        for cell in cells_of(trials, FACTORS):
            yield builder.rate("missing", cell, scores, nothing="no trial")
