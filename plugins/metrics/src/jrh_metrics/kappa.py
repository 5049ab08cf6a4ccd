"""Kappa, unweighted on unordered scales and quadratic on ordinal ones: with the reference condition, and with gold."""

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
    Levels,
    MeasureBuilder,
    ReferenceVerdicts,
    Trials,
    against_gold,
    agreement_scores,
    cells_of,
    change_due,
    comparable_trials,
    reference_verdicts,
    widen_coefficient,
)
from jrh_stats import Estimate, Weighting, clustered_kappa, kappa_test, parts_of

from jrh_metrics.ordinal import NO_LEVEL

_DEGENERATE: Final = "not estimable from identical values: both conditions always have the same single label"


@frozen
class SelfKappa:
    """Measure Cohen's kappa with the reference condition: the same judge's agreement with itself beyond chance.

    Each trial is paired with every usable reference verdict of its item and judge, and counts once in total. Quadratic
    weights on ordinal scales: large disagreements weigh more. Where both sides always give the same one label, kappa is
    not defined: no estimate, flag `degenerate`.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `self-kappa` per task, judge, perturbed test and factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            if cell.test != REFERENCE:
                yield from _measure_cell(cell, builder, reference)


def _pair_part(
    trials: Trials, usable: Codes, reference: ReferenceVerdicts, codes: Codes
) -> tuple[Codes, Codes, Codes, Floats]:
    """Pair some trials with every usable reference verdict of their item and judge; shapes (pairs,).

    Args:
        trials: all trials.
        usable: rows of those to pair.
        reference: the reference verdicts.
        codes: the code of each label, -1 for labels that cannot be compared.

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


def _measure_cell(cell: Cell, builder: MeasureBuilder, reference: ReferenceVerdicts) -> Iterator[Measure]:
    rank = builder.trials.rank[builder.trials.task.names.index(cell.task)]
    # Without an order there are no steps to weigh: labels are equal or not.
    ordered = rank.max(initial=-1) >= 0
    codes = rank if ordered else np.arange(len(builder.trials.labels))
    weighting = _weighting(ordered)
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
    measure = builder.measure(
        "self-kappa", basis, estimate, flags=flags, note=note, unit="coefficient", unscored=NO_REFERENCE
    )
    yield from builder.flag_missing((measure,), cell, agreement_scores(trials))


def _constant(estimate: Estimate, reference_labels: Codes) -> tuple[str, ...]:
    """Return the flag of a kappa that is 0 whatever the judge answers, because the reference is constant."""
    # One label on both sides has a flag of its own already.
    if DEGENERATE in estimate.flags or len(reference_labels) <= 1:
        return ()
    return (CONSTANT_REFERENCE,) if bool(np.all(reference_labels == reference_labels[0])) else ()


_CHANCE: Final = "two-sided permutation test by cluster; null hypothesis: verdicts do not depend on the gold label"
_SAME_LABEL: Final = "not estimable from identical values: the verdicts, or the right labels, are all the same"


@frozen
class GoldKappa:
    """Measure the kappa of verdicts and gold labels, quadratically weighted on ordinal scales.

    On unordered scales the trials are those of `gold-accuracy`, on ordinal ones those with a known right level. A judge
    that always gives the most common label has a high accuracy, and a kappa of 0. Quadratic kappa is Lin's concordance
    correlation coefficient (CCC).
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `gold-kappa` per task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials, level = builder.trials, context.level
        levels = Levels.of(trials)
        # Coefficients have no bounds: how far lost verdicts can sway them is read off a share over the same trials.
        unordered, exact = against_gold(trials), levels.scores((levels.errors == 0).astype(np.float64), 0.0, 1.0)
        for cell in cells_of(trials, self.options.by):
            # By gold label there is no chance agreement: one side is constant.
            if cell.task not in context.tasks or "gold" in cell.levels:
                continue
            ordered = context.tasks[cell.task].scale.ordered
            scores = exact if ordered else unordered
            basis = builder.basis(cell, scores)
            first, second = (levels.verdict, levels.right) if ordered else (trials.label, trials.gold)
            estimate = clustered_kappa(
                first[basis.usable],
                second[basis.usable],
                trials.cluster.codes[basis.usable],
                weighting=_weighting(ordered),
                level=level,
            )
            nothing = builder.why_none(basis, NO_LEVEL if ordered else "no case with an unchanged gold label")
            note = _SAME_LABEL if DEGENERATE in estimate.flags else nothing
            measure = builder.measure("gold-kappa", basis, estimate, note=note, unit="coefficient")
            for kappa in builder.flag_missing((measure,), cell, scores):
                yield _allow_for_missing(kappa, builder, levels, basis.rows, ordered)
            # The headline rests on the reference condition alone; more p-values would be tests that nothing reads.
            if cell.test == REFERENCE and not cell.levels and measure.estimate is not None:
                verdicts, gold = (side[basis.usable].astype(np.int64) for side in (first, second))
                clusters, weighting = trials.cluster.codes[basis.usable], _weighting(ordered)
                test = kappa_test(verdicts, gold, clusters, weighting=weighting, seed=builder.seed(cell))
                if test.p is not None:
                    yield builder.p_value("gold-kappa-p", basis, test.p, note=_CHANCE)


def _weighting(ordered: bool) -> Weighting:
    return "quadratic" if ordered else "none"


def _allow_for_missing(kappa: Measure, builder: MeasureBuilder, levels: Levels, rows: Codes, ordered: bool) -> Measure:
    """Allow for missing verdicts: the farther end of a scale, or the commonest wrong label, takes most from kappa."""
    trials = builder.trials
    if ordered:
        gold, top = levels.right[rows].astype(np.int64), levels.top[rows].astype(np.int64)
        verdicts = np.where(levels.has_verdict[rows], levels.verdict[rows], -1).astype(np.int64)
        farthest = np.where(gold * 2 > top, 0, top)
    else:
        gold, verdicts = trials.gold[rows], np.where(trials.usable[rows], trials.label[rows], -1)
        first, second = np.argsort(-np.bincount(gold, minlength=2), kind="stable")[:2]
        farthest = np.where(gold == first, second, first)

    def coefficient(filled: Codes) -> Estimate:
        clusters, level = trials.cluster.codes[rows], builder.context.level
        return clustered_kappa(filled, gold, clusters, weighting=_weighting(ordered), level=level)

    return widen_coefficient(kappa, coefficient, verdicts, right=gold, farthest=farthest)
