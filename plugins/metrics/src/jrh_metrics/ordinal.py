"""Verdicts on an ordinal scale against the right level: errors, association, use of the scale, confusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_stats import Estimate, clustered_kappa, concordance, kendall_tau_b, pearson, scale_compression, spearman
from numpy.typing import NDArray

from jrh_metrics.cells import Cell, cells_of
from jrh_metrics.measuring import MeasureBuilder, Scores
from jrh_metrics.options import MetricOptions
from jrh_metrics.trials import Codes, Mask, Trials
from jrh_metrics.truth import stated_label

_NOTHING: Final = "no trial has a right level to compare with"
_DEGENERATE: Final = "not defined: a side has one level only"
_PART_OF_TEST: Final = ("variant", "stratum")


@frozen(kw_only=True, eq=False)
class _Levels:
    """The trials as levels, counted from 0; arrays of shape (n,)."""

    given: NDArray[np.float64]
    """Level of the verdict; NaN where it is missing."""
    right: NDArray[np.float64]
    top: NDArray[np.float64]
    """Highest level of the task's scale."""
    eligible: Mask
    """The trials of ordinal tasks with a right level."""

    @classmethod
    def of(cls, trials: Trials, context: MetricContext) -> _Levels:
        truth = stated_label(trials)
        # One more column, of -1, is what the code -1 of a missing label reads.
        rank = np.hstack([trials.rank, np.full((len(trials.rank), 1), -1, dtype=np.int64)])
        given, right = (rank[trials.task.codes, code] for code in (trials.label, truth))
        tops = [len(context.tasks[name].scale.labels) - 1 if name in context.tasks else 0 for name in trials.task.names]
        return cls(
            given=np.where(given >= 0, given, np.nan),
            right=right.astype(np.float64),
            top=np.array(tops, dtype=np.float64)[trials.task.codes],
            eligible=right >= 0,
        )

    def usable(self, rows: Codes) -> Codes:
        """Return those of the rows that have both levels."""
        return rows[self.eligible[rows] & ~np.isnan(self.given[rows])]


def _is_ordinal(cell: Cell, context: MetricContext) -> bool:
    return cell.task in context.tasks and context.tasks[cell.task].scale.ordered


@frozen
class OrdinalErrors:
    """How far verdicts are from the right level: MAE, RMSE, bias, exact and adjacent accuracy; in levels."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the five measures per ordinal task, judge and test, variant and stratum; bias also per gold level."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = _Levels.of(builder.trials, context)
        scores = _error_scores(levels)
        for cell in cells_of(builder.trials, (*_PART_OF_TEST, "gold")):
            if _is_ordinal(cell, context):
                yield from _errors(builder, cell, scores, float(levels.top[cell.rows[0]]))


def _error_scores(levels: _Levels) -> dict[str, Scores]:
    error = levels.given - levels.right
    size, top = np.abs(error), levels.top
    missing = np.isnan(error)
    answered = ~missing

    def scores(value: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> Scores:
        value = np.where(missing, np.nan, value)
        return Scores(
            eligible=levels.eligible,
            value=value,
            low=np.where(missing, low, value),
            high=np.where(missing, high, value),
            answered=answered,
        )

    none, all_ = np.zeros(len(error)), np.ones(len(error))
    return {
        "mean-absolute-error": scores(size, none, top),
        "root-mean-squared-error": scores(np.square(error), none, np.square(top)),
        "bias": scores(error, -top, top),
        "exact-accuracy": scores((size == 0).astype(np.float64), none, all_),
        "adjacent-accuracy": scores((size <= 1).astype(np.float64), none, all_),
    }


def _errors(builder: MeasureBuilder, cell: Cell, scores: dict[str, Scores], top: float) -> Iterator[Measure]:
    limits = {"mean-absolute-error": (0.0, top), "root-mean-squared-error": (0.0, top**2), "bias": (-top, top)}
    for name, each in scores.items():
        if "gold" in cell.levels and name != "bias":
            continue
        if name in limits:
            root = name == "root-mean-squared-error"
            yield builder.mean(
                name,
                cell,
                each,
                limits=limits[name],
                nothing=_NOTHING,
                unit="levels",
                transform=_root if root else float,
            )
        else:
            yield builder.rate(name, cell, each, nothing=_NOTHING)


def _root(number: float) -> float:
    return float(np.sqrt(max(number, 0.0)))


_ASSOCIATION: Final[dict[str, Callable[..., Estimate]]] = {
    "concordance": concordance,
    "pearson": pearson,
    "spearman": spearman,
    "kendall-tau-b": kendall_tau_b,
    "scale-compression": scale_compression,
}


@frozen
class OrdinalAssociation:
    """How well verdicts follow the right levels: CCC, Pearson, Spearman, tau-b, quadratic kappa, scale compression."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the six measures per ordinal task, judge and test, variant and stratum."""
        builder = MeasureBuilder.of(records, context, self.options)
        levels = _Levels.of(builder.trials, context)
        for cell in cells_of(builder.trials, _PART_OF_TEST):
            if _is_ordinal(cell, context):
                yield from _associations(builder, cell, levels)


def _associations(builder: MeasureBuilder, cell: Cell, levels: _Levels) -> Iterator[Measure]:
    rows = cell.rows[levels.eligible[cell.rows]]
    usable = levels.usable(cell.rows)
    items = builder.trials.item.codes[usable]
    given, right = levels.given[usable], levels.right[usable]
    level = builder.context.level
    found = {name: estimator(given, right, items, level=level) for name, estimator in _ASSOCIATION.items()}
    found["gold-kappa-quadratic"] = clustered_kappa(given, right, items, weighting="quadratic", level=level)
    for name, estimate in found.items():
        note = _DEGENERATE if "degenerate" in estimate.flags else builder.why_none(rows, usable, _NOTHING)
        yield builder.measure(
            name,
            cell,
            estimate,
            rows=rows,
            usable=usable,
            flags=builder.flags(cell, rows, usable),
            note=note,
            unit="ratio" if name == "scale-compression" else "coefficient",
        )


@frozen
class Confusion:
    """What verdicts a judge gives where each label is right: one rate per right label and verdict.

    The rates of one right label sum to 1. For every kind of scale.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `confusion` per task, judge, test, right label and verdict, in the scale's order."""
        builder = MeasureBuilder.of(records, context, self.options)
        prepared: dict[str, list[tuple[str, str, Scores]]] = {}
        for cell in cells_of(builder.trials, ()):
            if cell.task not in context.tasks:
                continue
            if cell.task not in prepared:
                scale = context.tasks[cell.task].scale
                prepared[cell.task] = list(_confusion_scores(builder.trials, scale.labels))
            yield from _confusion(builder, cell, prepared[cell.task])


def _confusion_scores(trials: Trials, scale: tuple[str, ...]) -> Iterator[tuple[str, str, Scores]]:
    """Yield right label, verdict and scores; the arrays are shared between the right labels."""
    truth = stated_label(trials)
    code = {label: trials.labels.index(label) if label in trials.labels else len(trials.labels) for label in scale}
    said = {}
    for verdict in scale:
        value = (trials.label == code[verdict]).astype(np.float64)
        said[verdict] = (np.where(trials.usable, value, np.nan), value, np.where(trials.usable, value, 1.0))
    for right in scale:
        eligible = truth == code[right]
        for verdict in scale:
            value, low, high = said[verdict]
            scores = Scores(eligible=eligible, value=value, low=low, high=high, answered=trials.usable)
            yield right, verdict, scores


def _confusion(builder: MeasureBuilder, cell: Cell, prepared: list[tuple[str, str, Scores]]) -> Iterator[Measure]:
    for right, of_right in groupby(prepared, key=lambda found: found[0]):
        rows: Codes | None = None
        for _, verdict, scores in of_right:
            if rows is None:
                rows = cell.rows[scores.eligible[cell.rows]]
            if len(rows):
                levels = {"right": right, "verdict": verdict}
                part = Cell(task=cell.task, judge=cell.judge, test=cell.test, levels=levels, rows=rows)
                yield builder.rate("confusion", part, scores, nothing=_NOTHING)
