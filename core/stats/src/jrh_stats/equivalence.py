"""Test for equivalence within a declared margin: equivalent, different, or undecided."""

from __future__ import annotations

from enum import Enum

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.clusters import ratio_variance
from jrh_stats.estimate import Estimate
from jrh_stats.mean import clustered_difference
from jrh_stats.student import t_quantile

_NOISE = 1e-12


class Answer(Enum):
    """What a test of equivalence can say."""

    EQUIVALENT = "equivalent"
    """The difference is smaller than the margin."""
    DIFFERENT = "different"
    """The difference is larger than the margin."""
    UNDECIDED = "undecided"
    """The data do not say."""


@frozen(kw_only=True)
class Equivalence:
    """What a test of equivalence found."""

    answer: Answer
    difference: Estimate
    """The difference with its interval of coverage 1 - 2 alpha, which decides."""
    p_equivalent: float | None
    """p-value of the two one-sided tests, the larger of the two; None where nothing varies."""
    margin: float


def equivalence(
    numerators: ArrayLike, denominators: ArrayLike, *, margin: float, alpha: float = 0.05, span: float = 1.0
) -> Equivalence:
    """Test whether a mean difference is within a declared margin, by two one-sided t-tests (TOST).

    With d the mean difference, s its cluster-robust standard error (`ratio_variance`) and K - 1 degrees of freedom, the
    tests of d <= -margin and of d >= margin both reject at alpha exactly if the interval d -+ t s of coverage 1 - 2
    alpha lies within the margin: `equivalent`. If it lies wholly outside: `different`. Otherwise: `undecided`.

    If no cluster differs from another there is no standard error; the interval of `clustered_difference` decides
    alone.

    Source: Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680.

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
    from scipy.special import stdtr

    if not margin > 0:
        raise ValueError(f"the margin is a difference greater than 0, got {margin}")
    if not 0 < alpha < 1 / 2:
        raise ValueError(f"alpha lies between 0 and 0.5, got {alpha}")
    level = 1 - 2 * alpha
    found = clustered_difference(numerators, denominators, span=span, level=level)
    clusters = found.clusters
    if found.value is None or clusters <= 1:
        return Equivalence(answer=Answer.UNDECIDED, difference=found, p_equivalent=None, margin=margin)
    # Sorted, because the order of floating-point addition would show in the last digit.
    pairs = np.stack([np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)], axis=1)
    pairs = pairs[np.lexsort(pairs.T)]
    variance = ratio_variance(pairs[:, 0], pairs[:, 1])
    if variance <= _NOISE:
        return Equivalence(answer=_answer(found, margin), difference=found, p_equivalent=None, margin=margin)
    error = float(np.sqrt(variance))
    reach = t_quantile(level, clusters - 1) * error
    interval = Estimate(
        value=found.value,
        low=found.value - reach,
        high=found.value + reach,
        method="cluster-robust-t",
        n=found.n,
        clusters=clusters,
        flags=found.flags,
    )
    nearest = margin - abs(found.value)
    p = float(stdtr(clusters - 1, -nearest / error))
    return Equivalence(answer=_answer(interval, margin), difference=interval, p_equivalent=p, margin=margin)


def _answer(interval: Estimate, margin: float) -> Answer:
    if interval.low is None or interval.high is None:
        return Answer.UNDECIDED
    if -margin < interval.low and interval.high < margin:
        return Answer.EQUIVALENT
    if interval.low > margin or interval.high < -margin:
        return Answer.DIFFERENT
    return Answer.UNDECIDED
