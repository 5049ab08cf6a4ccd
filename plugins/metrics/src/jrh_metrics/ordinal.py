"""Compare verdicts on an ordinal scale with the right level: errors, association, use of the scale, confusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Final, Literal

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.measuring import (
    DEGENERATE,
    Cell,
    Codes,
    Levels,
    MeasureBuilder,
    Scores,
    Trials,
    cells_of,
    is_untestable,
    sensitive,
    stated_label,
    within_bounds,
)
from jrh_stats import (
    Association,
    Estimate,
    association_bounds,
    clustered_kappa,
    concordance,
    kendall_tau_b,
    pearson,
    scale_compression,
    spearman,
)

from jrh_metrics.options import ConfusionOptions, FullOptions

_NOTHING: Final = "no trial has a known right level"
_DEGENERATE: Final = "not estimable from identical values: the verdicts, or the right levels, are all the same"
_ABSOLUTE: Final = "mean-absolute-error"
_SQUARED: Final = "root-mean-squared-error"
_BIAS: Final = "bias"
_QUADRATIC: Final = "gold-kappa-quadratic"
_COMPRESSION: Final = "scale-compression"
_SHOWN: Final = frozenset({_ABSOLUTE, _BIAS, "concordance", "pearson", "spearman", _COMPRESSION, _QUADRATIC})
"""The measures computed without the option `all`."""


def _is_ordinal(cell: Cell, context: MetricContext) -> bool:
    return cell.task in context.tasks and context.tasks[cell.task].scale.ordered


@frozen
class OrdinalErrors:
    """Measure how far verdicts are from the right level, in levels: mean absolute error and bias.

    With `all` also the root mean squared error, and exact and adjacent accuracy.
    """

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per ordinal task, judge and test, and per factor of `by`; bias also by gold."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = Levels.of(builder.trials)
        scores = {name: each for name, each in levels.errors().items() if self.options.all or name in _SHOWN}
        for cell in cells_of(builder.trials, self.options.by):
            if _is_ordinal(cell, context):
                yield from _errors(builder, cell, scores, float(levels.top[cell.rows[0]]))


def _errors(builder: MeasureBuilder, cell: Cell, scores: Mapping[str, Scores], top: float) -> Iterator[Measure]:
    limits = {_ABSOLUTE: (0.0, top), _SQUARED: (0.0, top**2), _BIAS: (-top, top)}
    for name, each in scores.items():
        if "gold" in cell.levels and name != _BIAS:
            continue
        if name in limits:
            transform = _root if name == _SQUARED else float
            yield builder.mean(
                name,
                cell,
                each,
                limits=limits[name],
                nothing=_NOTHING,
                unit="difference in levels" if name == _BIAS else "levels",
                transform=transform,
                sizes=scores[_ABSOLUTE] if name == _BIAS else None,
                heavy_tailed=name == _SQUARED,
            )
        else:
            yield builder.rate(name, cell, each, nothing=_NOTHING)


def _root(number: float) -> float:
    return float(np.sqrt(max(number, 0.0)))


_ASSOCIATION: Final[dict[Association | Literal["gold-kappa-quadratic"], Callable[..., Estimate]]] = {
    "concordance": concordance,
    "pearson": pearson,
    "spearman": spearman,
    "kendall-tau-b": kendall_tau_b,
    _COMPRESSION: scale_compression,
    _QUADRATIC: partial(clustered_kappa, weighting="quadratic"),
}


@frozen
class OrdinalAssociation:
    """Measure how well verdicts follow the right levels: CCC, Pearson, Spearman, quadratic kappa, scale compression.

    With `all` also Kendall's tau-b.
    """

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per ordinal task, judge and test, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = Levels.of(builder.trials)
        for cell in cells_of(builder.trials, self.options.by):
            if _is_ordinal(cell, context):
                yield from self._measured(builder, cell, levels)

    def _measured(self, builder: MeasureBuilder, cell: Cell, levels: Levels) -> Iterator[Measure]:
        rows = cell.rows[levels.eligible[cell.rows]]
        usable = levels.usable(cell.rows)
        clusters = builder.trials.cluster.codes[usable]
        for name, estimator in _ASSOCIATION.items():
            if not self.options.all and name not in _SHOWN:
                continue
            estimate = estimator(levels.given[usable], levels.right[usable], clusters, level=builder.context.level)
            note = _DEGENERATE if DEGENERATE in estimate.flags else builder.why_none(rows, usable, _NOTHING)
            unit = "ratio" if name == _COMPRESSION else "coefficient"
            measure = builder.measure(name, cell, estimate, rows=rows, usable=usable, note=note, unit=unit)
            if len(usable) < len(rows):
                bounds = association_bounds(
                    # CCC equals quadratic kappa.
                    "concordance" if name == _QUADRATIC else name,
                    np.where(np.isin(rows, usable), levels.given[rows], np.nan),
                    levels.right[rows],
                    builder.trials.cluster.codes[rows],
                    np.arange(int(levels.top[rows[0]]) + 1),
                    level=builder.context.level,
                )
                limits = (0.0, 2.0) if name == _COMPRESSION else (-1.0, 1.0)
                untestable = is_untestable(builder.trials, rows)
                measure = sensitive(within_bounds(measure, bounds, untestable=untestable, limits=limits), limits)
            yield measure


@frozen
class Confusion:
    """Measure the confusion matrix: one rate per right label and verdict.

    The rates of one right label sum to 1. Ordinal scales only; with `all`, every kind of scale.
    """

    options: ConfusionOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `confusion` per task, judge, test, right label and verdict, in the scale's order."""
        builder = MeasureBuilder.of(records, context, self.options)
        prepared: dict[str, list[tuple[str, str, Scores]]] = {}
        for cell in cells_of(builder.trials):
            if cell.task not in context.tasks or not (self.options.all or _is_ordinal(cell, context)):
                continue
            if cell.task not in prepared:
                scale = context.tasks[cell.task].scale
                prepared[cell.task] = list(_confusion_scores(builder.trials, scale.labels))
            yield from _confusion(builder, cell, prepared[cell.task])


def _confusion_scores(trials: Trials, scale: tuple[str, ...]) -> Iterator[tuple[str, str, Scores]]:
    """Yield right label, verdict and scores; the arrays are shared between the right labels."""
    truth = stated_label(trials)
    code = {label: trials.labels.index(label) if label in trials.labels else len(trials.labels) for label in scale}
    said = {verdict: Scores.of(trials, trials.label == code[verdict], trials.usable) for verdict in scale}
    for right in scale:
        eligible = truth == code[right]
        for verdict in scale:
            yield right, verdict, evolve(said[verdict], eligible=eligible)


def _confusion(builder: MeasureBuilder, cell: Cell, prepared: list[tuple[str, str, Scores]]) -> Iterator[Measure]:
    for right, of_right in groupby(prepared, key=lambda found: found[0]):
        rows: Codes | None = None
        for _, verdict, scores in of_right:
            if rows is None:
                rows = cell.rows[scores.eligible[cell.rows]]
            if len(rows):
                part = cell.part({"right": right, "verdict": verdict}, rows)
                yield builder.rate("confusion", part, scores, nothing=_NOTHING)
