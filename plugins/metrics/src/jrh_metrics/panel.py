"""Metric `panel`: accuracy of all judges together, contribution of each, error correlation, best trio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    Ballots,
    Basis,
    Cell,
    Codes,
    Floats,
    MeasureBuilder,
    MetricOptions,
    ballots_of,
    panels_of,
)
from jrh_stats import (
    BestPanel,
    Estimate,
    best_panel,
    cluster_sums,
    clustered_mean,
    clustered_proportion,
    effective_judges,
    majority_vote,
    paired_error_correlation,
    panel_accuracy,
)
from numpy.typing import NDArray

TRIO: Final = 3
"""Judges of the panels that are chosen among all."""
_WEIGHTED: Final = "votes weighted by the log odds of each judge's accuracy on the other half of the clusters"
MOST_JUDGES: Final = 30
"""With more judges, trying all trios takes too long."""


@frozen
class Panel:
    """Measure what the judges achieve together in the reference condition; the k-th answers of all are one ballot.

    By majority vote, by votes weighted by accuracy, and on ordinal scales by the mean and the median. A tie decides
    nothing and counts as wrong. Errors are signed steps on an ordinal scale, and right or wrong elsewhere.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task with two judges or more; `judge` is empty, because all are included."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in panels_of(builder.trials):
            if cell.test == REFERENCE and cell.task in context.tasks:
                ballots = ballots_of(builder.trials, cell, context.tasks[cell.task].scale)
                if len(ballots.judges) > 1:
                    yield from _measure_cell(builder, cell, ballots)


def _measure_cell(builder: MeasureBuilder, cell: Cell, ballots: Ballots) -> Iterator[Measure]:
    scale, level = builder.context.tasks[cell.task].scale, builder.context.level
    votes, truth, clusters = ballots.votes, ballots.truth, ballots.clusters
    size, build = len(scale.labels), partial(_build_measure, builder, cell, ballots)
    yield build("panel-accuracy", panel_accuracy(votes, truth, clusters, n_labels=size, level=level))
    weighted = accuracy_of_weighted_votes(votes, truth, clusters, n_labels=size, level=level)
    yield build("panel-accuracy", weighted, note=_WEIGHTED, rule="weighted")
    if scale.ordered:
        for rule, error in score_errors(votes, truth, clusters, n_labels=size, level=level):
            yield build("panel-mean-absolute-error", error, "levels", rule=rule)
    errors = _errors(ballots, ordered=scale.ordered)
    yield build("effective-judges", effective_judges(errors, clusters, level=level), "judges")
    for pair in combinations(range(len(ballots.judges)), 2):
        # Judges that err together are worth less than their number: each pair shows where.
        correlation = paired_error_correlation(errors[:, pair[0]], errors[:, pair[1]], clusters, level=level)
        names = " & ".join(ballots.judges[judge] for judge in pair)
        yield build("error-correlation", correlation, "coefficient", members=pair, judges=names)
    for place, judge in enumerate(ballots.judges):
        # Against the accuracy of all, this is what the judge contributes.
        remaining = [other for other in range(len(ballots.judges)) if other != place]
        accuracy = panel_accuracy(votes[:, remaining], truth, clusters, n_labels=size, level=level)
        yield build("panel-accuracy", accuracy, members=remaining, without=judge)
    # Of three judges there is one trio, and `panel-accuracy` measures it.
    if TRIO < len(ballots.judges) <= MOST_JUDGES:
        yield _measure_best_trio(builder, cell, ballots, size)


def _build_measure(
    builder: MeasureBuilder,
    cell: Cell,
    ballots: Ballots,
    name: str,
    estimate: Estimate,
    unit: str = "proportion",
    note: str = "",
    members: Sequence[int] | None = None,
    **levels: str,
) -> Measure:
    """Build a measure of all judges, or of some; `levels` distinguish it from others with the same name."""
    trials, rows = builder.trials, ballots.rows
    if members is not None:
        codes = [trials.judge.names.index(ballots.judges[judge]) for judge in members]
        rows = rows[np.isin(trials.judge.codes[rows], codes)]
    usable = rows[trials.usable[rows]]
    known = estimate if len(usable) else Estimate(value=None, flags=("empty",))
    # A note of the estimate itself says more than the general one.
    text = note if known.value is not None or note else "too few labelled items with verdicts"
    return builder.measure(name, Basis(cell.part(levels), rows, usable), known, note=text, unit=unit)


def best_trio(
    builder: MeasureBuilder,
    cell: Cell,
    ballots: Ballots,
    n_labels: int,
    judges: Sequence[int] | Codes,
    positive: int | None = None,
) -> BestPanel | None:
    """Choose the best panel of three among some judges (`jrh_stats.best_panel`)."""
    level, seed, votes = builder.context.level, builder.seed(cell), ballots.votes[:, judges]
    return best_panel(
        votes, ballots.truth, ballots.clusters, n_labels=n_labels, size=TRIO, level=level, seed=seed, positive=positive
    )


def _measure_best_trio(builder: MeasureBuilder, cell: Cell, ballots: Ballots, size: int) -> Measure:
    best = best_trio(builder, cell, ballots, size, range(len(ballots.judges)))
    if best is None:
        return _build_measure(builder, cell, ballots, "best-trio", Estimate(value=None))
    names = ", ".join(ballots.judges[judge] for judge in best.judges)
    inside = best.accuracy.value or 0.0
    note = (
        f"{names}; estimated on held-out items. In-sample, on the items it was chosen on, {inside:.3f}: too high. "
        f"{best.same:.0%} of the halves choose this trio"
    )
    return _build_measure(builder, cell, ballots, "best-trio", best.held_out, note=note)


def _errors(ballots: Ballots, *, ordered: bool) -> Floats:
    steps = (ballots.votes - ballots.truth[:, None]).astype(np.float64)
    # Errors on an unordered scale have no size.
    errors = steps if ordered else (steps != 0).astype(np.float64)
    return np.where(ballots.votes >= 0, errors, np.nan)


_FOLDS: Final = 2

Votes = NDArray[np.int64]


def accuracy_of_weighted_votes(votes: Votes, truth: Votes, clusters: Codes, *, n_labels: int, level: float) -> Estimate:
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
    names, cluster = np.unique(clusters, return_inverse=True)
    if len(names) < _FOLDS:
        return Estimate(value=None, flags=("empty",))
    fold = cluster % _FOLDS  # a cluster has one fold: no copy of an item helps to choose the weights either
    # Copies of an item are one piece of evidence about a judge.
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
    # Laplace's rule of succession: a judge that is right on all of few items gets no infinite weight.
    accuracy = (share @ (votes == truth[:, None]) + 1) / (share @ (votes >= 0) + 2)
    # A judge worse than chance loses its vote: a negative weight would turn its verdicts around.
    return np.asarray(np.maximum(np.log(max(n_labels - 1, 1) * accuracy / (1 - accuracy)), 0.0))


def score_errors(
    votes: Votes, truth: Votes, clusters: Codes, *, n_labels: int, level: float
) -> Iterator[tuple[str, Estimate]]:
    """Yield, for the mean and the median of the levels, the rule and its mean absolute error in levels.

    Args:
        votes: positions on the scale, -1 where missing, shape (items, judges).
        truth: the right position of every item, shape (items,).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        n_labels: number of levels.
        level: coverage.
    """
    # Those who answered decide: a panel without any answer has no level.
    there = (votes >= 0).any(axis=1)
    levels, of = np.where(votes >= 0, votes, np.nan)[there], clusters[there]
    for rule, decided in (("mean", np.nanmean(levels, axis=1)), ("median", np.nanmedian(levels, axis=1))):
        error = np.abs(decided - truth[there])
        sums = cluster_sums(of, error, np.ones(len(error)))
        yield rule, clustered_mean(sums[:, 0], sums[:, 1], bounds=(0.0, float(n_labels - 1)), level=level)
