"""Metric `calibration`: compare the stated probabilities of a judge with how often it is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.measuring import Cell, Codes, MeasureBuilder, cells_of, stated_label
from jrh_stats import brier_score, expected_calibration_error, paired_difference, reliability_curve
from numpy.typing import NDArray

from jrh_metrics.options import CalibrationOptions

_NOTHING: Final = "no verdict has both a probability and a right label"


@frozen
class Calibration:
    """Measure Brier score, expected calibration error and reliability curve of a judge's stated probabilities.

    `overconfidence` is the mean stated probability minus the share of right verdicts: above 0 the judge is surer than
    it should be. Only verdicts with a probability count; judges that never give one get no such measures.
    """

    options: CalibrationOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `brier`, `overconfidence`, `calibration-error`, and `reliability` per bin, per task, judge and test."""
        if "probability" not in records.columns:
            return
        builder = MeasureBuilder.of(records, context, self.options)
        stated = builder.trials.records.number("probability")
        truth = stated_label(builder.trials)
        for cell in cells_of(builder.trials):
            labelled = cell.rows[truth[cell.rows] >= 0]
            usable = labelled[builder.trials.usable[labelled] & ~np.isnan(stated[labelled])]
            if len(usable):
                # Verdicts without a probability are excluded, not missing: the judge did answer.
                rows = labelled[~builder.trials.usable[labelled] | ~np.isnan(stated[labelled])]
                yield from self._measured(builder, cell, rows, usable, stated[usable], truth[usable])

    def _measured(
        self,
        builder: MeasureBuilder,
        cell: Cell,
        rows: Codes,
        usable: Codes,
        stated: NDArray[np.float64],
        truth: Codes,
    ) -> Iterator[Measure]:
        trials, context = builder.trials, builder.context
        right = (trials.label[usable] == truth).astype(np.float64)
        clusters = trials.cluster.codes[usable]
        brier = brier_score(stated, right, clusters, level=context.level)
        yield builder.measure("brier", cell, brier, rows=rows, usable=usable, unit="squared error")
        over = paired_difference(stated, right, clusters, level=context.level)
        yield builder.measure("overconfidence", cell, over, rows=rows, usable=usable, unit="difference")
        error = expected_calibration_error(
            stated,
            right,
            clusters,
            bins=self.options.bins,
            binning=self.options.binning,
            level=context.level,
            resamples=context.resamples,
            seed=builder.seed(cell),
        )
        yield builder.measure("calibration-error", cell, error, rows=rows, usable=usable)
        curve = reliability_curve(
            stated,
            right,
            clusters,
            bins=self.options.bins,
            binning=self.options.binning,
            level=context.level,
        )
        for part in curve:
            inside = (stated > part.low) | ((part.low == 0.0) & (stated == 0.0))
            within = usable[inside & (stated <= part.high)]
            here = cell.part({"stated": f"{part.low:.3g} to {part.high:.3g}"}, within)
            yield builder.measure(
                "reliability",
                here,
                part.accuracy,
                rows=within,
                usable=within,
                note=f"mean stated probability {part.confidence:.3f}",
            )
