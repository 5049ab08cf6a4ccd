"""Accuracy of two judges on the same questions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, groupby
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_stats import cluster_sums, clustered_difference, mcnemar_exact, sign_flip_test
from numpy.typing import NDArray

from jrh_metrics.cells import Cell, panels_of
from jrh_metrics.families import Tested, p_values
from jrh_metrics.measuring import MeasureBuilder, Scores
from jrh_metrics.options import MetricOptions
from jrh_metrics.scoring import as_expected
from jrh_metrics.trials import Codes, Trials

_NOTHING: Final = "no question was answered by both judges and has an expected answer"
_TEST: Final = "two-sided: exact McNemar where every item has one question, otherwise the sign-flip test by item"
_FAMILY: Final = "all pairs of judges and tests of the task"
_NAME: Final = "accuracy-difference"


@frozen
class JudgeComparison:
    """Accuracy of one judge minus that of another, over the questions that both answered.

    Accuracy is that against the expectation, as of the metric `accuracy`; a question is a case and a repeat.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-difference` per task, test and pair of judges (`cell`: against), and its p-values."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        scores = as_expected(trials)
        question = _questions(trials)
        for _, panels in groupby(panels_of(trials), key=lambda panel: panel.task):
            family: list[Tested] = []
            for panel in panels:
                for cell, first, second in _pairs(trials, panel, question):
                    measured, p = _compared(builder, cell, scores, first, second)
                    yield measured
                    family.append(Tested(cell=cell, usable=_usable(scores, first, second), p=p))
            yield from p_values(builder, _NAME, family, test=_TEST, over=_FAMILY, nothing=_NOTHING)


def _questions(trials: Trials) -> Codes:
    key = trials.task.codes
    for column in (trials.test, trials.case, trials.variant, trials.item):
        key = key * len(column.names) + column.codes
    _, dense = np.unique(key, return_inverse=True)
    return np.asarray(dense * (int(trials.repeat.max(initial=0)) + 1) + trials.repeat)


def _pairs(trials: Trials, panel: Cell, question: Codes) -> Iterator[tuple[Cell, Codes, Codes]]:
    """Yield, for every two judges by name, the cell and the rows of both on the questions that both were asked."""
    judges = trials.judge.codes[panel.rows]
    rows = {int(judge): panel.rows[judges == judge] for judge in np.unique(judges)}
    for one, other in combinations(sorted(rows), 2):
        _, here, there = np.intersect1d(question[rows[one]], question[rows[other]], return_indices=True)
        cell = Cell(
            task=panel.task,
            judge=trials.judge.names[one],
            test=panel.test,
            levels={"against": trials.judge.names[other]},
            rows=np.concatenate([rows[one], rows[other]]),
        )
        yield cell, rows[one][here], rows[other][there]


def _both(scores: Scores, first: Codes, second: Codes) -> NDArray[np.bool_]:
    eligible = scores.eligible[first] & scores.eligible[second]
    return np.asarray(eligible & ~np.isnan(scores.value[first]) & ~np.isnan(scores.value[second]))


def _usable(scores: Scores, first: Codes, second: Codes) -> Codes:
    both = _both(scores, first, second)
    return np.concatenate([first[both], second[both]])


def _compared(
    builder: MeasureBuilder, cell: Cell, scores: Scores, first: Codes, second: Codes
) -> tuple[Measure, float | None]:
    trials, context = builder.trials, builder.context
    both = _both(scores, first, second)
    difference = scores.value[first[both]] - scores.value[second[both]]
    sums = cluster_sums(trials.item.codes[first[both]], difference, np.ones(len(difference)))
    usable = _usable(scores, first, second)
    asked = np.concatenate([first, second])
    measured = builder.measure(
        _NAME,
        cell,
        clustered_difference(sums[:, 0], sums[:, 1], level=context.level),
        rows=np.concatenate([usable, asked[~trials.usable[asked]]]),
        usable=usable,
        flags=builder.flags(cell, asked, usable),
        note="" if len(usable) else _NOTHING,
        unit="difference",
    )
    return measured, _p(builder, cell, sums, difference)


def _p(builder: MeasureBuilder, cell: Cell, sums: NDArray[np.float64], difference: NDArray[np.float64]) -> float | None:
    if not len(sums):
        return None
    if np.all(sums[:, 1] == 1) and np.all(np.isin(difference, (-1.0, 0.0, 1.0))):
        return mcnemar_exact(int((difference > 0).sum()), int((difference < 0).sum())).p
    context = builder.context
    return sign_flip_test(sums[:, 0], resamples=context.resamples, seed=cell.seed(context)).p
