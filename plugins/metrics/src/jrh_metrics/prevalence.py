"""Metric `corrected-prevalence`: share of positives or mean level, corrected for the judge's errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    Basis,
    Cell,
    Codes,
    MeasureBuilder,
    cells_of,
    combine_codes,
    positive_label,
)
from jrh_stats import Estimate, cluster_sums, prediction_powered_mean
from numpy.typing import NDArray

from jrh_metrics.options import PrevalenceOptions

_POWERED: Final = "for all items, {labelled} of them labelled; valid only if these are a random sample"
_FEW: Final = "too few labelled or unlabelled items with verdicts"


@frozen(kw_only=True, eq=False)
class _Slices:
    """One number per cluster of items, in the order of their names."""

    judged: NDArray[np.float64]
    """Mean of the judge's verdicts on the labelled items."""
    right: NDArray[np.float64]
    """The right values of the labelled items."""
    unlabelled: NDArray[np.float64]
    """Mean of the judge's verdicts on the unlabelled items."""


@frozen
class CorrectedPrevalence:
    """Estimate the share of positives (or the mean level) of partly labelled items.

    The judge's own rate is off by its errors. The labelled items tell how it errs, and the corrected estimates take
    that out. Measured in the reference condition of tasks that have labelled and unlabelled items.
    """

    options: PrevalenceOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the corrected share or level per task and judge."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in cells_of(builder.trials):
            gold = builder.trials.gold[cell.rows] >= 0
            # With all items labelled nothing is left to correct; with none there is nothing to correct by.
            if cell.test == REFERENCE and cell.task in context.tasks and gold.any() and not gold.all():
                yield from self._of_task(builder, cell)

    def _of_task(self, builder: MeasureBuilder, cell: Cell) -> Iterator[Measure]:
        task = builder.context.tasks[cell.task]
        positive = positive_label(task, self.options.positive, "corrected-prevalence")
        if positive is not None:
            value = np.array([float(label == positive) for label in builder.trials.labels])
            slices = _slices(builder, cell, value)
            powered = self._prediction_powered(slices, builder.context.level)
            yield _build_measure(builder, cell, "prevalence-prediction-powered", _clip(powered), slices)
        elif task.scale.ordered:
            scale = task.scale
            ranks = [float(scale.rank(label)) if label in scale else np.nan for label in builder.trials.labels]
            value = np.array(ranks)
            slices = _slices(builder, cell, value)
            powered = self._prediction_powered(slices, builder.context.level)
            yield _build_measure(builder, cell, "mean-level-prediction-powered", powered, slices, unit="levels")

    def _prediction_powered(self, slices: _Slices, level: float) -> Estimate:
        tuned = self.options.tuned
        return prediction_powered_mean(slices.right, slices.judged, slices.unlabelled, tuned=tuned, level=level)


def _slices(builder: MeasureBuilder, cell: Cell, value: NDArray[np.float64]) -> _Slices:
    trials = builder.trials
    usable = cell.rows[trials.usable[cell.rows]]
    labelled = usable[trials.gold[usable] >= 0]
    # Items of a cluster with different gold labels are different things to be right about.
    unit = combine_codes(trials.cluster.codes, trials.gold + 1)
    unlabelled = usable[trials.gold[usable] < 0]
    return _Slices(
        judged=_by_unit(unit[labelled], value[trials.label[labelled]]),
        right=_by_unit(unit[labelled], value[trials.gold[labelled]]),
        unlabelled=_by_unit(unit[unlabelled], value[trials.label[unlabelled]]),
    )


def _by_unit(unit: Codes, value: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = cluster_sums(unit, value, np.ones(len(unit)))
    return np.asarray(sums[:, 0] / sums[:, 1])


def _clip(estimate: Estimate) -> Estimate:
    """Clip a proportion and its interval to [0, 1]."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    # A correction by noisy error rates can leave the range of a share.
    low, value, high = (min(max(end, 0.0), 1.0) for end in (estimate.low, estimate.value, estimate.high))
    flags = estimate.flags if value == estimate.value else (*estimate.flags, "cut")
    return evolve(estimate, value=value, low=low, high=high, flags=flags)


def _build_measure(
    builder: MeasureBuilder,
    cell: Cell,
    name: str,
    estimate: Estimate,
    slices: _Slices,
    *,
    unit: str = "proportion",
) -> Measure:
    return builder.measure(
        name,
        Basis(cell, cell.rows, cell.rows[builder.trials.usable[cell.rows]]),
        estimate,
        note=_POWERED.format(labelled=len(slices.right)) if estimate.value is not None else _FEW,
        unit=unit,
    )
