"""Compute exact confidence limits of a rate: each end alone errs at most at its own rate, so that it can decide.

A score interval has its coverage on the two sides together. Near 0 and 1 one side errs up to three times as often as
half of the level says, the other side hardly ever, so that its ends cannot decide whether a rate meets a threshold.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jrh_stats.score_intervals import beta_quantile, z_quantile

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
    if not -_NOISE <= successes <= n + _NOISE or not n > 0 or not 0 < alpha < 1:
        raise ValueError(f"{successes} of {n} trials with alpha {alpha} have no limits")
    # At 0 and n the beta distribution has no such shape; the limits are 0 and 1.
    low = 0.0 if successes <= _NOISE else beta_quantile(alpha, successes, n - successes + 1)
    high = 1.0 if successes >= n - _NOISE else beta_quantile(1 - alpha, successes + 1, n - successes)
    return low, high


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


def items_for_threshold(rate: float, threshold: float, *, alpha: float = 0.025, power: float = 0.8) -> int:
    """Return about how many independent items show on which side of a threshold a rate lies.

    With the distance d of the rate p from the threshold t

        n = ((z_alpha sqrt(t (1 - t)) + z_power sqrt(p (1 - p))) / d)^2 + 1 / d

    where 1 / d is the continuity correction for the exact limit (`threshold_power`).

    Source: Fleiss, Levin and Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., section 2.5. Not
    consulted; checked against `threshold_power`.

    Args:
        rate: the true rate, 0 to 1.
        threshold: between 0 and 1, not the rate.
        alpha: error rate of the limit.
        power: probability that the limit shows it.
    """
    distance = abs(rate - threshold)
    if not 0 <= rate <= 1 or not 0 < threshold < 1 or distance <= _NOISE:
        raise ValueError("rate and threshold must be shares that differ")
    spread, noise = np.sqrt(threshold * (1 - threshold)), np.sqrt(rate * (1 - rate))
    reach = z_quantile(1 - 2 * alpha) * spread + z_quantile(2 * power - 1) * noise
    return int(np.ceil((reach / distance) ** 2 + 1 / distance))


def threshold_power(rate: float, threshold: float, n: int, *, alpha: float = 0.025) -> float:
    """Return the probability that the exact lower limit of n independent trials reaches a threshold.

    Args:
        rate: the true rate, 0 to 1.
        threshold: between 0 and 1.
        n: number of trials.
        alpha: error rate of the limit.
    """
    from jrh_stats.special import bdtr

    fewest = fewest_right(threshold, n, alpha=alpha)
    return 0.0 if fewest is None else float(1 - bdtr(fewest - 1, n, rate)) if fewest else 1.0


def fewest_right(threshold: float, n: int, *, alpha: float = 0.025) -> int | None:
    """Return the fewest successes of n trials whose exact lower limit reaches a threshold; None if n are too few."""
    from jrh_stats.special import betainc

    if threshold_items(threshold, alpha=alpha) > n:
        return None
    right = np.arange(1, n + 1)
    # The limit of x reaches the threshold where x or more are no likelier than alpha at it.
    return int(right[np.argmax(betainc(right, n - right + 1, threshold) <= alpha)])
