"""Metric `calibration`: compare the stated probabilities of a judge with how often it is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Basis, Codes, Floats, MeasureBuilder, cells_of, right_label
from jrh_stats import (
    Binning,
    brier_score,
    expected_calibration_error,
    paired_difference,
    plain_calibration_error,
    reliability_curve,
)

from jrh_metrics.options import CalibrationOptions


class _Bins(TypedDict):
    """How the stated probabilities are binned."""

    bins: int
    binning: Binning


@frozen
class Calibration:
    """Measure Brier score, expected calibration error and reliability curve of a judge's stated probabilities.

    `overconfidence` is the mean stated probability minus the share of right verdicts: above 0 the judge is surer than
    it should be. Only verdicts with a probability count; judges that never give one get no such measures.
    """

    options: CalibrationOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task, judge and test; `reliability` per bin of the stated probability."""
        if "probability" not in records.columns:
            return
        builder = MeasureBuilder.of(records, context, self.options)
        stated = builder.trials.records.number("probability")
        truth = right_label(builder.trials)
        for cell in cells_of(builder.trials):
            labelled = cell.rows[truth[cell.rows] >= 0]
            usable = labelled[builder.trials.usable[labelled] & ~np.isnan(stated[labelled])]
            if len(usable):
                # Verdicts without a probability are excluded, not missing: the judge did answer.
                rows = labelled[~builder.trials.usable[labelled] | ~np.isnan(stated[labelled])]
                yield from self._measure_cell(builder, Basis(cell, rows, usable), stated[usable], truth[usable])

    def _measure_cell(self, builder: MeasureBuilder, basis: Basis, stated: Floats, truth: Codes) -> Iterator[Measure]:
        trials, context, usable = builder.trials, builder.context, basis.usable
        right = (trials.label[usable] == truth).astype(np.float64)
        answers = stated, right, trials.cluster.codes[usable]
        yield builder.measure("brier", basis, brier_score(*answers, level=context.level), unit="squared error")
        # Paired: each verdict has both, a probability and an outcome.
        over = paired_difference(*answers, level=context.level)
        yield builder.measure("overconfidence", basis, over, unit="difference")
        bins: _Bins = {"bins": self.options.bins, "binning": self.options.binning}
        error = expected_calibration_error(*answers, level=context.level, **bins)
        # The plain estimate, which is above 0 also for a perfectly calibrated judge, is there to compare with.
        note = f"without its bias; plain estimate {plain_calibration_error(stated, right, **bins):.3f}"
        yield builder.measure("calibration-error", basis, error, note=note)
        for part in reliability_curve(*answers, level=context.level, **bins):
            # Bins are open below, but for the first one, which holds a stated 0.
            inside = (stated > part.low) | ((part.low == 0.0) & (stated == 0.0))
            within = usable[inside & (stated <= part.high)]
            here = basis.cell.part({"stated": f"{part.low:.3g} to {part.high:.3g}"}, within)
            note = f"mean stated probability {part.confidence:.3f}"
            yield builder.measure("reliability", Basis(here, within, within), part.accuracy, note=note)
