"""Compute power, minimum detectable effect, and the items that a target precision needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from jrh_stats.score_intervals import wilson, z_quantile
from jrh_stats.student import t_quantile

_MOST: Final = 10**9
_TWO: Final = 2
_PRECISION: Final = 1e-12
"""Of a detectable difference, in standard deviations."""


def design_effect(trials_per_item: float, icc: float) -> float:
    """Return the design effect: how many times more trials a clustered design needs, 1 + (m - 1) icc.

    Source: Kish (1965), Survey Sampling, section 5.4.

    Args:
        trials_per_item: trials m of each item, 1 or more.
        icc: correlation of the scores of two trials of one item, 0 to 1.

    Raises:
        ValueError: an argument is out of its range.
    """
    if trials_per_item < 1 or not 0 <= icc <= 1:
        raise ValueError("there must be 1 or more trials per item, and their correlation must be between 0 and 1")
    return 1 + (trials_per_item - 1) * icc


def paired_power(difference: float, sd: float, items: int, *, alpha: float = 0.05) -> float:
    """Return the power of the two-sided paired t-test, by the noncentral t distribution.

    Args:
        difference: the true mean difference.
        sd: standard deviation of the items' differences, > 0.
        items: number of items, 2 or more.
        alpha: error rate of the test.

    Returns:
        The probability that the test finds the difference.

    Raises:
        ValueError: there are fewer than two items, or the standard deviation is not positive.
    """
    from scipy.special import nctdtr

    if items < _TWO or not sd > 0:
        raise ValueError("power needs at least two items and a standard deviation greater than 0")
    shift = abs(difference) / sd * float(np.sqrt(items))
    critical = t_quantile(1 - alpha, items - 1)
    # Far below the shift the distribution function underflows, to NaN.
    below, above = np.nan_to_num([nctdtr(items - 1, shift, end) for end in (-critical, critical)], nan=0.0)
    return float(1 - above + below)


def smallest_detectable_difference(sd: float, items: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the minimum detectable effect of the paired t-test at the target power.

    Args:
        sd: standard deviation of the items' differences, > 0. For paired rates with a share q of discordant items it is
            at most sqrt(q).
        items: number of items, 2 or more.
        alpha: error rate of the test.
        power: probability of finding the difference, above alpha and below 1.

    Returns:
        A difference in the unit of `sd`.

    Raises:
        ValueError: an argument is out of its range.
    """
    if not alpha < power < 1:
        raise ValueError("the power must be between alpha and 1")
    top = sd
    while paired_power(top, sd, items, alpha=alpha) < power:
        top *= 2
    low, high = 0.0, top
    # Halving: power rises with the difference, and SciPy's root finders take 160 ms to import.
    while high - low > _PRECISION * sd:
        middle = (low + high) / 2
        low, high = (low, middle) if paired_power(middle, sd, items, alpha=alpha) >= power else (middle, high)
    return high


def items_to_detect(difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the fewest items with which the paired t-test detects a difference at the target power.

    Args:
        difference: the difference to find, not 0.
        sd: standard deviation of the items' differences, > 0.
        alpha: error rate of the test.
        power: probability of finding it.

    Raises:
        ValueError: an argument is out of its range, or a thousand million items are too few.
    """
    if difference == 0 or not alpha < power < 1:
        raise ValueError("a difference of 0 is never found, and the power must be between alpha and 1")
    return _fewest(lambda items: paired_power(difference, sd, items, alpha=alpha) >= power)


def items_for_mean(half_width: float, sd: float, *, level: float = 0.95) -> int:
    """Return the fewest items for which the interval of a mean is within ± `half_width`.

    t sd / sqrt(n) <= half_width, with n - 1 degrees of freedom.

    Args:
        half_width: target half-width, in the unit of `sd`.
        sd: standard deviation of the items' means.
        level: coverage.

    Raises:
        ValueError: the precision is not positive, or a thousand million items are too few.
    """
    if not half_width > 0 or sd < 0:
        raise ValueError("the precision must be greater than 0, and the standard deviation at least 0")
    return _fewest(lambda items: t_quantile(level, items - 1) * sd <= half_width * float(np.sqrt(items)))


def items_for_proportion(
    half_width: float, p: float = 0.5, *, trials_per_item: float = 1, icc: float = 0.0, level: float = 0.95
) -> int:
    """Return the fewest items with which Wilson's interval of a rate is at most 2 `half_width` wide.

    The effective number of trials is items x `trials_per_item` / `design_effect`.

    Args:
        half_width: target half-width, between 0 and 0.5.
        p: the rate expected; 0.5 needs the most.
        trials_per_item: trials of each item.
        icc: correlation of the scores of two trials of one item.
        level: coverage.

    Raises:
        ValueError: an argument is out of its range, or a thousand million items are too few.
    """
    if not 0 < half_width < 1 / 2 or not 0 <= p <= 1:
        raise ValueError("the precision must be between 0 and 0.5, and the rate between 0 and 1")
    z_quantile(level)
    worth = trials_per_item / design_effect(trials_per_item, icc)

    def narrow(items: int) -> bool:
        low, high = wilson(p * items * worth, items * worth, level=level)
        return bool(high - low <= 2 * half_width)

    return _fewest(narrow, least=1)


def items_to_decide(
    items: int, half_width: float, effect: float, *, level: float = 0.95, power: float = 0.8, comparisons: int = 1
) -> int:
    """Return about how many items would decide a comparison that these items leave open.

    n' = n (h (z_m + z_p) / (z_l |effect|))^2: the standard error h / z_l of a mean over independent items shrinks with
    the square root of their number, and a difference is found with probability p where it is z_m + z_p standard errors
    from what it is compared with. z_l and z_p are the normal quantiles of the level (two-sided) and the power, z_m that
    of the level 1 - (1 - level) / m for one of m comparisons (Bonferroni).

    It takes the spread and the design (repeats, variants) of today's items for those of the further ones, so it is a
    plan and no promise.

    Source: the sample size of a z-test, for example Lehr (1992), Statistics in Medicine 11:1099-1102.

    Args:
        items: independent units that the interval rests on, 1 or more.
        half_width: half the width of its interval, > 0.
        effect: the distance to tell apart, in the unit of the interval, not 0.
        level: coverage of the interval.
        power: probability of deciding, above 0.5.
        comparisons: number of tests that share the error rate.

    Raises:
        ValueError: an argument is out of its range.
    """
    if items < 1 or not half_width > 0 or effect == 0 or not 1 / 2 < power < 1 or comparisons < 1:
        raise ValueError(
            "items, half-width and comparisons must be positive, the effect not 0, and the power above 0.5"
        )
    reached, wished = z_quantile(level), z_quantile(2 * power - 1)
    tested = z_quantile(1 - (1 - level) / comparisons)
    return int(np.ceil(items * (half_width * (tested + wished) / (reached * effect)) ** 2))


def _fewest(enough: Callable[[int], bool], *, least: int = 2) -> int:
    """Return the smallest number for which `enough` holds, given that it then holds for all larger ones."""
    high = least
    while not enough(high):
        high *= 2
        if high > _MOST:
            raise ValueError("this would need more than a thousand million items")
    low = max(least - 1, high // 2)
    if low < least:
        return high
    if enough(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
