"""Metric `panel`: accuracy of all judges together, contribution of each, error correlation, best trio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import Basis, Cell, Codes, Floats, MeasureBuilder, MetricOptions, Trials, numbered, panels_of
from jrh_stats import (
    Estimate,
    best_panel,
    cluster_sums,
    clustered_mean,
    clustered_proportion,
    effective_judges,
    leave_one_out,
    majority_vote,
    mean_score,
    median_score,
    paired_error_correlation,
    panel_accuracy,
)
from numpy.typing import NDArray

_TWO: Final = 2
_TRIO: Final = 3
_WEIGHTED: Final = "votes weighted by the log odds of each judge's accuracy on the other half of the clusters"
_MOST_JUDGES: Final = 30
"""With more judges, trying all trios takes too long."""


@frozen(kw_only=True, eq=False)
class _Votes:
    """The first verdict of every judge on every labelled item, as positions on the task's scale."""

    votes: NDArray[np.int64]
    """Shape (items, judges), -1 where missing."""
    truth: NDArray[np.int64]
    clusters: Codes
    """The cluster of every item."""
    judges: tuple[str, ...]
    codes: Codes
    """The judges' codes, shape (judges,)."""
    rows: Codes
    """The trials they come from, including those without a verdict."""
    usable: Codes

    def only(self, trials: Trials, judges: Sequence[int]) -> _Votes:
        """Return the votes of some of the judges, by column."""
        columns = list(judges)
        rows, usable = (
            part[np.isin(trials.judge.codes[part], self.codes[columns])] for part in (self.rows, self.usable)
        )
        names = tuple(self.judges[column] for column in columns)
        return evolve(
            self, votes=self.votes[:, columns], judges=names, codes=self.codes[columns], rows=rows, usable=usable
        )


@frozen
class Panel:
    """Measure what the judges achieve together, on the first repeat in the reference condition.

    By majority vote, by votes weighted by accuracy, and on ordinal scales by the mean and the median. A tie decides
    nothing and counts as wrong. Errors are signed steps on an ordinal scale, and right or wrong elsewhere.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task with two judges or more; `judge` is empty, because all are included."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in panels_of(builder.trials):
            if cell.test == REFERENCE and cell.task in context.tasks:
                votes = _votes(builder, cell)
                if len(votes.judges) >= _TWO:
                    yield from _measured(builder, cell, votes)


def _measured(builder: MeasureBuilder, cell: Cell, votes: _Votes) -> Iterator[Measure]:
    scale, level = builder.context.tasks[cell.task].scale, builder.context.level
    size, made = len(scale.labels), partial(_made, builder, cell, votes)
    yield made(
        "panel-accuracy",
        _known(panel_accuracy(votes.votes, votes.truth, votes.clusters, n_labels=size, level=level), votes),
    )
    weighted = weighted_accuracy(votes.votes, votes.truth, votes.clusters, n_labels=size, level=level)
    yield made("panel-accuracy", _known(weighted, votes), note=_WEIGHTED, rule="weighted")
    if scale.ordered:
        for rule, error in score_errors(votes.votes, votes.truth, votes.clusters, n_labels=size, level=level):
            yield made("panel-mean-absolute-error", _known(error, votes), "levels", rule=rule)
    errors = _errors(votes, ordered=scale.ordered)
    yield made("effective-judges", effective_judges(errors, votes.clusters, level=level), "judges")
    for pair in combinations(range(len(votes.judges)), _TWO):
        both = votes.only(builder.trials, pair)
        correlation = paired_error_correlation(errors[:, pair[0]], errors[:, pair[1]], votes.clusters, level=level)
        yield _made(
            builder, cell, both, "error-correlation", correlation, "coefficient", judges=" & ".join(both.judges)
        )
    scores = leave_one_out(votes.votes, votes.truth, votes.clusters, n_labels=size, level=level)
    for judge, score in zip(votes.judges, scores, strict=True):
        others = votes.only(builder.trials, score.judges)
        yield _made(builder, cell, others, "panel-accuracy", _known(score.accuracy, others), without=judge)
    if _TRIO < len(votes.judges) <= _MOST_JUDGES:
        yield _best_trio(builder, cell, votes, size)


def _made(
    builder: MeasureBuilder,
    cell: Cell,
    votes: _Votes,
    name: str,
    estimate: Estimate,
    unit: str = "proportion",
    note: str = "",
    **levels: str,
) -> Measure:
    """Build a measure from the votes; `levels` distinguish it from others with the same name."""
    told = note if estimate.value is not None or note else "too few labelled items with verdicts"
    return builder.measure(name, Basis(cell.part(levels), votes.rows, votes.usable), estimate, note=told, unit=unit)


def _best_trio(builder: MeasureBuilder, cell: Cell, votes: _Votes, size: int) -> Measure:
    best = best_panel(
        votes.votes,
        votes.truth,
        votes.clusters,
        n_labels=size,
        size=_TRIO,
        level=builder.context.level,
        seed=builder.seed(cell),
    )
    if best is None:
        return _made(builder, cell, votes, "best-trio", Estimate(value=None))
    names = ", ".join(votes.judges[judge] for judge in best.best.judges)
    inside = best.best.accuracy.value or 0.0
    note = (
        f"{names}; estimated on held-out items. In-sample, on the items it was chosen on, {inside:.3f}: too high. "
        f"{best.same:.0%} of the folds choose this trio"
    )
    return _made(builder, cell, votes, "best-trio", _known(best.held_out, votes), note=note)


def _known(estimate: Estimate, votes: _Votes) -> Estimate:
    """Return the estimate, or an empty one if no judge has a verdict."""
    return estimate if len(votes.usable) else Estimate(value=None, flags=("empty",))


def _votes(builder: MeasureBuilder, cell: Cell) -> _Votes:
    trials, scale = builder.trials, builder.context.tasks[cell.task].scale
    position = np.array([scale.rank(label) if label in scale else -1 for label in trials.labels] + [-1], dtype=np.int64)
    rows = cell.rows[(position[trials.gold[cell.rows]] >= 0)]
    rows = _first(trials, rows)
    judges, judge = np.unique(trials.judge.codes[rows], return_inverse=True)
    items, item = np.unique(trials.item.codes[rows], return_inverse=True)
    votes = np.full((len(items), len(judges)), -1, dtype=np.int64)
    votes[item, judge] = position[trials.label[rows]]
    truth = np.full(len(items), -1, dtype=np.int64)
    truth[item] = position[trials.gold[rows]]
    return _Votes(
        votes=votes,
        truth=truth,
        clusters=trials.clusters_of(items, cell.task),
        judges=tuple(trials.judge.names[code] for code in judges),
        codes=judges,
        rows=rows,
        usable=rows[trials.usable[rows]],
    )


def _first(trials: Trials, rows: Codes) -> Codes:
    """Return the first verdict of every judge on every item: of the plainest condition, then of the first repeat."""
    keys = (trials.repeat, trials.written_test.codes, trials.conditions.levels, trials.item.codes, trials.judge.codes)
    ordered = rows[np.lexsort([key[rows] for key in keys])]
    pair = numbered(trials.judge.codes[ordered], trials.item.codes[ordered])
    return np.sort(ordered[np.flatnonzero(np.diff(pair, prepend=-1))])


def _errors(votes: _Votes, *, ordered: bool) -> Floats:
    steps = (votes.votes - votes.truth[:, None]).astype(np.float64)
    errors = steps if ordered else (steps != 0).astype(np.float64)
    return np.where(votes.votes >= 0, errors, np.nan)


_FOLDS: Final = 2

Votes = NDArray[np.int64]


def weighted_accuracy(
    votes: Votes, truth: Votes, clusters: Votes | None = None, *, n_labels: int, level: float
) -> Estimate:
    """Estimate the accuracy of votes weighted by how accurate each judge is on other items.

    The weight of a judge with accuracy a is log((Q - 1) a / (1 - a)) for Q labels, at least 0: the weights of the
    likeliest label if judges err independently and alike on all labels. a is (right + 1) / (votes + 2) on the other
    half of the clusters, each counted once, so that no item helps to choose the weights it is decided with.

    Source: Nitzan and Paroush (1982), International Economic Review 23:289-297.

    Args:
        votes: label codes, -1 where missing, shape (items, judges).
        truth: the right label of every item, shape (items,).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        n_labels: number of labels Q.
        level: coverage.

    Returns:
        The proportion, by cluster; a tie counts as wrong. Flag `empty` with fewer than two clusters.
    """
    names, cluster = np.unique(_own(clusters, truth), return_inverse=True)
    if len(names) < _FOLDS:
        return Estimate(value=None, flags=("empty",))
    fold = cluster % _FOLDS  # a cluster has one fold: no copy of an item helps to choose the weights either
    share = 1 / np.bincount(cluster)[cluster]
    hits = np.zeros(len(truth))
    for part in range(_FOLDS):
        here = fold == part
        weights = _weights(votes[~here], truth[~here], share[~here], n_labels)
        hits[here] = majority_vote(votes[here], n_labels=n_labels, weights=weights) == truth[here]
    sums = cluster_sums(cluster, hits, np.ones(len(hits)))
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)


def _weights(votes: Votes, truth: Votes, share: Floats, n_labels: int) -> Floats:
    """Weigh the judges; the items of a cluster, each with its `share`, count as one: copies are no further evidence."""
    accuracy = (share @ (votes == truth[:, None]) + 1) / (share @ (votes >= 0) + 2)
    return np.asarray(np.maximum(np.log(max(n_labels - 1, 1) * accuracy / (1 - accuracy)), 0.0))


def score_errors(
    votes: Votes, truth: Votes, clusters: Votes | None = None, *, n_labels: int, level: float
) -> Iterator[tuple[str, Estimate]]:
    """Yield, for the mean and the median of the levels, the rule and its mean absolute error in levels.

    Args:
        votes: positions on the scale, -1 where missing, shape (items, judges).
        truth: the right position of every item, shape (items,).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        n_labels: number of levels.
        level: coverage.
    """
    scores = np.where(votes >= 0, votes, np.nan).astype(np.float64)
    of = _own(clusters, truth)
    for rule, decided in (("mean", mean_score(scores)), ("median", median_score(scores))):
        error = np.abs(decided - truth)
        there = ~np.isnan(error)
        sums = cluster_sums(of[there], error[there], np.ones(int(there.sum())))
        yield rule, clustered_mean(sums[:, 0], sums[:, 1], bounds=(0.0, float(n_labels - 1)), level=level)


def _own(clusters: Votes | None, truth: Votes) -> Votes:
    return np.arange(len(truth)) if clusters is None else clusters
