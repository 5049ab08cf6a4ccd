"""Metric `gold-agreement`: agreement with the gold label beyond chance, on scales without an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.measuring import DEGENERATE, BreakdownOptions, MeasureBuilder, against_gold, cells_of
from jrh_stats import Estimate, clustered_kappa, matthews_correlation

_COEFFICIENTS: Final[dict[str, Callable[..., Estimate]]] = {
    "gold-kappa": clustered_kappa,
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
                yield builder.measure(name, cell, estimate, rows=rows, usable=usable, note=note, unit="coefficient")
