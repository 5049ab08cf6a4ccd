"""Compare verdicts on an ordinal scale with the right level: errors, association, use of the scale, confusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    DEGENERATE,
    Basis,
    Cell,
    Levels,
    Mask,
    MeasureBuilder,
    Scores,
    cells_of,
    right_label,
)
from jrh_stats import (
    Estimate,
    pearson,
    scale_compression,
    spearman,
)

from jrh_metrics.options import ConfusionOptions, FullOptions

NO_LEVEL: Final = "no trial has a known right level"
_DEGENERATE: Final = "not estimable from identical values: the verdicts, or the right levels, are all the same"
_ABSOLUTE: Final = "mean-absolute-error"
_SQUARED: Final = "root-mean-squared-error"
_BIAS: Final = "bias"
_PEARSON: Final = "pearson"
_COMPRESSION: Final = "scale-compression"


def _is_ordinal(cell: Cell, context: MetricContext) -> bool:
    return cell.task in context.tasks and context.tasks[cell.task].scale.ordered


@frozen
class OrdinalErrors:
    """Measure how far verdicts are from the right level, in levels: mean absolute error and bias.

    With `all` also the root mean squared error and the share within one level.
    """

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per ordinal task, judge and test, and per factor of `by`; bias also by gold."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = Levels.of(builder.trials)
        error, top = levels.errors, levels.top
        scores = {_ABSOLUTE: levels.scores(np.abs(error), 0.0, top)}
        if more := self.options.all or self.options.also:
            scores[_SQUARED] = levels.scores(np.square(error), 0.0, np.square(top))
        scores[_BIAS] = levels.scores(error, -top, top)
        if more:
            scores["adjacent-accuracy"] = levels.scores((np.abs(error) <= 1).astype(np.float64), 0.0, 1.0)
        for cell in cells_of(builder.trials, self.options.by):
            if _is_ordinal(cell, context):
                yield from _errors(builder, cell, scores, float(levels.top[cell.rows[0]]))


def _errors(builder: MeasureBuilder, cell: Cell, scores: Mapping[str, Scores], top: float) -> Iterator[Measure]:
    limits = {_ABSOLUTE: (0.0, top), _SQUARED: (0.0, top**2), _BIAS: (-top, top)}
    for name, score in scores.items():
        # By gold level the direction is of interest: where on the scale a judge is too mild or too strict.
        if "gold" in cell.levels and name != _BIAS:
            continue
        if name in limits:
            # The root of the mean: its ends are the roots of those of the mean of squares.
            yield builder.mean(
                name,
                cell,
                score,
                limits=limits[name],
                nothing=NO_LEVEL,
                unit="difference in levels" if name == _BIAS else "levels",
                transform=_root if name == _SQUARED else float,
                sizes=scores[_ABSOLUTE] if name == _BIAS else None,
                heavy_tailed=name == _SQUARED,
            )
        else:
            yield builder.rate(name, cell, score, nothing=NO_LEVEL)


def _root(number: float) -> float:
    return float(np.sqrt(max(number, 0.0)))


_ASSOCIATION: Final[dict[str, Callable[..., Estimate]]] = {
    _PEARSON: pearson,
    "spearman": spearman,
    _COMPRESSION: scale_compression,
}


@frozen
class OrdinalAssociation:
    """Measure how well verdicts follow the right levels: Spearman, scale compression; with `all` also Pearson."""

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per ordinal task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = Levels.of(builder.trials)
        # Coefficients have no bounds: how far lost verdicts can sway them is read off the share of exact levels.
        exact = levels.scores((levels.errors == 0).astype(np.float64), 0.0, 1.0)
        for cell in cells_of(builder.trials, self.options.by):
            if _is_ordinal(cell, context):
                yield from builder.flag_missing(self._measure_cell(builder, cell, levels), cell, exact)

    def _measure_cell(self, builder: MeasureBuilder, cell: Cell, levels: Levels) -> Iterator[Measure]:
        rows, usable = cell.rows[levels.eligible[cell.rows]], levels.usable(cell.rows)
        basis = Basis(cell, rows, usable)
        clusters = builder.trials.cluster.codes[usable]
        for name, estimator in _ASSOCIATION.items():
            # Its jackknife costs time that a report without it need not spend.
            if name == _PEARSON and not (self.options.all or self.options.also):
                continue
            estimate = estimator(levels.verdict[usable], levels.right[usable], clusters, level=builder.context.level)
            note = _DEGENERATE if DEGENERATE in estimate.flags else builder.why_none(basis, NO_LEVEL)
            unit = "ratio" if name == _COMPRESSION else "coefficient"
            yield builder.measure(name, basis, estimate, note=note, unit=unit)


@frozen
class Confusion:
    """Measure the confusion matrix: one rate per right label and verdict.

    The rates of one right label sum to 1. Ordinal scales only; with `all`, every kind of scale.
    """

    options: ConfusionOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `confusion` per task, judge, test, right label and verdict, in the scale's order."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials, truth = builder.trials, right_label(builder.trials)
        # Made once: every cell of the matrix needs the mask of its right label.
        eligible = [truth == code for code in range(len(trials.labels))]
        for cell in cells_of(trials):
            if cell.task in context.tasks and (self.options.all or _is_ordinal(cell, context)):
                yield from _confusion(builder, cell, context.tasks[cell.task].scale.labels, eligible)


def _confusion(
    builder: MeasureBuilder, cell: Cell, scale: tuple[str, ...], eligible: Sequence[Mask]
) -> Iterator[Measure]:
    trials = builder.trials
    place = {label: code for code, label in enumerate(trials.labels)}
    rows = {right: cell.rows[eligible[place[right]][cell.rows]] for right in scale if right in place}
    by_right: dict[str, list[Measure]] = {right: [] for right, members in rows.items() if len(members)}
    for verdict in scale:  # a score for each trial: those of one verdict at a time
        says = trials.label == place.get(verdict, len(place))
        verdict_scores = Scores.of(trials, says, trials.usable, rows=cell.rows)
        for right, measures in by_right.items():
            part = cell.part({"right": right, "verdict": verdict}, rows[right])
            scores = evolve(verdict_scores, eligible=eligible[place[right]])
            measures.append(builder.rate("confusion", part, scores, nothing=NO_LEVEL))
    for measures in by_right.values():
        yield from measures
