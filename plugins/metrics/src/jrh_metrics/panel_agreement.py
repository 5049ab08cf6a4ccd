"""Metric `judge-agreement`: chance-corrected agreement between the judges of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    DEGENERATE,
    Basis,
    Cell,
    Codes,
    Floats,
    MeasureBuilder,
    MetricOptions,
    Trials,
    panels_of,
    questions,
)
from jrh_stats import AlphaMetric, Estimate, icc, krippendorff_alpha

_ONE_LABEL: Final = "not estimable from identical values: all verdicts have the same label"


@frozen
class JudgeAgreement:
    """Measure how well judges agree with each other about the same questions.

    A question is a case and a repeat; every judge's verdict on it is one rating. Krippendorff's alpha, ordinal on
    ordinal scales and nominal otherwise; on ordinal scales also ICC(2,1) over the items that every judge answered, of
    the mean level per item.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per task and test with two judges or more; `judge` is empty, because all are included."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in panels_of(builder.trials):
            judges = len(np.unique(builder.trials.judge.codes[cell.rows]))
            if cell.task in context.tasks and judges > 1:
                yield from _measure_cell(builder, cell)


def _measure_cell(builder: MeasureBuilder, cell: Cell) -> Iterator[Measure]:
    trials, level = builder.trials, builder.context.level
    scale = builder.context.tasks[cell.task].scale
    answered = cell.rows[trials.usable[cell.rows]]
    position = np.array([scale.rank(label) if label in scale else -1 for label in trials.labels], dtype=np.int64)
    code = position[trials.label[answered]]
    names, first, of = np.unique(questions(trials)[answered], return_index=True, return_inverse=True)
    size = len(scale.labels)
    counts = np.bincount(of * size + code, minlength=len(names) * size).reshape(len(names), size)
    # A question that one judge answered says nothing about agreement.
    several = counts.sum(axis=1) > 1
    counts, clusters = counts[several], trials.cluster.codes[answered[first]][several]
    # On an ordinal scale neighbouring levels are nearly an agreement.
    metric: AlphaMetric = "ordinal" if scale.ordered else "nominal"
    estimates = {
        "krippendorff-alpha": krippendorff_alpha(counts, clusters=clusters, metric=metric, level=level),
    }
    if scale.ordered:
        none = Estimate(value=None, flags=("empty",))
        # ICC takes a full table: items that some judge did not answer are left out.
        complete = _complete(trials, cell.rows, answered, code)
        estimates["icc-2-1"] = none if complete is None else icc(complete[0], "2,1", complete[1], level=level)
    basis = Basis(cell, cell.rows, answered[several[of]])
    for name, estimate in estimates.items():
        yield builder.measure(name, basis, estimate, note=_why(estimate), unit="coefficient")


def _why(estimate: Estimate) -> str:
    if DEGENERATE in estimate.flags:
        return _ONE_LABEL
    return "" if estimate.value is not None else "too few questions have verdicts from two judges"


def _complete(trials: Trials, rows: Codes, answered: Codes, level: Codes) -> tuple[Floats, Codes] | None:
    """Return the mean level per item and judge of the items with a verdict of every judge, and the items' clusters.

    None where there are fewer than two such items.
    """
    judges = np.unique(trials.judge.codes[rows])
    items, of = np.unique(trials.item.codes[answered], return_inverse=True)
    if len(judges) <= 1 or len(items) <= 1:
        return None
    cell = of * len(judges) + np.searchsorted(judges, trials.judge.codes[answered])
    size = len(items) * len(judges)
    number = np.bincount(cell, minlength=size).reshape(len(items), len(judges))
    total = np.bincount(cell, weights=level, minlength=size).reshape(len(items), len(judges))
    full = (number > 0).all(axis=1)
    # The variance between items takes two of them.
    if full.sum() <= 1:
        return None
    # All trials of an item have its cluster.
    clusters = np.zeros(len(items), dtype=np.int64)
    clusters[of] = trials.cluster.codes[answered]
    return total[full] / number[full], clusters[full]
