"""Combine the votes of a panel by rules other than the plain majority: weighted votes, medians, means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from jrh_stats import (
    Estimate,
    cluster_sums,
    clustered_mean,
    clustered_proportion,
    majority_vote,
    mean_score,
    median_score,
)
from numpy.typing import NDArray

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


def _weights(votes: Votes, truth: Votes, share: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
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
