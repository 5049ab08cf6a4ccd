"""Metric `people-ceiling`: agreement of a judge with people, and agreement of people with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Item, Measure, MetricContext, RecordTable, Scale
from jrh_measuring import DEGENERATE, Basis, Cell, Codes, MeasureBuilder, cells_of, widen
from jrh_stats import Ceiling, Estimate, human_ceiling

from jrh_metrics.options import CeilingOptions

_ONE_LABEL: Final = "not estimable from identical values: all labels of a side are the same"


@frozen
class PeopleCeiling:
    """Measure the kappa of people with each other, that of a judge with them, and the difference.

    On the items that two people or more labelled, in the reference condition (`jrh_stats.human_ceiling`); quadratic
    weights on ordinal scales. The difference compares both on the same items. Where verdicts are missing, the lower end
    of its interval is that with every missing verdict as far from people's labels as the scale allows.
    """

    options: CeilingOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `people-kappa`, `judge-people-kappa` and `people-kappa-difference` per task and judge."""
        labelled = {
            task: {item.id: item for item in items if len(item.labels) > 1} for task, items in context.items.items()
        }
        if not any(labelled.values()):
            return
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in cells_of(builder.trials):
            items = labelled.get(cell.task)
            if cell.test == REFERENCE and items and cell.task in context.tasks:
                yield from _measure_cell(builder, cell, items, self.options.margin)


def _measure_cell(builder: MeasureBuilder, cell: Cell, items: dict[str, Item], margin: float) -> Iterator[Measure]:
    trials, scale = builder.trials, builder.context.tasks[cell.task].scale
    known = np.array([name in items for name in trials.item.names])
    rows = cell.rows[known[trials.item.codes[cell.rows]]]
    if not len(rows):
        return
    places, of = np.unique(trials.item.codes[rows], return_inverse=True)
    chosen = [items[trials.item.names[place]] for place in places]
    people = sorted({name for item in chosen for name in item.labels})
    # A label off the scale counts as not given.
    labels = np.array([[_rank(scale, item.labels.get(name)) for name in people] for item in chosen])
    rank = np.array([_rank(scale, label) for label in trials.labels])
    codes = np.where(trials.usable[rows], rank[trials.label[rows]], -1)
    verdicts = _by_item(of, codes, len(places))
    clusters = np.zeros(len(places), dtype=np.int64)
    clusters[of] = trials.cluster.codes[rows]
    ceiling = _ceiling(builder, scale, labels, verdicts, clusters)
    basis = Basis(cell, rows, rows[codes >= 0])
    nothing = builder.why_none(basis)
    measures = [
        ("people-kappa", ceiling.people, _share(ceiling.people_share, f"{len(people)} people"), "coefficient"),
        ("judge-people-kappa", ceiling.judge, _share(ceiling.judge_share, "judge and person"), "coefficient"),
        ("people-kappa-difference", ceiling.difference, "", "difference"),
    ]
    for name, estimate, note, unit in measures:
        said_of = _ONE_LABEL if DEGENERATE in estimate.flags else nothing or note
        own_margin = margin if unit == "difference" else None
        measure = builder.measure(name, basis, estimate, note=said_of, unit=unit, margin=own_margin)
        # Verdicts lost on hard items flatter a judge: the lower end allows for the worst of them.
        if unit == "difference" and np.any(codes < 0):
            worst = _ceiling(builder, scale, labels, _worst(of, labels, verdicts, scale), clusters)
            measure = _allow_for_missing(measure, worst.difference)
        yield measure


def _ceiling(builder: MeasureBuilder, scale: Scale, labels: Codes, verdicts: Codes, clusters: Codes) -> Ceiling:
    # On an ordinal scale a disagreement by one level counts less than one by several.
    weighting = "quadratic" if scale.ordered else "none"
    codes = np.unique(clusters, return_inverse=True)[1]
    return human_ceiling(labels, verdicts, codes, weighting=weighting, level=builder.context.level)  # type: ignore[arg-type]


def _rank(scale: Scale, label: str | None) -> int:
    return scale.rank(label) if label is not None and label in scale else -1


def _by_item(of: Codes, said: Codes, items: int) -> Codes:
    """Put the verdicts of every item side by side, shape (items, askings); -1 where one is missing."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], np.arange(items))
    place = np.arange(len(of)) - start[of[order]]
    table = np.full((items, int(place.max()) + 1), -1, dtype=np.int64)
    table[of[order], place] = said[order]
    return table


def _worst(of: Codes, labels: Codes, verdicts: Codes, scale: Scale) -> Codes:
    """Fill missing verdicts in with what agrees least: on an ordinal scale its farther end, else a label of no one."""
    there = np.arange(verdicts.shape[1]) < np.bincount(of, minlength=len(labels))[:, None]
    if not scale.ordered:
        return np.where(there & (verdicts < 0), len(scale.labels), verdicts)
    labelled = labels >= 0
    mean = np.where(labelled, labels, 0).sum(axis=1) / np.maximum(labelled.sum(axis=1), 1)
    # The end of the scale that is farther from the mean label.
    far = np.where(mean * 2 > len(scale.labels) - 1, 0, len(scale.labels) - 1)
    return np.where(there & (verdicts < 0), far[:, None], verdicts)


def _allow_for_missing(measure: Measure, worst: Estimate) -> Measure:
    """Let the interval reach down to that of the worst missing verdicts."""
    if measure.interval is None or worst.low is None or worst.value is None or measure.estimate is None:
        return measure
    bounded = evolve(measure, bounds=(min(worst.value, measure.estimate), measure.estimate))
    return widen(bounded, min(measure.interval.low, worst.low), measure.interval.high)


def _share(share: float | None, who: str) -> str:
    return "" if share is None else f"{who}; share of equal labels {share:.2f}"
