"""Cohen's kappa: with the reference condition, and with the gold labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    CONSTANT_REFERENCE,
    DEGENERATE,
    NO_REFERENCE,
    NOTHING_EXPECTED,
    Basis,
    BreakdownOptions,
    Cell,
    Codes,
    Floats,
    MeasureBuilder,
    ReferenceVerdicts,
    Trials,
    against_gold,
    agreement_scores,
    cells_of,
    change_due,
    comparable_trials,
    reference_verdicts,
)
from jrh_stats import (
    Estimate,
    Weighting,
    clustered_kappa,
    parts_of,
)

_DEGENERATE: Final = "not estimable from identical values: both conditions always have the same single label"


@frozen
class Kappa:
    """Measure Cohen's kappa: agreement with the reference condition beyond chance, given both margins.

    Each trial is paired with every usable reference verdict of its item and judge, and counts once in total. Where both
    sides always give the same one label, kappa is not defined: no estimate, flag `degenerate`.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `kappa` per task, judge, perturbed test and factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            if cell.test != REFERENCE:
                # Without weights labels are equal or not, whatever their order.
                codes = np.arange(len(builder.trials.labels))
                yield from _measure_cell("kappa", "none", codes, cell, builder, reference)


@frozen
class QuadraticKappa:
    """Measure quadratically weighted kappa on an ordinal scale: large disagreements weigh more.

    Tasks with an unordered scale get no such measure.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `kappa-quadratic` per ordinal task, judge and test other than the reference, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            rank = builder.trials.rank[builder.trials.task.names.index(cell.task)]
            # Without an order there are no steps to weigh.
            if cell.test != REFERENCE and rank.max(initial=-1) >= 0:
                yield from _measure_cell("kappa-quadratic", "quadratic", rank, cell, builder, reference)


def _pair_part(
    trials: Trials, usable: Codes, reference: ReferenceVerdicts, codes: Codes
) -> tuple[Codes, Codes, Codes, Floats]:
    """Pair some trials with every usable reference verdict of their item and judge; shapes (pairs,).

    Returns:
        The labels of both sides, the clusters, and the weights: those of the pairs of one trial add up to 1.
    """
    # Trial x label: how many reference verdicts of the trial's item have the label.
    among = reference.counts[reference.of[usable]]
    trial, label = np.nonzero(among)
    first, second = codes[trials.label[usable]][trial], codes[label]
    # A label that has no rank on the scale is no number of steps away from another.
    comparable = (first >= 0) & (second >= 0)
    share = among[trial, label] / reference.verdict_counts[reference.of[usable]][trial]
    cluster = trials.cluster.codes[usable][trial]
    verdicts, references, of = (side[comparable].astype(np.int32, copy=False) for side in (first, second, cluster))
    return verdicts, references, of, share[comparable]


def _measure_cell(
    name: str, weighting: Weighting, codes: Codes, cell: Cell, builder: MeasureBuilder, reference: ReferenceVerdicts
) -> Iterator[Measure]:
    """Measure one cell; `codes` gives the code of each label, -1 for labels that cannot be compared."""
    trials, level = builder.trials, builder.context.level
    rows = cell.rows[comparable_trials(trials)[cell.rows]]
    usable = rows[trials.usable[rows] & reference.at_least(1, rows)]
    basis = Basis(cell, rows, usable)
    # Part by part: the table of trials and labels is many times larger than the pairs that come of it.
    parts = [_pair_part(trials, usable[part], reference, codes) for part in parts_of(len(usable))]
    first, second, clusters, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    estimate = clustered_kappa(first, second, clusters, weighting=weighting, case_weights=weights, level=level)
    flags = (*_constant(estimate, second), *change_due(trials, cell))
    note = _DEGENERATE if DEGENERATE in estimate.flags else builder.why_none(basis, NOTHING_EXPECTED)
    measure = builder.measure(name, basis, estimate, flags=flags, note=note, unit="coefficient", unscored=NO_REFERENCE)
    yield from builder.flag_missing((measure,), cell, agreement_scores(trials))


def _constant(estimate: Estimate, reference_labels: Codes) -> tuple[str, ...]:
    """Return the flag of a kappa that is 0 whatever the judge answers, because the reference is constant."""
    # One label on both sides has a flag of its own already.
    if DEGENERATE in estimate.flags or len(reference_labels) <= 1:
        return ()
    return (CONSTANT_REFERENCE,) if bool(np.all(reference_labels == reference_labels[0])) else ()


_SAME_LABEL: Final = "not estimable from identical values: the verdicts, or the gold labels, are all the same"


@frozen
class GoldAgreement:
    """Measure Cohen's kappa of verdicts and gold labels.

    The trials are those of `gold-accuracy`. A judge that always gives the most common label has a high accuracy, and
    a kappa of 0. Ordinal scales have `gold-kappa-quadratic` instead, from `ordinal-association`.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `gold-kappa` per unordered task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials, scores = builder.trials, against_gold(builder.trials)
        for cell in cells_of(trials, self.options.by):
            # By gold label there is no chance agreement: one side is constant.
            if cell.task not in context.tasks or context.tasks[cell.task].scale.ordered or "gold" in cell.levels:
                continue
            basis = builder.basis(cell, scores)
            usable = basis.usable
            nothing = builder.why_none(basis, "no case with an unchanged gold label")
            estimate = clustered_kappa(
                trials.label[usable], trials.gold[usable], trials.cluster.codes[usable], level=context.level
            )
            note = _SAME_LABEL if DEGENERATE in estimate.flags else nothing
            measure = builder.measure("gold-kappa", basis, estimate, note=note, unit="coefficient")
            yield from builder.flag_missing((measure,), cell, scores)
