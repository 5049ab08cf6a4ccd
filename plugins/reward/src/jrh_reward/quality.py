"""The metric `score-quality`: how well scores order what they score, and how far each test moves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, ScaleKind
from jrh_measuring import (
    Basis,
    Cell,
    Floats,
    Mask,
    MeasureBuilder,
    MetricOptions,
    cells_of,
    condition_codes,
    right_label,
)
from jrh_stats import Estimate, auc, paired_change, score_tau_b

from jrh_reward.options import AUC, SHIFT

_TAU: Final = "score-tau-b"
_TWO: Final = 2
_ONE_KIND: Final = "every right answer is the same"
_NO_SPREAD: Final = "fewer than two reference scores differ"
_NO_PAIR: Final = "no item has a score both in the test and in the reference condition"
_UNIT: Final = "standard deviations"
_EXCHANGED: Final = (
    "scores of an item dealt again to both sides, and sides exchanged by cluster (the larger p-value); "
    "null hypothesis: scores under the test are distributed as those of the reference"
)


@frozen
class ScoreQuality:
    """Measure scores rather than the labels that thresholds make of them; judges without scores get no measure.

    `auc`, of two labels or a comparison: how often a right positive scores higher than a right negative. `score-tau-b`,
    of levels: Kendall's tau-b of scores and right levels. `score-shift`: how far a test moves scores, in standard
    deviations of the judge's reference scores; a test that crosses no threshold moves no label, and yet the score.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task, judge and test whose verdicts have scores."""
        if "score" not in records.columns:
            return
        builder = MeasureBuilder.of(records, context, self.options)
        scores = builder.trials.records.number("score")
        known = builder.trials.usable & np.isfinite(scores)
        for cell in cells_of(builder.trials):
            if known[cell.rows].any() and cell.task in context.tasks:
                yield from _order(builder, cell, scores, known)
                if not builder.trials.reference[cell.rows].all():
                    yield from _shift(builder, cell, scores, known)


def _order(builder: MeasureBuilder, cell: Cell, scores: Floats, known: Mask) -> Iterator[Measure]:
    trials, scale = builder.trials, builder.context.tasks[cell.task].scale
    truth = right_label(trials)
    names = scale.options if scale.kind is ScaleKind.PAIRWISE else scale.labels
    # -2 equals no code: -1 is that of a missing label.
    places = np.array([trials.labels.index(name) if name in trials.labels else -2 for name in names])
    rows = cell.rows[np.isin(truth[cell.rows], places)]
    usable = rows[known[rows]]
    # Verdicts without a score are excluded, not missing: the judge did answer.
    basis = Basis(cell, rows[known[rows] | ~trials.usable[rows]], usable)
    clusters = trials.cluster.codes[usable]
    if scale.ordered:
        levels = np.array([scale.rank(trials.labels[code]) for code in truth[usable]], dtype=np.float64)
        association = score_tau_b(scores[usable], levels, clusters, level=builder.context.level)
        yield _association(builder, _TAU, basis, association)
        return
    if len(names) > _TWO:
        return
    # The score of a comparison is that of the first option minus the second.
    positive = names[0] if scale.kind is ScaleKind.PAIRWISE else scale.positive_label
    right = np.array([trials.labels[code] == positive for code in truth[usable]], dtype=np.bool_)
    association = auc(scores[usable], right, clusters, level=builder.context.level)
    yield _association(builder, AUC, basis, association)


def _association(builder: MeasureBuilder, name: str, basis: Basis, found: Estimate) -> Measure:
    note = "" if found.value is not None else builder.why_none(basis, "no right answer is known") or _ONE_KIND
    return builder.measure(name, basis, found, note=note, unit="proportion" if name == AUC else "coefficient")


def _shift(builder: MeasureBuilder, cell: Cell, scores: Floats, known: Mask) -> Iterator[Measure]:
    trials = builder.trials
    baseline = trials.reference & (trials.task.codes == trials.task.codes[cell.rows[0]])
    baseline &= trials.judge.codes == trials.judge.codes[cell.rows[0]]
    scored = np.flatnonzero(baseline & known)
    sums = np.bincount(trials.item.codes[scored], scores[scored], minlength=len(trials.item.names))
    counts = np.bincount(trials.item.codes[scored], minlength=len(trials.item.names))
    beside = counts > 0
    means = sums[beside] / counts[beside]
    # The unit is the spread between items; that of the repeats of one item would be near zero for a stable judge.
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    rows = cell.rows[~trials.reference[cell.rows] & (known[cell.rows] | ~trials.usable[cell.rows])]
    usable = rows[known[rows] & beside[trials.item.codes[rows]]]
    basis = Basis(cell, rows, usable)
    if not len(usable) or not spread > 0:
        note = builder.why_none(basis, _NO_PAIR) if not len(usable) else _NO_SPREAD
        none = Basis(cell, rows, usable[:0])
        yield builder.measure(SHIFT, none, Estimate(value=None), unit=_UNIT, note=note)
        yield builder.p_value(f"{SHIFT}-p", none, 1.0, note=note)
        return
    compared = np.isin(trials.item.codes, trials.item.codes[usable])
    # Score by score, missing ones too: how much a score varies when nothing changes is seen only among reruns.
    answers = np.concatenate([np.flatnonzero(baseline & compared), rows])
    answers = answers[np.lexsort((trials.repeat[answers], condition_codes(trials)[answers]))]
    # Rounded: differences of equal scores must be exactly 0 for the test.
    values = np.where(known[answers], scores[answers] / spread, np.nan).round(12)
    change = paired_change(
        values,
        ~trials.reference[answers],
        trials.item.codes[answers],
        trials.cluster.codes[answers],
        span=float(np.nanmax(values) - np.nanmin(values)) or 1.0,
        level=builder.context.level,
        resamples=builder.context.resamples,
        seed=builder.seed(cell),
    )
    yield builder.measure(SHIFT, basis, change.estimate, unit=_UNIT, unscored="no_reference")
    yield builder.p_value(f"{SHIFT}-p", basis, change.test.p, note=_EXCHANGED)
