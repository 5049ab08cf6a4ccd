"""Average rates that share their clusters: the mean over tests of one judge, or over judges in one test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.degrees import design_degrees, effective_degrees, few_events
from jrh_stats.estimate import Estimate
from jrh_stats.proportion import clustered_proportion, effective_score_interval
from jrh_stats.wilson import z_quantile

_NOISE = 1e-12


def mean_of_rates(numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the unweighted mean of T rates that were measured on the same clusters.

    With p_t = sum_k y_kt / n_t, n_t = sum_k m_kt and K clusters, the mean is sum_t p_t / T, and its variance by
    linearisation, which counts that a cluster takes part in several rates,

        K / (K - 1) * sum_k d_k^2,   d_k = sum_t (y_kt - p_t m_kt) / (T n_t)

    The interval is Wilson's with the effective number of trials p (1 - p) / variance, and Student's t with the
    `design_degrees` of K d.

    Source: linearisation of a sum of ratios, Cochran (1977), Sampling Techniques, 3rd ed., chapter 6 (not consulted
    for this sum); the form of the interval is ours, as in `clustered_proportion`.

    Args:
        numerators: sum of the scores of each cluster in each rate, shape (K, T).
        denominators: number of trials of each cluster in each rate, 0 where it has none, shape (K, T).
        level: coverage.

    Returns:
        The mean over the rates that have a trial; `n` counts all trials. One rate has the interval of
        `clustered_proportion`, and so have rates that are all 0 or all 1. Flag `empty` without a rate.
    """
    z_quantile(level)
    y, m = np.atleast_2d(np.asarray(numerators, dtype=np.float64)), np.atleast_2d(np.asarray(denominators, np.float64))
    there = m.sum(axis=0) > 0
    y, m = y[:, there], m[:, there]
    if not m.size:
        return Estimate(value=None, flags=("empty",))
    rates = y.sum(axis=0) / m.sum(axis=0)
    value, trials = float(rates.mean()), float(m.sum())
    used = m.sum(axis=1) > 0
    if y.shape[1] == 1 or not _NOISE < value < 1 - _NOISE:
        return clustered_proportion(y.sum(axis=1)[used], m.sum(axis=1)[used], level=level)
    clusters = int(used.sum())
    influence = ((y - rates * m) / (len(rates) * m.sum(axis=0))).sum(axis=1)[used]
    variance = clusters / max(clusters - 1, 1) * float(np.square(influence).sum())
    if clusters < 2 or variance <= _NOISE**2:  # noqa: PLR2004 - a variance between clusters needs two
        return Estimate(value=value, n=trials, clusters=clusters, flags=("no-interval",))
    # The deviation of a cluster in the unit of the mean: the error of the mean is their mean.
    degrees = design_degrees(influence * clusters, value)
    low, high = effective_score_interval(value, variance, degrees, level)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        method="cluster-robust-wilson",
        n=trials,
        clusters=clusters,
        flags=few_events(effective_degrees(influence), clusters),
    )
