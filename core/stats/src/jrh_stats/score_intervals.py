"""Compute Wilson's score interval for a proportion."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray


def z_quantile(level: float) -> float:
    """Return the standard normal quantile of a two-sided interval: 1.96 for 0.95.

    Raises:
        ValueError: the level is not between 0 and 1.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of an interval must be between 0 and 1, got {level}")
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(
    successes: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def score_interval(p: ArrayLike, n: ArrayLike, quantile: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
