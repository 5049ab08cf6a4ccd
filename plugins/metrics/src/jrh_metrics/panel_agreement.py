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
from jrh_stats import AlphaMetric, Estimate, IccForm, gwet_ac1, icc, krippendorff_alpha
from numpy.typing import NDArray

_TWO: Final = 2
_ONE_LABEL: Final = "not estimable from identical values: all verdicts have the same label"


@frozen(kw_only=True, eq=False)
class _Ratings:
    """The questions of a cell that two or more judges answered."""

    counts: NDArray[np.int64]
    """Verdicts by label of the scale, shape (questions, labels)."""
    clusters: Codes
    """Cluster of each question."""
    usable: Codes
    """Rows of the counted verdicts."""
    complete: tuple[Floats, Codes] | None
    """Levels of the questions that every judge answered, averaged by item, shape (items, judges), and the cluster of
    every item; None where there are fewer than two."""


@frozen
class JudgeAgreement:
    """Measure how well judges agree with each other about the same questions.

    A question is a case and a repeat; every judge's verdict on it is one rating. Krippendorff's alpha (ordinal on
    ordinal scales, nominal otherwise) and Gwet's AC1; on ordinal scales also ICC(2,1) and ICC(2,k) over the items that
    every judge answered, of the mean level per item.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per task and test with two judges or more; `judge` is empty, because all are included."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in panels_of(builder.trials):
            judges = len(np.unique(builder.trials.judge.codes[cell.rows]))
            if cell.task in context.tasks and judges >= _TWO:
                yield from _measured(builder, cell)


def _measured(builder: MeasureBuilder, cell: Cell) -> Iterator[Measure]:
    trials, level = builder.trials, builder.context.level
    scale = builder.context.tasks[cell.task].scale
    ratings = _ratings(trials, cell.rows, scale.labels)
    counts, clusters = ratings.counts, ratings.clusters
    metric: AlphaMetric = "ordinal" if scale.ordered else "nominal"
    found = {
        "krippendorff-alpha": krippendorff_alpha(counts, clusters=clusters, metric=metric, level=level),
        "gwet-ac1": gwet_ac1(counts, clusters, level=level),
    }
    if scale.ordered:
        forms: dict[str, IccForm] = {"icc-2-1": "2,1", "icc-2-k": "2,k"}
        none = Estimate(value=None, flags=("empty",))
        for name, form in forms.items():
            whole = ratings.complete
            found[name] = none if whole is None else icc(whole[0], form, whole[1], level=level)
    basis = Basis(cell, cell.rows, ratings.usable)
    for name, estimate in found.items():
        yield builder.measure(name, basis, estimate, note=_why(estimate), unit="coefficient")


def _why(estimate: Estimate) -> str:
    if DEGENERATE in estimate.flags:
        return _ONE_LABEL
    return "" if estimate.value is not None else "too few questions have verdicts from two judges"


def _ratings(trials: Trials, rows: Codes, labels: tuple[str, ...]) -> _Ratings:
    answered = rows[trials.usable[rows]]
    names, first, of = np.unique(questions(trials)[answered], return_index=True, return_inverse=True)
    position = np.array([labels.index(label) if label in labels else -1 for label in trials.labels], dtype=np.int64)
    code = position[trials.label[answered]]
    flat = np.bincount(of * len(labels) + code, minlength=len(names) * len(labels))
    counts = flat.reshape(len(names), len(labels))
    several = counts.sum(axis=1) >= _TWO
    return _Ratings(
        counts=counts[several],
        clusters=trials.cluster.codes[answered[first]][several],
        usable=answered[several[of]],
        complete=_complete(trials, rows, answered, code),
    )


def _complete(trials: Trials, rows: Codes, answered: Codes, level: Codes) -> tuple[Floats, Codes] | None:
    """Return the mean level per item and judge of the items with a verdict of every judge, and the items' clusters."""
    judges = np.unique(trials.judge.codes[rows])
    items, of = np.unique(trials.item.codes[answered], return_inverse=True)
    if len(judges) < _TWO or len(items) < _TWO:
        return None
    cell = of * len(judges) + np.searchsorted(judges, trials.judge.codes[answered])
    size = len(items) * len(judges)
    number = np.bincount(cell, minlength=size).reshape(len(items), len(judges))
    total = np.bincount(cell, weights=level, minlength=size).reshape(len(items), len(judges))
    full = (number > 0).all(axis=1)
    if full.sum() < _TWO:
        return None
    # All trials of an item have its cluster.
    clusters = np.zeros(len(items), dtype=np.int64)
    clusters[of] = trials.cluster.codes[answered]
    return total[full] / number[full], clusters[full]
