"""Compute quantiles of the normal and of Student's t distribution, and Wilson's score interval for a proportion."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, nan, pi
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats


def z_quantile(level: float) -> float:
    """Return the standard normal quantile of a two-sided interval: 1.96 for 0.95.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval must be between 0 and 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(successes: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Compute Wilson's score interval, without continuity correction, elementwise.

    With p = successes / n and z the normal quantile, the ends are the two solutions q of
    (p - q)^2 = z^2 q (1 - q) / n:

        (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Source: Wilson (1927), JASA 22:209-212; recommended for small n and for p near 0 and 1 by Brown, Cai and DasGupta
    (2001), Statistical Science 16:101-133.

    Args:
        successes: number of successes, any shape. Fractions are allowed: a trial may score anything from 0 to 1, and
            the interval is then conservative, since no variable on [0, 1] has a greater variance than p (1 - p).
        n: number of independent trials, broadcast against `successes`.
        level: coverage.

    Returns:
        Lower and upper ends as proportions, in the broadcast shape; [0, 1] where n is 0.

    Raises:
        ValueError: a count is negative, there are more successes than trials, or the level is not between 0 and 1.
    """
    hits, trials = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64))
    slack = 1e-9 * np.maximum(trials, 1.0)  # sums of thirds may exceed their count by rounding
    if not np.all((hits >= 0) & (hits <= trials + slack)):
        raise ValueError("successes must be between 0 and n")
    return score_interval(
        np.minimum(hits, trials) / np.maximum(trials, np.finfo(float).tiny), trials, z_quantile(level)
    )


def score_interval(p: ArrayLike, n: ArrayLike, quantile: ArrayLike) -> tuple[Floats, Floats]:
    """Compute the score interval of proportions for any number of trials, also a fractional effective one.

    Args:
        p: proportions in [0, 1].
        n: numbers of trials, 0 or more.
        quantile: how many standard errors the interval reaches to each side.

    Returns:
        Lower and upper ends within [0, 1], which always enclose p.
    """
    share, trials = np.asarray(p, dtype=np.float64), np.asarray(n, dtype=np.float64)
    squared = np.square(np.asarray(quantile, dtype=np.float64))
    # Both sides are multiplied by n, which leaves n = 0 well defined: the whole of [0, 1].
    centre = (share * trials + squared / 2) / (trials + squared)
    half = np.sqrt(squared * (share * (1 - share) * trials + squared / 4)) / (trials + squared)
    low = np.clip(np.minimum(centre - half, share), 0.0, 1.0)
    high = np.clip(np.maximum(centre + half, share), 0.0, 1.0)
    # At p = 0 and p = 1 one end is p exactly; rounding must not move it.
    return np.where(share <= 0, 0.0, low), np.where(share >= 1, 1.0, high)


_MANY: Final = 1000.0
"""With more degrees of freedom the series is exact to the last digits but one."""
_TINY: Final = 1e-300
_CLOSE: Final = 1e-13
_STEPS: Final = 200
_MANY_OBSERVATIONS: Final = 3000
_LARGEST_ODDS: Final = 700.0
"""Logarithm of odds that a floating-point number can still tell from 0."""


# Cached, because a report asks for the same few quantiles many times, and every one takes a search.
@lru_cache(maxsize=4096)
def t_quantile(level: float, degrees: float) -> float:
    """Return the two-sided quantile of Student's t: 2.26 for 0.95 and 9 degrees of freedom.

    From 1000 degrees of freedom on, the Cornish-Fisher series of Abramowitz and Stegun (1964), 26.7.5; below, Newton's
    method on the distribution function, which is a regularised incomplete beta function (26.7.1), computed by its
    continued fraction (26.5.8). NaN where the degrees are not positive.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    normal = z_quantile(level)
    if not degrees > 0:
        return nan
    return _series(normal, degrees) if degrees >= _MANY else _solve_quantile(level, normal, degrees)


def t_tail(t: float, degrees: float) -> float:
    """Return P(|T| > t) of Student's t: 0.05 for 2.26 and 9 degrees of freedom; 1 where t is 0 or less."""
    if t <= 0:
        return 1.0
    return 2 * NormalDist().cdf(-t) if degrees >= _MANY else _beyond(t, degrees)


def _series(z: float, degrees: float) -> float:
    if degrees == inf:
        return z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _solve_quantile(level: float, start: float, degrees: float) -> float:
    """Find t with P(|T| > t) = 1 - level by Newton's method on log t, within a bracket that halves where it fails."""
    # On the logarithm of t, where the tail is nearly a straight line for few degrees of freedom.
    low, place, high = log(start), log(max(_series(start, degrees), start)), inf
    for _ in range(_STEPS):
        t = exp(place)
        error = _beyond(t, degrees) - (1 - level)
        low, high = (place, high) if error > 0 else (low, place)
        moved = place + error / (2 * t * _density(t, degrees))
        if not low <= moved <= high:
            moved = (low + high) / 2 if high < inf else place + 1.0
        if abs(moved - place) <= _CLOSE:
            break
        place = moved
    return exp(moved)


def t_beyond(t: float, degrees: float) -> float:
    """Return the two-sided p-value of a t statistic: 0.05 for 2.26 and 9 degrees of freedom; `t_quantile` inverted."""
    return min(max(_beyond(abs(t), degrees), 0.0), 1.0) if t else 1.0


def _density(t: float, degrees: float) -> float:
    scale = lgamma((degrees + 1) / 2) - lgamma(degrees / 2) - 0.5 * log(degrees * pi)
    return exp(scale - (degrees + 1) / 2 * log(1 + t * t / degrees))


def _beyond(t: float, degrees: float) -> float:
    """Return P(|T| > t) = I_x(v / 2, 1 / 2) with x = v / (v + t^2)."""
    return _beta_below(degrees / (degrees + t * t), t * t / (degrees + t * t), degrees / 2, 0.5)


# Cached for the same reason as `t_quantile`.
@lru_cache(maxsize=4096)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of a beta distribution: 0.478 for 0.025, 5 and 1.

    Newton's method on the log-odds of x, within a bracket that halves where it fails. SciPy has the same; importing it
    takes longer than a whole `jrh check`. From 3,000 observations on, where the continued fraction takes long, it is
    SciPy's.

    Args:
        probability: between 0 and 1.
        a: first parameter, positive.
        b: second parameter, positive.
    """
    if a + b > _MANY_OBSERVATIONS:
        from jrh_stats.special import betaincinv

        return float(betaincinv(a, b, probability))
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    low, place, high = -_LARGEST_ODDS, log(a / b), _LARGEST_ODDS
    for _ in range(_STEPS):
        x, complement = 1 / (1 + exp(-place)), 1 / (1 + exp(place))
        error = _beta_below(x, complement, a, b) - probability
        low, high = (place, high) if error < 0 else (low, place)
        slope = exp(scale + a * log(x) + b * log(complement))
        moved = place - error / slope if slope > _TINY else low
        if not low < moved < high:
            moved = (low + high) / 2
        if abs(moved - place) <= _CLOSE:
            break
        place = moved
    return 1 / (1 + exp(-moved))


def _beta_below(x: float, complement: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); `complement` is 1 - x, which x near 1 has lost."""
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(complement))
    # The continued fraction converges fast on one side of the mean; the other is its mirror image.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, complement) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function by Lentz's method."""
    value = d = 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1))
    c = 1.0
    for m in range(1, 10_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _nonzero(1.0 + factor * d)
            c = _nonzero(1.0 + factor / c)
            value *= d * c
        if abs(d * c - 1.0) < _CLOSE:
            break
    return value


def _nonzero(number: float) -> float:
    # Lentz's method divides by partial results, which may be 0 by chance.
    return number if abs(number) > _TINY else _TINY
