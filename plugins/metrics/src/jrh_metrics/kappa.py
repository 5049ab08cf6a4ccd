"""Cohen's kappa between a perturbed and the reference condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh.stats import Weighting, clustered_kappa

from jrh_metrics.cells import Cell, cells_of
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.options import MetricOptions
from jrh_metrics.reference import ReferenceVerdicts, reference_verdicts
from jrh_metrics.trials import Codes

_DEGENERATE: Final = "both sides always give one and the same label: agreement by chance is certain"


@frozen
class Kappa:
    """Cohen's kappa: agreement with the reference condition beyond what the two margins give by chance.

    Each trial is paired with every usable reference verdict of its item and judge, and counts once in total. Where both
    sides always give the same one label, kappa is not defined: no estimate, flag `degenerate`.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `kappa` per task, judge and test other than the reference, and per variant."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials):
            if cell.test != REFERENCE:
                codes = np.arange(len(builder.trials.labels))
                yield _measured("kappa", "none", codes, cell, builder, reference)


@frozen
class QuadraticKappa:
    """Quadratically weighted kappa, on the ranks of an ordinal scale: large disagreements weigh more.

    Tasks whose scale has no order have no such measure.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `kappa-quadratic` per ordinal task, judge and test other than the reference, and per variant."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials):
            rank = builder.trials.rank[builder.trials.task.names.index(cell.task)]
            if cell.test != REFERENCE and rank.max(initial=-1) >= 0:
                yield _measured("kappa-quadratic", "quadratic", rank, cell, builder, reference)


def _measured(
    name: str,
    weighting: Weighting,
    codes: Codes,
    cell: Cell,
    builder: MeasureBuilder,
    reference: ReferenceVerdicts,
) -> Measure:
    """Measure one cell; `codes` gives the code of each label, -1 for labels that cannot be compared."""
    trials = builder.trials
    usable = cell.rows[trials.usable[cell.rows] & (reference.usable[cell.rows] > 0)]
    # Trial x label: how many reference verdicts of the trial's item have the label.
    among = reference.counts[reference.of[usable]]
    trial, label = np.nonzero(among)
    first, second = codes[trials.label[usable]][trial], codes[label]
    kept = (first >= 0) & (second >= 0)
    share = among[trial, label] / reference.usable[usable][trial]
    estimate = clustered_kappa(
        first[kept],
        second[kept],
        trials.item.codes[usable][trial][kept],
        weighting=weighting,
        case_weights=share[kept],
        level=builder.context.level,
    )
    return builder.measure(
        name,
        cell,
        estimate,
        rows=cell.rows,
        usable=usable,
        flags=(*_degenerate(estimate.flags, label), *builder.flags(cell, cell.rows, usable)),
        note=_DEGENERATE if "degenerate" in estimate.flags else builder.why_none(cell.rows, usable),
        unit="coefficient",
    )


def _degenerate(flags: tuple[str, ...], reference_labels: Codes) -> tuple[str, ...]:
    if "degenerate" in flags:
        return ("degenerate",)
    constant = len(reference_labels) > 1 and bool(np.all(reference_labels == reference_labels[0]))
    # Defined, but 0 whatever the judge answers now.
    return ("constant-reference",) if constant else ()
