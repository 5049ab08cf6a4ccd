"""Metric `calibration`: compare the stated probabilities of a judge with how often it is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Cell, Codes, MeasureBuilder, cells_of, stated_label
from jrh_stats import (
    Binning,
    brier_score,
    calibration_test,
    expected_calibration_error,
    paired_difference,
    plain_calibration_error,
    reliability_curve,
)
from numpy.typing import NDArray

from jrh_metrics.options import CalibrationOptions

_PERFECT: Final = "consistency resampling; null hypothesis: the judge is perfectly calibrated"
_ONE_CLUSTER: Final = "one cluster of items only"


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
        yield from self._against_perfect(builder, cell, rows, usable, stated, right)
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

    def _against_perfect(
        self,
        builder: MeasureBuilder,
        cell: Cell,
        rows: Codes,
        usable: Codes,
        stated: NDArray[np.float64],
        right: NDArray[np.float64],
    ) -> Iterator[Measure]:
        """Yield the calibration error, and the p-value of perfect calibration."""
        clusters = builder.trials.cluster.codes[usable]
        bins: _Bins = {"bins": self.options.bins, "binning": self.options.binning}
        error = expected_calibration_error(stated, right, clusters, level=builder.context.level, **bins)
        plain = plain_calibration_error(stated, right, **bins)
        note = f"without its bias; plain estimate {plain:.3f}"
        yield builder.measure("calibration-error", cell, error, rows=rows, usable=usable, note=note)
        test = calibration_test(
            stated, right, clusters, **bins, resamples=builder.context.resamples, seed=builder.seed(cell)
        )
        note = _PERFECT if test.p is not None else _ONE_CLUSTER
        yield builder.p_value("calibration-p", cell, test.p, rows=rows, usable=usable, note=note)
