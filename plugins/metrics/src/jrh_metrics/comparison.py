"""Metric `judge-comparison`: difference in accuracy of two judges on the same questions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    Cell,
    Codes,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Tested,
    as_expected,
    judge_pairs,
    p_values,
    panels_of,
)
from jrh_stats import cluster_sums, exchanged_difference

_NOTHING: Final = "no question has an expected answer and a verdict from both judges"
_TEST: Final = "two-sided test, judges exchanged by cluster (mid-p; McNemar where every cluster has one question)"
_FAMILY: Final = "all pairs of judges and tests of the task"
_NAME: Final = "accuracy-difference"


@frozen
class JudgeComparison:
    """Measure the accuracy of one judge minus that of another, over the questions that both answered.

    Accuracy is defined as in the metric `as-expected`; a question is a case and a repeat.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-difference` per task, test and pair of judges (`cell`: against), and its p-values."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        scores = as_expected(trials)
        for _, panels in groupby(panels_of(trials), key=lambda panel: panel.task):
            family: list[Tested] = []
            for panel in panels:
                for cell, first, second in judge_pairs(trials, panel):
                    about = scores.eligible[first] & scores.eligible[second]
                    measured, tested = _compared(builder, cell, scores, first[about], second[about])
                    yield measured
                    family.append(tested)
            yield from p_values(builder, _NAME, family, test=_TEST, over=_FAMILY, nothing=_NOTHING)


def _compared(
    builder: MeasureBuilder, cell: Cell, scores: Scores, first: Codes, second: Codes
) -> tuple[Measure, Tested]:
    both = scores.answered[first] & scores.answered[second]
    one, other = first[both], second[both]
    clusters = builder.trials.cluster.codes[one]
    value, against = scores.value[one], scores.value[other]
    sums = cluster_sums(clusters, value - against, np.ones(len(clusters)))
    rows, usable = np.concatenate([first, second]), np.concatenate([one, other])
    context = builder.context
    found = exchanged_difference(
        sums[:, 0], sums[:, 1], level=context.level, resamples=context.resamples, seed=builder.seed(cell)
    )
    measured = builder.measure(
        _NAME,
        cell,
        found.estimate,
        rows=rows,
        usable=usable,
        note="" if len(usable) else _NOTHING,
        unit="difference",
    )
    return measured, Tested(cell=cell, rows=rows, usable=usable, p=found.test.p, least=found.test.least)
