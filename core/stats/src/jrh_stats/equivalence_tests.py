"""Test for equivalence within a declared margin; score test of a mean difference and its interval."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import inf
from statistics import NormalDist
from typing import Final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.clusters import Kinds, cluster_sums, ratio_kinds
from jrh_stats.degrees import FEW_EVENTS
from jrh_stats.estimate import Estimate
from jrh_stats.excess import excess_disagreement
from jrh_stats.excess_null import takes_part
from jrh_stats.mean import clustered_difference
from jrh_stats.one_sided import binomial_limits
from jrh_stats.score_intervals import t_quantile, z_quantile
from jrh_stats.stepwise import interval_p

_STEPS: Final = 80
_CLOSE: Final = 1e-11
_NO_VARIANCE: Final = 1e-14


def score_difference(
    numerators: ArrayLike, denominators: ArrayLike, *, span: float = 1.0, level: float = 0.95
) -> tuple[float, float]:
    """Return the score limits of a mean difference: all values that the score test does not reject.

    With d_k the difference of cluster k, relative to the mean weight, the test of the mean delta has the statistic
    (d - delta) / sqrt(v(delta) / K): v is the variance of the distribution that is most likely among those with the
    mean delta on the values observed and the two ends of the scale. Its probabilities are

        p_k = 1 / (K (1 + lambda (d_k - delta))),

    lambda such that their mean is delta; where no lambda does that, the end that was not observed has the rest. For one
    pair of answers of 0 or 1 per cluster these are Tango's limits, and where no pair differs they are -+ z^2 / (K +
    z^2), Wilson's. A t interval is too short there: pairs that differ in one direction vary too little in the sample.

    Source: Tango (1998), Statistics in Medicine 17:891-908, for pairs; equivalence: Liu, Hsueh, Hsieh and Chen (2002),
    Statistics in Medicine 21:231-245; most likely distribution: Owen (2001), Empirical Likelihood (the last two not
    consulted).

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        span: the largest difference that two scores can have.
        level: coverage.

    Returns:
        Lower and upper limit in the unit of the scores.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or there is no cluster.
    """
    quantile = z_quantile(level)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        raise ValueError("limits need at least one cluster")
    top, bottom, shares = _relative_sums(sums, span)
    reach = quantile / len(sums) ** 0.5
    # The lower limit is the upper one of the mirrored differences.
    lower = -_limit(-top, bottom, shares, reach)
    return span * lower, span * _limit(top, bottom, shares, reach)


def score_p_value(
    numerators: ArrayLike, denominators: ArrayLike, *, mean: float, degrees: float, span: float = 1.0
) -> float:
    """Return the one-sided p-value of the score test of means of `mean` or less; small where the data are above it.

    The statistic is that of `score_difference`, its distribution Student's.

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        mean: the largest mean of the hypothesis, within the span.
        degrees: degrees of freedom.
        span: the largest difference that two scores can have.
    """
    from jrh_stats.special import stdtr

    sums = ratio_kinds(numerators, denominators)
    top, bottom, shares = _relative_sums(sums, span)
    distance = _distance(-top, bottom, shares, -mean / span)
    return float(stdtr(degrees, -distance * np.sqrt(len(sums))))


def _relative_sums(sums: Kinds, span: float) -> tuple[Floats, Floats, Floats]:
    """Return differences and weights of kinds of clusters, relative to span and mean weight, and their shares."""
    mean = float(sums.total[1]) / len(sums)
    return sums.rows[:, 0] / (span * mean), sums.rows[:, 1] / mean, sums.counts / len(sums)


def _limit(top: Floats, bottom: Floats, shares: Floats, reach: float) -> float:
    """Return the largest mean that is not rejected, of differences from -1 to 1."""
    value = float(shares @ top)
    if value >= 1 - _NO_VARIANCE or _distance(top, bottom, shares, 1.0) <= reach:
        return 1.0
    return _root(lambda mean: reach - _distance(top, bottom, shares, mean), value, 1.0)


def _distance(top: Floats, bottom: Floats, shares: Floats, mean: float) -> float:
    """Return by how many standard deviations of the hypothesis the data lie below its mean; negative above."""
    # mean m - d: how far a cluster lies below the mean of the hypothesis, whatever its weight.
    below, gap = mean * bottom - top, mean - float(shares @ top)
    variance = _variance(below, shares, 1 - mean) if gap > 0 else float(shares @ np.square(below))
    return gap / float(np.sqrt(variance)) if variance > _NO_VARIANCE else inf * np.sign(gap) if gap else 0.0


def _variance(below: Floats, shares: Floats, end: float) -> float:
    """Return the variance of the most likely distribution of deviations with the mean 0.

    Args:
        below: by how much the observed values lie below the mean, with a mean above 0, shape (k,).
        shares: their shares of the clusters, shape (k,).
        end: by how much the end of the scale lies above the mean.
    """
    # The probabilities are shares / (1 + factor below): the larger the factor, the larger those of values above.
    largest = (1 - _NO_VARIANCE) / max(end, float(-below.min()), _NO_VARIANCE)

    def mean(factor: float) -> float:
        return float(shares @ (below / (1 + factor * below)))

    factor = largest if mean(largest) >= 0 else _root(mean, 0.0, largest)
    weights = shares / (1 + factor * below)
    remainder = max(1 - float(weights.sum()), 0.0)
    return float(weights @ np.square(below)) + remainder * end**2


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function that is positive at `low` and negative at `high` crosses 0: halving and chords in turn."""
    above, beneath = function(low), function(high)
    for step in range(_STEPS):
        # Chords are fast where the function is nearly straight; halving in between keeps a bad chord from stalling.
        usable = step % 2 and np.isfinite(above) and np.isfinite(beneath)
        middle = (low * beneath - high * above) / (beneath - above) if usable else (low + high) / 2
        # A chord often lands on the root to the last digit: a step to either side closes the bracket at once.
        for point in (middle, middle + _CLOSE, middle - _CLOSE) if usable else (middle,):
            if not low < point < high:
                continue
            at_point = function(point)
            if at_point > 0:
                low, above = point, at_point
            else:
                high, beneath = point, at_point
        if high - low <= 4 * _CLOSE:
            break
    return (low + high) / 2


_NOISE = 1e-12
_UNSURE = frozenset({FEW_EVENTS, "few-clusters"})


class Answer(Enum):
    """The possible answers of a test of equivalence."""

    EQUIVALENT = "equivalent"
    """The difference is smaller than the margin."""
    DIFFERENT = "different"
    """The difference is larger than the margin."""
    UNDECIDED = "undecided"
    """The data do not say."""


@frozen(kw_only=True)
class Equivalence:
    """The result of a test of equivalence."""

    answer: Answer
    difference: Estimate
    """The difference with its interval of coverage 1 - 2 alpha, which decides."""
    p_equivalent: float | None
    """p-value of the claim: `equivalent` is found exactly where it is below alpha. None where nothing can be found."""
    margin: float


def equivalence(
    numerators: ArrayLike, denominators: ArrayLike, *, margin: float, alpha: float = 0.05, span: float = 1.0
) -> Equivalence:
    """Test whether a mean difference is within a declared margin, by two one-sided score tests (TOST).

    The tests of d <= -margin and of d >= margin take the variance that the margin implies (`score_difference`), not
    that of the sample: where all changes have one direction, a sample with few of them by luck has little variance,
    too. Both reject at alpha exactly if the score limits of coverage 1 - 2 alpha, with Student's t for K - 1 degrees of
    freedom, lie within the margin: `equivalent`. If they lie wholly outside: `different`. Otherwise: `undecided`.

    Where few clusters differ (flag `few-events`) no approximation is trusted. `equivalent` then also needs the exact
    bound of `rare_change_bound` on the share of clusters that change at all, which no mean difference can exceed; the
    interval is that bound, method `exact-changed-clusters`, and the flag is dropped. The p-value is then that of the
    bound, P(as few clusters change, or fewer, if the margin is all that they do): exact at any level, also at the small
    ones of a family of tests, where Student's tail is too heavy (0.014 for 94 clusters without a change; exact 0.008).

    Source: two one-sided tests: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680; score
    tests of paired proportions: Tango (1998), Statistics in Medicine 17:891-908.

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        margin: the largest difference that does not matter, > 0; declared before looking at the data.
        alpha: error rate of each one-sided test.
        span: the largest difference that two scores can have.

    Returns:
        The answer; `undecided` with fewer than two clusters.

    Raises:
        ValueError: the margin is not positive, alpha is not between 0 and 0.5, or the sums are not usable.
    """
    _check(margin, alpha)
    level = 1 - 2 * alpha
    estimate = clustered_difference(numerators, denominators, span=span, level=level)
    clusters = estimate.clusters
    if estimate.value is None or clusters <= 1:
        return Equivalence(answer=Answer.UNDECIDED, difference=estimate, p_equivalent=None, margin=margin)
    sums = np.stack([np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)], axis=1)
    # The level of the normal interval that reaches as far as Student's.
    reach = 2 * NormalDist().cdf(t_quantile(level, clusters - 1)) - 1
    low, high = score_difference(sums[:, 0], sums[:, 1], span=span, level=reach)
    interval = evolve(estimate, low=min(low, estimate.value), high=max(high, estimate.value), method="restricted-score")
    p = None
    # No difference exceeds the span, so that a wider margin leaves no hypothesis to reject.
    if margin < span:
        p = max(
            score_p_value(sign * sums[:, 0], sums[:, 1], mean=-margin, degrees=clusters - 1, span=span)
            for sign in (1, -1)
        )
    answer, interval = _exact(_answer(interval, margin), interval, _rare_change(sums, alpha, span), margin)
    if p is not None and _UNSURE & set(estimate.flags):
        p = _exact_p(p, _rare_change_p(sums, margin, span), answer)
    return Equivalence(answer=answer, difference=interval, p_equivalent=p, margin=margin)


def excess_equivalence(
    counts: ArrayLike, clusters: ArrayLike | None = None, *, margin: float, alpha: float = 0.05
) -> Equivalence:
    """Test whether conditions change verdicts by no more than a margin beyond reruns.

    `equivalent` if the interval of `excess_disagreement` of coverage 1 - 2 alpha lies within the margin; where it rests
    on few clusters (flags `few-events`, `few-clusters`) also the exact bound on the share of clusters with an item
    whose answers are not all equal, which the excess cannot exceed. `different` if the interval lies beyond the margin.

    Args:
        counts: as for `excess_disagreement`.
        clusters: as for `excess_disagreement`.
        margin: the largest excess that does not matter, > 0; declared before looking at the data.
        alpha: error rate of each one-sided test.

    Returns:
        The answer with the excess; its p-value is read off the interval (`interval_p`), or that of the exact bound
        where this is needed. `undecided` with fewer than two clusters.

    Raises:
        ValueError: the margin or alpha is out of range, or `counts` is not usable.
    """
    _check(margin, alpha)
    excess = excess_disagreement(counts, clusters, level=1 - 2 * alpha).excess
    if excess.value is None or excess.clusters <= 1:
        return Equivalence(answer=Answer.UNDECIDED, difference=excess, p_equivalent=None, margin=margin)
    table = np.asarray(counts, dtype=np.float64)
    conditions = takes_part(table.sum(axis=2)).sum(axis=1).astype(np.float64)
    takes = np.flatnonzero(conditions)
    mixed = ((table[takes].sum(axis=1) > 0).sum(axis=1) > 1).astype(np.float64)
    of = takes if clusters is None else np.asarray(clusters)[takes]
    pairs = cluster_sums(of, mixed, conditions[takes])
    answer, bounded = _exact(_answer(excess, margin), excess, _rare_change(pairs, alpha, 1.0), margin)
    p = _read_off(excess, margin, level=1 - 2 * alpha)
    if p is not None and _UNSURE & set(excess.flags):
        p = _exact_p(p, _rare_change_p(pairs, margin, 1.0), answer)
    return Equivalence(answer=answer, difference=bounded, p_equivalent=p, margin=margin)


def rare_change_bound(changed: int, clusters: int, *, alpha: float = 0.05) -> float:
    """Return the exact one-sided upper bound on the share of clusters that change, given how many do.

    The p at which `changed` or fewer of `clusters` have the probability alpha: a quantile of the beta distribution with
    `changed` + 1 and `clusters` - `changed` degrees. For none of n it is 1 - alpha^(1/n), about 3 / n.

    Source: Clopper and Pearson (1934), Biometrika 26:404-413.

    Args:
        changed: clusters that change, from 0 to `clusters`.
        clusters: clusters in total, 1 or more.
        alpha: error rate.
    """
    if not 0 <= changed <= clusters or clusters < 1:
        raise ValueError(f"{changed} of {clusters} clusters cannot change")
    return binomial_limits(changed, clusters, alpha=alpha)[1]


def items_to_rule_out(share: float, *, alpha: float = 0.05) -> int:
    """Return the fewest clusters that, if none of them changes, rule out that a share of them does.

    n = ln(alpha) / ln(1 - share), rounded up, where `rare_change_bound` of none falls to the share: about 3 / share.

    Args:
        share: between 0 and 1.
        alpha: error rate.
    """
    if not 0 < share < 1 or not 0 < alpha < 1:
        raise ValueError("the share and alpha must be between 0 and 1")
    return int(np.ceil(np.log(alpha) / np.log1p(-share)))


def _rare_change(pairs: Floats, alpha: float, span: float) -> float:
    """Bound a mean difference by the share of clusters that differ from 0, at the weight of the heaviest cluster."""
    changed = int((np.abs(pairs[:, 0]) > _NOISE).sum())
    # A changed cluster may weigh as much as the heaviest: the bound holds for the mean of any weights.
    heaviest = float(pairs[:, 1].max() / pairs[:, 1].mean())
    return span * min(1.0, heaviest * rare_change_bound(changed, len(pairs), alpha=alpha))


def _rare_change_p(pairs: Floats, margin: float, span: float) -> float:
    """Return the p-value of the exact bound: so few clusters change, or fewer, if the margin is all that they do."""
    from jrh_stats.special import bdtr

    changed = int((np.abs(pairs[:, 0]) > _NOISE).sum())
    heaviest = float(pairs[:, 1].max() / pairs[:, 1].mean())
    return float(bdtr(changed, len(pairs), min(margin / (span * heaviest), 1.0)))


def _read_off(estimate: Estimate, margin: float, *, level: float) -> float | None:
    """Return the larger of the two one-sided p-values that an interval implies."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    if abs(estimate.value) >= margin:
        return 1.0
    degrees = None if estimate.clusters < 2 else estimate.clusters - 1  # noqa: PLR2004 - one cluster has no degree
    return max(
        interval_p(estimate.value, estimate.low, estimate.high, end, level=level, degrees=degrees) / 2
        for end in (-margin, margin)
    )


def _exact_p(approximate: float, exact: float, answer: Answer) -> float:
    """Return the exact p-value of an equivalence that is found, which needs both; otherwise the larger one."""
    return exact if answer is Answer.EQUIVALENT else max(approximate, exact)


def _exact(answer: Answer, estimate: Estimate, bound: float, margin: float) -> tuple[Answer, Estimate]:
    """Let the exact bound decide on equivalence where few clusters vary."""
    if answer is not Answer.EQUIVALENT or not _UNSURE & set(estimate.flags):
        return answer, estimate
    if bound >= margin:
        return Answer.UNDECIDED, estimate
    flags = tuple(flag for flag in estimate.flags if flag not in _UNSURE)
    return answer, evolve(estimate, low=-bound, high=bound, method="exact-changed-clusters", flags=flags)


def _check(margin: float, alpha: float) -> None:
    if not margin > 0:
        raise ValueError(f"the margin must be greater than 0, got {margin}")
    if not 0 < alpha < 1 / 2:
        raise ValueError(f"alpha must be between 0 and 0.5, got {alpha}")


def _answer(interval: Estimate, margin: float) -> Answer:
    if interval.low is None or interval.high is None:
        return Answer.UNDECIDED
    if -margin < interval.low and interval.high < margin:
        return Answer.EQUIVALENT
    if interval.low > margin or interval.high < -margin:
        return Answer.DIFFERENT
    return Answer.UNDECIDED
