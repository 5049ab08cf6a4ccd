"""Measure calibration: is a judge that says 80% right 80% of the time?"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from jrh_stats.clusters import cluster_sums, ratio_variance
from jrh_stats.degrees import FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate
from jrh_stats.proportion import effective_score_interval
from jrh_stats.score_intervals import z_quantile
from jrh_stats.unseen import identical_mean

Binning: TypeAlias = Literal["width", "mass"]
"""Bins of equal width, or of about equal numbers of answers."""

_LEAST: Final = 2
"""Clusters a variance needs."""
_NOISE: Final = 1e-12


@frozen(kw_only=True)
class ReliabilityBin:
    """One bin of a reliability curve."""

    low: float
    """Lower edge of the stated probability; excluded from the bin, except in the first."""
    high: float
    """Upper edge, included."""
    confidence: float
    """Mean stated probability."""
    accuracy: Estimate
    """Share of right answers, with an interval by cluster of items."""


def brier_score(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    clusters: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Brier score, the mean of (probability - outcome)^2: 0 is perfect, 0.25 is always saying 50%.

    Source: Brier (1950), Monthly Weather Review 78:1-3, in the form for one event.

    Args:
        probabilities: stated probability of the event, in [0, 1], shape (n,).
        outcomes: 1 where it happened, else 0, shape (n,).
        clusters: cluster of every answer, whole numbers >= 0, shape (n,).
        level: coverage.

    Returns:
        The score, method `linearised-wilson`: Wilson's interval with the number of answers that the cluster-robust
        variance implies and Student's t, as in `clustered_proportion`; where all clusters have the same score,
        `wilson-clusters`. No interval with one cluster only. Flags: `empty` without answers, `few-events`.

    Raises:
        ValueError: the shapes differ, a probability is outside [0, 1], or an outcome is not 0 or 1.
    """
    p, y, items = checked_answers(probabilities, outcomes, clusters)
    return _mean_estimate(np.square(p - y), items, level)


def _mean_estimate(scores: NDArray[np.float64], items: NDArray[np.int64], level: float) -> Estimate:
    """Estimate the mean of scores in [0, 1] with the interval that `brier_score` describes."""
    z_quantile(level)
    sums = cluster_sums(items, scores, np.ones(len(scores)))
    sums = sums[np.lexsort(sums.T)]
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    top, n = (float(part) for part in sums.sum(axis=0))
    value, clusters = min(top / n, 1.0), len(sums)
    if clusters < _LEAST:
        return Estimate(value=value, n=n, clusters=clusters)
    variance = ratio_variance(sums[:, 0], sums[:, 1])
    if variance <= _NOISE:
        low, high = identical_mean(value, clusters, (0.0, 1.0), level)
        return Estimate(
            value=value, low=low, high=high, method="wilson-clusters", n=n, clusters=clusters, flags=(FEW_EVENTS,)
        )
    # A squared error varies less than a proportion of the same mean, so the number implied may exceed that of answers.
    degrees = effective_degrees(sums[:, 0] - value * sums[:, 1])
    low, high = effective_score_interval(value, variance, degrees, level)
    return Estimate(
        value=value,
        low=low,
        high=high,
        method="linearised-wilson",
        n=n,
        clusters=clusters,
        flags=few_events(degrees, clusters),
    )


def reliability_curve(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    clusters: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "width",
    level: float = 0.95,
) -> list[ReliabilityBin]:
    """Compute the share of right answers per bin of the stated probability; empty bins are left out.

    Source: Murphy and Winkler (1977), Applied Statistics 26:41-47.

    Args:
        probabilities: as for `brier_score`.
        outcomes: as for `brier_score`.
        clusters: as for `brier_score`.
        bins: number of bins.
        binning: how the edges are set.
        level: coverage of each bin's own interval, of the kind of `brier_score`.

    Raises:
        ValueError: as for `brier_score`, or there is no bin.
    """
    p, y, items = checked_answers(probabilities, outcomes, clusters)
    edges = bin_edges(p, bins, binning)
    place = bin_places(p, edges)
    curve = []
    for number in np.unique(place):
        rows = place == number
        curve.append(
            ReliabilityBin(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                confidence=float(np.sort(p[rows]).mean()),
                accuracy=_mean_estimate(y[rows], items[rows], level),
            )
        )
    return curve


def checked_answers(
    probabilities: ArrayLike, outcomes: ArrayLike, clusters: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return probabilities, outcomes and clusters as arrays, or raise the errors of `brier_score`."""
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    items = np.asarray(clusters, dtype=np.int64)
    if p.shape != y.shape or p.shape != items.shape or p.ndim != 1:
        raise ValueError("probabilities, outcomes and clusters must be arrays of equal length")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("probabilities must be between 0 and 1; leave out answers without one")
    if not np.all((y == 0) | (y == 1)):
        raise ValueError("outcomes must be 0 or 1")
    return p, y, items


def bin_edges(p: NDArray[np.float64], bins: int, binning: Binning) -> NDArray[np.float64]:
    """Return the edges of the bins, shape (bins + 1,)."""
    if bins < 1:
        raise ValueError("a reliability curve needs at least one bin")
    if binning == "width" or not len(p):
        return np.linspace(0.0, 1.0, bins + 1)
    inner = np.quantile(p, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.concatenate([[0.0], inner, [1.0]])


def bin_places(p: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the bin of every probability; an edge belongs to the bin below it."""
    return np.searchsorted(edges[1:-1], p, side="left").astype(np.int64)
