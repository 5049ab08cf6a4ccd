"""Estimate a proportion from clustered trials, and the mean of several proportions of the same clusters."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.clusters import Kinds, distinct, parts_of, ratio_kinds, ratio_variance
from jrh_stats.degrees import design_degrees, effective_degrees, few_events, interval_degrees
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import score_interval, t_quantile, wilson, z_quantile

_CHUNK: Final = 4_000_000
"""Weights held in memory at once: 32 MB."""
_NOISE: Final = 1e-12
"""Differences below this are rounding."""


def resample_totals(sums: Floats | Kinds, *, resamples: int, seed: int) -> Floats:
    """Draw bootstrap totals: K clusters with replacement from K, summed.

    Clusters with equal sums are interchangeable, so the draw is one multinomial over the distinct rows of `sums`, with
    probabilities in proportion to how many clusters share each: exactly the distribution of drawing clusters, at the
    cost of the few kinds there are.

    Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8 (clusters drawn whole).

    Args:
        sums: per-cluster sums, shape (K, columns), as `cluster_sums` returns them.
        resamples: number of bootstrap samples B.
        seed: the only source of randomness.

    Returns:
        Totals, shape (B, columns). Independent of the order of the clusters.

    Raises:
        ValueError: there is no cluster.
    """
    if not len(sums):
        raise ValueError("a bootstrap needs at least one cluster")
    kinds, counts = distinct(sums)
    clusters = int(counts.sum())
    generator = np.random.default_rng(seed)
    step = max(1, _CHUNK // len(kinds))
    totals = np.empty((resamples, kinds.shape[1]))
    for part in parts_of(resamples, step):
        # In blocks, so that memory does not grow with the number of resamples.
        draws = generator.multinomial(clusters, counts / clusters, size=part.stop - part.start)
        totals[part] = draws.astype(np.float64) @ kinds
    return totals


def clustered_proportion(
    numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Estimate:
    """Estimate a proportion, sum(numerators) / sum(denominators), from trials that are clustered.

    The interval is

    * `wilson` where every cluster has one trial that scores 0 or 1: trials are independent; n is the number of
      clusters.
    * `wilson-clusters` where all clusters have the same proportion, and where every cluster is all 0 or all 1 with
      equal numbers of trials: Wilson's interval with n = number of clusters, as if the trials of a cluster were one.
      Where nothing varies between clusters a bootstrap would return a single point; a judge that always repeats itself
      gives as many observations as there are clusters.
    * `cluster-bootstrap-wilson` otherwise: the cluster bootstrap gives the variance v of p, which gives the effective
      number of trials n_eff = p (1 - p) / v; the interval is Wilson's with n_eff and Student's t with the degrees of
      freedom of `design_degrees`; of uneven clusters they are at most the `effective_degrees`. v carries the factor K
      / (K - 1) that the bootstrap lacks. n_eff may exceed the number of trials: a trial that is scored by a mean,
      such as the share of five reference verdicts it agrees with, varies less than a yes or no. Cut at the number of
      trials, agreement between repeats covered up to 100%, and its interval was up to 2.3 times as wide as the
      standard error called for; a share of repeats put once per cluster into the binomial formula, up to 5 times
      (1,000 studies per design, true rates 2% to 50%, up to 5 repeats).

    Why not percentiles: in a simulation (beta-binomial clusters of 1 to 5 trials, p from 0.5 to 0.99, intraclass
    correlation 0.1 to 0.9, 10 to 60 clusters, level 95%) percentile intervals covered down to 85%, BCa down to 90%,
    bootstrap-t 94% and more but up to ten times as wide near 1. This one, with K - 1 degrees of freedom, covered 96%
    on average and 89% at worst (p = 0.99 and 10 clusters, where Wilson's own interval does), about as wide as the
    percentile interval; the degrees of the design widen it where few clusters make up the variance, and not where the
    variance follows from the proportion. Ten clusters with many trials each cannot know of what happens to one cluster
    in ten: `few-events` says so, docs/statistics.md how much it matters.

    Source: effective sample size in Wilson's interval: Korn and Graubard (1998), Survey Methodology 24:193-201 (there
    with Clopper-Pearson); Dean and Pagano (2015), J. Survey Statistics and Methodology 3:484-503; Franco, Little, Louis
    and Slud (2019), same journal 7:334-364. None consulted: the degrees of freedom are ours (`docs/derivations.md`).

    Args:
        numerators: sum of the scores of each cluster, shape (K,); a trial scores from 0 to 1.
        denominators: number of trials of each cluster, shape (K,), all > 0.
        level: coverage.
        resamples: bootstrap samples.
        seed: the only source of randomness.

    Returns:
        The proportion with its interval. Flags: `empty` and no value without clusters; `few-events` where so few
        clusters differ from the others that the coverage may be off (`few_events`), also where none does.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or a proportion lies outside [0, 1].
    """
    z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    shares = sums.rows[:, 0] / sums.rows[:, 1]
    if np.any(shares < 0) or np.any(shares > 1 + _NOISE):
        raise ValueError("a cluster's score must be between 0 and its number of trials")
    top, n = sums.total
    value = min(float(top / n), 1.0)
    deviations = sums.rows[:, 0] - value * sums.rows[:, 1]
    # For the flag alone. The interval takes the degrees of the design, which know what a proportion's variance is.
    degrees = effective_degrees(deviations, sums.counts, sums.rows[:, 1], doubt=True)
    low, high, method = _interval(sums, value, level=level, resamples=resamples, seed=seed)
    return enclose(
        value, low, high, method=method, n=float(n), clusters=len(sums), flags=few_events(degrees, len(sums))
    )


def _interval(sums: Kinds, value: float, *, level: float, resamples: int, seed: int) -> tuple[float, float, str]:
    clusters = len(sums)
    trials = sums.rows[:, 1]
    shares = sums.rows[:, 0] / trials
    # All or nothing in clusters of one size: trials of a cluster say one thing, and count as one trial.
    outright = bool(np.all((shares < _NOISE) | (shares > 1 - _NOISE))) and np.ptp(trials) < _NOISE
    if outright or np.ptp(shares) < _NOISE:
        method = "wilson" if outright and trials[0] == 1 else "wilson-clusters"
        return (*_ends(wilson(value * clusters, clusters, level=level)), method)
    totals = resample_totals(sums, resamples=resamples, seed=seed)
    # Very few resamples may all be alike, where the closed form still tells a variance.
    variance = float(np.var(totals[:, 0] / totals[:, 1], ddof=1)) * clusters / (clusters - 1) or ratio_variance(
        sums.rows[:, 0], trials, sums.counts
    )
    deviations = (sums.rows[:, 0] - value * trials) * clusters / float(sums.total[1])
    degrees = interval_degrees(deviations, value, sums.counts, trials)
    ends = effective_score_interval(value, variance, degrees, level)
    return (*ends, "cluster-bootstrap-wilson")


def effective_score_interval(value: float, variance: float, degrees: float, level: float) -> tuple[float, float]:
    """Compute Wilson's interval with the effective number of trials that a variance implies, and Student's t.

    Args:
        value: the proportion, strictly between 0 and 1.
        variance: its variance, which counts the dependence within clusters; positive.
        degrees: degrees of freedom of the variance, at least 1.
        level: coverage.

    Returns:
        Lower and upper end.
    """
    return _ends(score_interval(value, value * (1 - value) / variance, t_quantile(level, degrees)))


def _ends(interval: tuple[Floats, Floats]) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


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
    # A rate without a trial is no rate: counted as 0 it would pull the mean down.
    y, m = y[:, there], m[:, there]
    if not m.size:
        return Estimate(value=None, flags=("empty",))
    rates = y.sum(axis=0) / m.sum(axis=0)
    value, trials = float(rates.mean()), float(m.sum())
    used = m.sum(axis=1) > 0
    if y.shape[1] == 1 or not _NOISE < value < 1 - _NOISE:
        # At 0 and 1 linearisation has no variance; one rate needs none.
        return clustered_proportion(y.sum(axis=1)[used], m.sum(axis=1)[used], level=level)
    clusters = int(used.sum())
    influence = ((y - rates * m) / (len(rates) * m.sum(axis=0))).sum(axis=1)[used]
    variance = clusters / max(clusters - 1, 1) * float(np.square(influence).sum())
    if clusters < 2 or variance <= _NOISE**2:  # noqa: PLR2004 - a variance between clusters needs two
        return Estimate(value=value, n=trials, clusters=clusters, flags=("no-interval",))
    # The deviation of a cluster in the unit of the mean: the error of the mean is their mean.
    degrees = design_degrees(influence * clusters, value)
    low, high = effective_score_interval(value, variance, degrees, level)
    return enclose(
        value,
        low,
        high,
        method="cluster-robust-wilson",
        n=trials,
        clusters=clusters,
        flags=few_events(effective_degrees(influence), clusters),
    )
