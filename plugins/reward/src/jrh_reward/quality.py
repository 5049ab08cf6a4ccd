"""The metric `score-quality`: how well scores order what they score, and how far each test moves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, ScaleKind
from jrh_measuring import FINDING, Cell, Codes, MeasureBuilder, MetricOptions, cells_of, stated_label
from jrh_stats import Estimate, auc, cluster_sums, clustered_mean, holm, score_tau_b, sign_flip_test
from numpy.typing import NDArray

_AUC: Final = "auc"
_TAU: Final = "score-tau-b"
_SHIFT: Final = "score-shift"
_EVEN: Final = 0.5
_TWO: Final = 2
_NEGLIGIBLE: Final = 0.1
"""Shifts below a tenth of a standard deviation are not called a defect, however significant they are."""
_ONE_KIND: Final = "every right answer is the same"
_NO_SPREAD: Final = "fewer than two reference scores differ"
_NO_PAIR: Final = "no item has a score both in the test and in the reference condition"
_UNIT: Final = "standard deviations"


@frozen(kw_only=True, eq=False)
class _Shifted:
    """The shift that one test causes, and its p-value."""

    shift: Measure
    p: float
    cell: Cell
    rows: Codes
    usable: Codes


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
        shifted: list[_Shifted] = []
        for cell in cells_of(builder.trials):
            if known[cell.rows].any() and cell.task in context.tasks:
                yield from _order(builder, cell, scores, known)
                if not builder.trials.reference[cell.rows].all():
                    found = _shift(builder, cell, scores, known)
                    shifted.append(found)
                    yield found.shift
                    yield _p_value(builder, found)
        yield from _moved(builder, shifted)


def _order(
    builder: MeasureBuilder, cell: Cell, scores: NDArray[np.float64], known: NDArray[np.bool_]
) -> Iterator[Measure]:
    trials, scale = builder.trials, builder.context.tasks[cell.task].scale
    truth = stated_label(trials)
    names = scale.options if scale.kind is ScaleKind.PAIRWISE else scale.labels
    places = np.array([trials.labels.index(name) if name in trials.labels else -2 for name in names])
    rows = cell.rows[np.isin(truth[cell.rows], places)]
    usable = rows[known[rows]]
    # Verdicts without a score are excluded, not missing: the judge did answer.
    rows = rows[known[rows] | ~trials.usable[rows]]
    clusters = trials.cluster.codes[usable]
    if scale.ordered:
        levels = np.array([scale.rank(trials.labels[code]) for code in truth[usable]], dtype=np.float64)
        found = score_tau_b(scores[usable], levels, clusters, level=builder.context.level)
        yield _association(builder, _TAU, cell, found, rows, usable)
        return
    if len(names) > _TWO:
        return
    positive = names[0] if scale.kind is ScaleKind.PAIRWISE else scale.positive_label
    right = np.array([trials.labels[code] == positive for code in truth[usable]], dtype=np.bool_)
    found = auc(scores[usable], right, clusters, level=builder.context.level)
    measured = _association(builder, _AUC, cell, found, rows, usable)
    yield measured
    if trials.reference[cell.rows].all() and measured.interval is not None:
        yield _told(builder, measured, cell, rows, usable)


def _association(
    builder: MeasureBuilder, name: str, cell: Cell, found: Estimate, rows: Codes, usable: Codes
) -> Measure:
    note = "" if found.value is not None else builder.why_none(rows, usable, "no right answer is known") or _ONE_KIND
    unit = "proportion" if name == _AUC else "coefficient"
    return builder.measure(name, cell, found, rows=rows, usable=usable, note=note, unit=unit)


def _told(builder: MeasureBuilder, measured: Measure, cell: Cell, rows: Codes, usable: Codes) -> Measure:
    interval = measured.interval
    assert interval is not None
    ends = f"area under the curve {measured.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
    if interval.low > _EVEN:
        kind, severity, note = "scores-order", "good", f"Scores tell right from wrong: {ends}."
    elif interval.high < _EVEN:
        kind, severity, note = "scores-inverted", "bad", f"Right answers score lower than wrong ones: {ends}."
    else:
        kind, severity = "scores-undecided", "inconclusive"
        note = f"Scores are not shown to tell right from wrong: {ends}, 0.5 is chance."
    return _finding(builder, _AUC, cell, kind, severity, note, measured, rows, usable)


def _shift(builder: MeasureBuilder, cell: Cell, scores: NDArray[np.float64], known: NDArray[np.bool_]) -> _Shifted:
    trials = builder.trials
    own = trials.reference & known
    own &= (trials.task.codes == trials.task.codes[cell.rows[0]]) & (
        trials.judge.codes == trials.judge.codes[cell.rows[0]]
    )
    sums = np.bincount(trials.item.codes[own], scores[own], minlength=len(trials.item.names))
    counts = np.bincount(trials.item.codes[own], minlength=len(trials.item.names))
    beside = counts > 0
    means = sums[beside] / counts[beside]
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    rows = cell.rows[~trials.reference[cell.rows] & (known[cell.rows] | ~trials.usable[cell.rows])]
    usable = rows[known[rows] & beside[trials.item.codes[rows]]]
    if not len(usable) or not spread > 0:
        note = builder.why_none(rows, usable, _NO_PAIR) if not len(usable) else _NO_SPREAD
        none = usable[:0]
        empty = builder.measure(_SHIFT, cell, Estimate(value=None), rows=rows, usable=none, unit=_UNIT, note=note)
        return _Shifted(shift=empty, p=1.0, cell=cell, rows=rows, usable=none)
    items = trials.item.codes[usable]
    moves = (scores[usable] - sums[items] / counts[items]) / spread
    totals = cluster_sums(trials.cluster.codes[usable], moves.round(12), np.ones(len(usable)))
    found = clustered_mean(totals[:, 0], totals[:, 1], level=builder.context.level)
    test = sign_flip_test(totals[:, 0].round(9), resamples=builder.context.resamples, seed=builder.seed(cell))
    shift = builder.measure(_SHIFT, cell, found, rows=rows, usable=usable, unit=_UNIT, unscored="no_reference")
    return _Shifted(shift=shift, p=1.0 if test.p is None else test.p, cell=cell, rows=rows, usable=usable)


def _p_value(builder: MeasureBuilder, found: _Shifted) -> Measure:
    note = "sign flips by cluster; null hypothesis: scores under the test are centred on those of the reference"
    known = found.shift.estimate is not None
    return builder.p_value(
        f"{_SHIFT}-p",
        found.cell,
        found.p,
        rows=found.rows,
        usable=found.usable,
        note=note if known else found.shift.note,
    )


def _moved(builder: MeasureBuilder, shifted: list[_Shifted]) -> Iterator[Measure]:
    """Yield a finding for every test that is shown to move scores: all tests of the report are one family (Holm)."""
    for found, p in zip(shifted, holm([each.p for each in shifted]).tolist() if shifted else (), strict=True):
        estimate, interval = found.shift.estimate, found.shift.interval
        if estimate is None or interval is None or p >= 1 - builder.context.level or abs(estimate) < _NEGLIGIBLE:
            continue
        note = (
            f"Scores {'rise' if estimate > 0 else 'fall'} under '{found.cell.test}' by {abs(estimate):.2f} standard "
            f"deviations on average ({estimate:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}])."
        )
        yield _finding(
            builder, _SHIFT, found.cell, "scores-shift", "warning", note, found.shift, found.rows, found.usable
        )


def _finding(
    builder: MeasureBuilder,
    name: str,
    cell: Cell,
    kind: str,
    severity: str,
    note: str,
    measured: Measure,
    rows: Codes,
    usable: Codes,
) -> Measure:
    return builder.measure(
        f"{name}-finding",
        cell.part({"finding": kind, "severity": severity}),
        Estimate(value=measured.estimate),
        rows=rows,
        usable=usable,
        unit=measured.unit,
        flags=(FINDING,),
        note=note,
    )
