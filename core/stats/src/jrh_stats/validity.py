"""Correct the failure rate of a judge for perturbed cases that are themselves invalid."""

from __future__ import annotations

from math import exp, log
from typing import Final

from attrs import frozen

from jrh_stats.estimate import Estimate
from jrh_stats.wilson import wilson, z_quantile

_ENDS: Final = 3
"""Three proportions share the error of the interval where the delta method does not apply."""


@frozen(kw_only=True)
class ValidityBounds:
    """Bounds of the failure rate among the valid cases, given only the share of invalid ones."""

    low: float
    """If every invalid case is among the failures."""
    high: float
    """If every invalid case is among the passes."""
    outer_low: float
    """`low` with both rates at the end of their intervals that makes it smallest."""
    outer_high: float
    """`high` with both rates at the end of their intervals that makes it largest."""
    invalid: Estimate
    """The share of invalid cases."""


def validity_bounds(failures: Estimate, *, invalid: int, reviewed: int, level: float = 0.95) -> ValidityBounds | None:
    """Bound the failure rate among the valid cases from the failure rate of all and the share of invalid ones.

    With p the failure rate and v the share of invalid cases, P(fail | valid) = (p - P(fail, invalid)) / (1 - v),
    and P(fail, invalid) lies between 0 and min(p, v):

        max(0, (p - v) / (1 - v))  to  min(1, p / (1 - v))

    The outer bounds hold with probability `level` at least: each of the two rates gets half of the error (Bonferroni).

    Source: Horowitz and Manski (1995), Econometrica 63:281-302 (contaminated sampling).

    Args:
        failures: failure rate over all cases, with its interval.
        invalid: reviewed cases that turned out to be invalid.
        reviewed: cases reviewed, a random sample of all.
        level: coverage of the outer bounds; the interval of `failures` should have the level (1 + level) / 2.

    Returns:
        The bounds, or None where nothing was reviewed, nothing failed or passed, or all reviewed cases are invalid.

    Raises:
        ValueError: the counts are impossible or the level is not between 0 and 1.
    """
    z_quantile(level)
    if not 0 <= invalid <= reviewed:
        raise ValueError("invalid cases are among the reviewed ones")
    if not reviewed or failures.value is None or failures.low is None or failures.high is None or invalid == reviewed:
        return None
    v_low, v_high = (float(end) for end in wilson(invalid, reviewed, level=(1 + level) / 2))
    share = invalid / reviewed
    p = failures.value
    return ValidityBounds(
        low=_lower(p, share),
        high=_upper(p, share),
        outer_low=_lower(failures.low, v_high),
        outer_high=_upper(failures.high, v_high),
        invalid=Estimate(value=share, low=v_low, high=v_high, method="wilson", n=reviewed, clusters=reviewed),
    )


def _lower(p: float, v: float) -> float:
    return max(0.0, (p - v) / (1 - v)) if v < 1 else 0.0


def _upper(p: float, v: float) -> float:
    return min(1.0, p / (1 - v)) if v < 1 else 1.0


def corrected_failure_rate(
    failures: Estimate,
    *,
    valid_failures: int,
    reviewed_failures: int,
    valid_passes: int,
    reviewed_passes: int,
    level: float = 0.95,
) -> Estimate:
    """Estimate the failure rate among the valid cases, where a sample of failures and of passes was reviewed.

    With a the share of valid cases among the failures, b among the passes, and p the failure rate of all:

        rate = p a / (p a + (1 - p) b),   logit(rate) = logit(p) + log(a) - log(b)

    The interval adds the three distances from estimate to interval end in squares on the logit scale (MOVER), with the
    interval of `failures` and Wilson's intervals of a and b. Where one of them is 0 or p is 0 or 1 there is no logit:
    the ends are then those of the worst combination of the three intervals, Wilson's at a third of the error each
    (method `box`, conservative). The reviews are taken as independent.

    Source: post-stratification by the verdict, as in Begg and Greenes (1983), Biometrics 39:207-215; MOVER: Zou and
    Donner (2008), Statistics in Medicine 27:1693-1702.

    Args:
        failures: failure rate over all cases, with its interval.
        valid_failures: reviewed failures that are valid cases.
        reviewed_failures: failures reviewed, a random sample of the failures.
        valid_passes: reviewed passes that are valid cases.
        reviewed_passes: passes reviewed, a random sample of the passes.
        level: coverage.

    Returns:
        The rate, method `mover-logit` or `box`. Flag `empty` where a side was needed and not reviewed, `degenerate`
        where no reviewed case is valid.

    Raises:
        ValueError: the counts are impossible or the level is not between 0 and 1.
    """
    z_quantile(level)
    if not (0 <= valid_failures <= reviewed_failures and 0 <= valid_passes <= reviewed_passes):
        raise ValueError("valid cases are among the reviewed ones")
    p = failures.value
    if p is None or (p > 0 and not reviewed_failures) or (p < 1 and not reviewed_passes):
        return Estimate(value=None, flags=("empty",), n=failures.n, clusters=failures.clusters)
    a = valid_failures / reviewed_failures if reviewed_failures else 1.0
    b = valid_passes / reviewed_passes if reviewed_passes else 1.0
    below = p * a + (1 - p) * b
    if below <= 0:
        return Estimate(value=None, flags=("degenerate",), n=failures.n, clusters=failures.clusters)
    value = p * a / below
    if failures.low is None or failures.high is None:
        return Estimate(value=value, n=failures.n, clusters=failures.clusters)
    reviews = ((valid_failures, reviewed_failures), (valid_passes, reviewed_passes))
    smooth = 0 < p < 1 and a > 0 and b > 0 and failures.low > 0 and failures.high < 1
    low, high = _mover(failures, reviews, level) if smooth else _box(failures, reviews, level)
    return Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        method="mover-logit" if smooth else "box",
        n=failures.n,
        clusters=failures.clusters,
        flags=() if smooth else ("conservative",),
    )


def _mover(failures: Estimate, reviews: tuple[tuple[int, int], tuple[int, int]], level: float) -> tuple[float, float]:
    p, p_low, p_high = (float(part or 0.0) for part in (failures.value, failures.low, failures.high))
    (a_hits, a_n), (b_hits, b_n) = reviews
    a, b = a_hits / a_n, b_hits / b_n
    a_low, a_high = (float(end) for end in wilson(a_hits, a_n, level=level))
    b_low, b_high = (float(end) for end in wilson(b_hits, b_n, level=level))
    centre = _logit(p) + log(a) - log(b)
    down = (_logit(p) - _logit(p_low), log(a / a_low), log(b_high / b))
    up = (_logit(p_high) - _logit(p), log(a_high / a), log(b / b_low))
    return _expit(centre - sum(part**2 for part in down) ** 0.5), _expit(centre + sum(part**2 for part in up) ** 0.5)


def _box(failures: Estimate, reviews: tuple[tuple[int, int], tuple[int, int]], level: float) -> tuple[float, float]:
    strict = 1 - (1 - level) / _ENDS
    (a_low, a_high), (b_low, b_high) = (
        tuple(float(end) for end in wilson(hits, n, level=strict)) for hits, n in reviews
    )
    return _rate(failures.low or 0.0, a_low, b_high), _rate(failures.high or 0.0, a_high, b_low)


def _rate(p: float, a: float, b: float) -> float:
    below = p * a + (1 - p) * b
    return p * a / below if below > 0 else 0.0


def _logit(p: float) -> float:
    return log(p / (1 - p))


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
