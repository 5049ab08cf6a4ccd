"""Compute one-sided confidence limits of a rate, for decisions: each end alone errs at most at its own rate.

A score interval has its coverage on the two sides together. Near 0 and 1 one side errs up to three times as often as
half of the level says, the other side hardly ever, so that its ends cannot decide whether a rate meets a threshold.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from jrh_stats.clusters import Kinds, ratio_kinds, ratio_variance
from jrh_stats.degrees import design_degrees, effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, z_quantile

_NOISE: Final = 1e-9


def binomial_limits(successes: float, n: float, *, alpha: float = 0.025) -> tuple[float, float]:
    """Return the exact lower and upper confidence limits of a proportion, each with the error rate alpha.

    The lower limit is the alpha quantile of a beta distribution with x and n - x + 1 degrees, the upper one the 1 -
    alpha quantile of one with x + 1 and n - x.

    Source: Clopper and Pearson (1934), Biometrika 26:404-413; with a fractional effective number of trials: Korn and
    Graubard (1998), Survey Methodology 24:193-201.

    Args:
        successes: x, from 0 to n; fractions are allowed.
        n: number of independent trials; fractions are allowed.
        alpha: error rate of each limit.

    Raises:
        ValueError: x is not between 0 and n, or alpha not between 0 and 1.
    """
    from scipy.special import betaincinv

    if not -_NOISE <= successes <= n + _NOISE or not n > 0 or not 0 < alpha < 1:
        raise ValueError(f"{successes} of {n} trials with alpha {alpha} have no limits")
    # At 0 and n the beta distribution has no such shape; the limits are 0 and 1.
    low = 0.0 if successes <= _NOISE else float(betaincinv(successes, n - successes + 1, alpha))
    high = 1.0 if successes >= n - _NOISE else float(betaincinv(successes + 1, n - successes, 1 - alpha))
    return low, high


def bentkus_upper_limit(total: float, n: int, *, alpha: float = 0.025) -> float:
    """Return an upper confidence limit of the mean of independent scores from 0 to 1, whatever their distribution.

    The sum S of n such scores with mean p falls below x at most e times as often as a binomial count does:
    P(S <= x) <= e P(B(n, p) <= ceil(x)), so the limit is Clopper and Pearson's of ceil(x) at alpha / e. If every score
    was 0, P(S = 0) <= (1 - p)^n needs no factor.

    Source: Bentkus (2004), Annals of Probability 32:1650-1673; as a bound on a risk: Bates, Angelopoulos, Lei, Malik
    and Jordan (2021), Journal of the ACM 68(6). Not consulted: quoted from memory, and checked by simulation.

    Args:
        total: the sum of the scores.
        n: their number.
        alpha: error rate.
    """
    if total <= _NOISE:
        return binomial_limits(0, n, alpha=alpha)[1]
    count = min(float(np.ceil(total - _NOISE)), float(n))
    # The factor e is the price of not knowing the distribution.
    return binomial_limits(count, n, alpha=alpha / np.e)[1]


def clustered_limits(numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate a proportion with one-sided limits: each end errs in at most (1 - level) / 2 of all samples.

    * `clopper-pearson` where every cluster is one trial, right or wrong: `binomial_limits`, exact.
    * `clopper-pearson-effective` for clusters of several trials: `binomial_limits` with the effective number of trials
      p (1 - p) / v (z / t)^2; v is `ratio_variance`, t Student's quantile with the degrees of `design_degrees`.
    * `bentkus-clusters` where fewer clusters vary than a variance can rest on (`few_events`): `bentkus_upper_limit` of
      the cluster's sums over the size of the largest cluster, at either side. It holds for any number of clusters whose
      size says nothing about their rate, and is wide where their sizes differ much.

    Args:
        numerators: sum of the scores of each cluster, shape (K,); a trial scores from 0 to 1.
        denominators: number of trials of each cluster, shape (K,), all > 0.
        level: alpha is half of what it lacks to 1.

    Returns:
        The proportion with its two limits; flag `empty` without clusters.
    """
    z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    top, n = (float(number) for number in sums.total)
    value, clusters = min(top / n, 1.0), len(sums)
    low, high, method = _limits(sums, value, (1 - level) / 2)
    return enclose(value, low, high, method=method, n=n, clusters=clusters)


def share_difference_limits(
    above: ArrayLike, below: ArrayLike, denominators: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Estimate the difference of two shares of the same trials with one-sided limits.

    Each limit errs in at most (1 - level) / 2 of all samples; the two shares divide that by Bonferroni's inequality:
    L(above) - U(below) and U(above) - L(below), with the limits of `clustered_limits`. They hold where few clusters
    differ or none does, and are wider than necessary elsewhere.

    Args:
        above: sum of the shares that count for, per cluster, shape (K,).
        below: sum of those that count against.
        denominators: number of trials of each cluster, all > 0.
        level: alpha is half of what it lacks to 1.

    Returns:
        The difference with its two limits; flag `empty` without clusters.
    """
    first, second = (clustered_limits(share, denominators, level=(1 + level) / 2) for share in (above, below))
    if None in (ends := (first.value, first.low, first.high, second.value, second.low, second.high)):
        return evolve(first, value=None, low=None, high=None, method="")
    value, low, high, against, least, most = (float(end) for end in ends if end is not None)
    # The method that holds for fewer designs names both.
    method = first.method if second.method == "clopper-pearson" else second.method
    return evolve(first, value=value - against, low=low - most, high=high - least, method=method)


def threshold_items(threshold: float, *, alpha: float = 0.025) -> int:
    """Return the fewest independent items that can show a rate to be above a threshold: all of them right.

    n = ln(alpha) / ln(threshold), rounded up: the exact lower limit of n out of n is alpha^(1/n).

    Args:
        threshold: between 0 and 1; for "at most q" it is 1 - q.
        alpha: error rate of the limit.
    """
    if not 0 < threshold < 1 or not 0 < alpha < 1:
        raise ValueError("the threshold and alpha must be between 0 and 1")
    # Less one rounding: ln(alpha) / ln(threshold) of an exact case may come out just above a whole number.
    return int(np.ceil(np.log(alpha) / np.log(threshold) - _NOISE))


def threshold_power(rate: float, threshold: float, n: int, *, alpha: float = 0.025) -> float:
    """Return the probability that the exact lower limit of n independent trials reaches a threshold.

    Args:
        rate: the true rate, 0 to 1.
        threshold: between 0 and 1.
        n: number of trials.
        alpha: error rate of the limit.
    """
    from scipy.special import bdtr

    fewest = fewest_right(threshold, n, alpha=alpha)
    return 0.0 if fewest is None else float(1 - bdtr(fewest - 1, n, rate)) if fewest else 1.0


def fewest_right(threshold: float, n: int, *, alpha: float = 0.025) -> int | None:
    """Return the fewest successes of n trials whose exact lower limit reaches a threshold; None if n are too few."""
    from scipy.special import betainc

    if threshold_items(threshold, alpha=alpha) > n:
        return None
    right = np.arange(1, n + 1)
    # The limit of x reaches the threshold where x or more are no likelier than alpha at it.
    return int(right[np.argmax(betainc(right, n - right + 1, threshold) <= alpha)])


def _limits(sums: Kinds, value: float, alpha: float) -> tuple[float, float, str]:
    tops, sizes = sums.rows[:, 0], sums.rows[:, 1]
    clusters, n = len(sums), float(sums.total[1])
    if np.all(sizes == 1) and np.all((tops == 0) | (tops == 1)):
        return (*binomial_limits(float(sums.total[0]), clusters, alpha=alpha), "clopper-pearson")
    deviations = tops - value * sizes
    # A variance would rest on few clusters, and its error would come on top of alpha.
    if few_events(effective_degrees(deviations, sums.counts, sizes), clusters):
        # The largest cluster's size makes every cluster's sum a score from 0 to 1.
        largest = float(sizes.max())
        heavier = clusters * largest / n
        ends = (
            min(1.0, heavier * bentkus_upper_limit(float(total) / largest, clusters, alpha=alpha))
            for total in (n - float(sums.total[0]), float(sums.total[0]))
        )
        below, high = ends
        return 1 - below, high, "bentkus-clusters"
    variance = ratio_variance(tops, sizes, sums.counts)
    degrees = design_degrees(deviations * clusters / n, value, sums.counts)
    level = 1 - 2 * alpha
    shrunk = (z_quantile(level) / t_quantile(level, degrees)) ** 2
    # Korn and Graubard (1998): fewer trials where the variance itself rests on few clusters.
    effective = value * (1 - value) / variance * shrunk
    return (*binomial_limits(value * effective, effective, alpha=alpha), "clopper-pearson-effective")
