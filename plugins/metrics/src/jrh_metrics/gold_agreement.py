"""Metric `gold-agreement`: agreement with the gold label beyond chance, on scales without an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh_measuring import (
    DEGENERATE,
    BreakdownOptions,
    Codes,
    MeasureBuilder,
    Trials,
    against_gold,
    cells_of,
    is_untestable,
    sensitive,
    within_bounds,
)
from jrh_stats import Bounds, Estimate, association_bounds, clustered_kappa, kappa_bounds, matthews_correlation

_KAPPA: Final = "gold-kappa"
_COEFFICIENTS: Final[dict[str, Callable[..., Estimate]]] = {
    _KAPPA: clustered_kappa,
    "gold-mcc": matthews_correlation,
}
_DEGENERATE: Final = "not estimable from identical values: the verdicts, or the gold labels, are all the same"


@frozen
class GoldAgreement:
    """Measure Cohen's kappa and the Matthews correlation (for k labels Gorodkin's R_K) of verdicts and gold labels.

    The trials are those of `gold-accuracy`. A judge that always gives the most common label has a high accuracy, and
    a kappa of 0. Ordinal scales have `gold-kappa-quadratic` instead, from `ordinal-association`.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `gold-kappa` and `gold-mcc` per unordered task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials, scores = builder.trials, against_gold(builder.trials)
        for cell in cells_of(trials, self.options.by):
            # By gold label there is no chance agreement: one side is constant.
            if cell.task not in context.tasks or context.tasks[cell.task].scale.ordered or "gold" in cell.levels:
                continue
            rows = cell.rows[scores.eligible[cell.rows]]
            usable = rows[scores.answered[rows]]
            nothing = builder.why_none(rows, usable, "no case with an unchanged gold label")
            for name, coefficient in _COEFFICIENTS.items():
                estimate = coefficient(
                    trials.label[usable], trials.gold[usable], trials.cluster.codes[usable], level=context.level
                )
                note = _DEGENERATE if DEGENERATE in estimate.flags else nothing
                measure = builder.measure(name, cell, estimate, rows=rows, usable=usable, note=note, unit="coefficient")
                if len(usable) < len(rows):
                    found = _bounds(name, trials, rows, usable, context.tasks[cell.task].scale, context.level)
                    told = within_bounds(measure, found, untestable=is_untestable(trials, rows))
                    measure = sensitive(told, (-1.0, 1.0))
                yield measure


def _bounds(name: str, trials: Trials, rows: Codes, usable: Codes, scale: Scale, level: float) -> Bounds | None:
    """Bound kappa or MCC by what the missing verdicts could have been: any label of the scale."""
    given = np.where(np.isin(rows, usable), trials.label[rows], -1)
    known = [trials.labels.index(label) for label in scale.labels if label in trials.labels]
    fills = [*known, *range(len(trials.labels), len(trials.labels) + len(scale.labels) - len(known))]
    if name == _KAPPA:
        return kappa_bounds(given, trials.gold[rows], trials.cluster.codes[rows], fills, level=level)
    return association_bounds("mcc", given, trials.gold[rows], trials.cluster.codes[rows], fills, level=level)
