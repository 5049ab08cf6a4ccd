"""Correct the failure rate of a judge for perturbed cases that are themselves invalid."""

from __future__ import annotations

from math import exp, log
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.proportion import clustered_proportion
from jrh_stats.score_intervals import z_quantile

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


def validity_bounds(
    failures: Estimate, *, invalid: ArrayLike, reviewed: ArrayLike, level: float = 0.95
) -> ValidityBounds | None:
    """Bound the failure rate among the valid cases from the failure rate of all and the share of invalid ones.

    With p the failure rate and v the share of invalid cases, P(fail | valid) = (p - P(fail, invalid)) / (1 - v),
    and P(fail, invalid) lies between 0 and min(p, v):

        max(0, (p - v) / (1 - v))  to  min(1, p / (1 - v))

    The outer bounds hold with probability `level` at least: each of the two rates gets half of the error (Bonferroni).

    Source: Horowitz and Manski (1995), Econometrica 63:281-302 (contaminated sampling).

    Args:
        failures: failure rate over all cases, with its interval.
        invalid: reviewed cases that turned out to be invalid, of each cluster, shape (K,); one number where every case
            is a cluster of its own.
        reviewed: cases reviewed, a random sample of all; the same shape.
        level: coverage of the outer bounds; the interval of `failures` should have the level (1 + level) / 2.

    Returns:
        The bounds, or None where nothing was reviewed, nothing failed or passed, or all reviewed cases are invalid.

    Raises:
        ValueError: the counts are impossible or the level is not between 0 and 1.
    """
    z_quantile(level)
    reviews = _Reviews.of(invalid, reviewed, "invalid cases must be among the reviewed ones")
    if not reviews.number or failures.value is None or failures.low is None or failures.high is None:
        return None
    if reviews.share == 1:
        return None
    # Half of the error each for this rate and for that of failures, whose interval the caller makes (Bonferroni).
    estimate = reviews.estimate((1 + level) / 2)
    v_high = 1.0 if estimate.high is None else estimate.high
    share, p = reviews.share, failures.value
    return ValidityBounds(
        low=_lower(p, share),
        high=_upper(p, share),
        outer_low=_lower(failures.low, v_high),
        outer_high=_upper(failures.high, v_high),
        invalid=estimate,
    )


@frozen(kw_only=True, eq=False)
class _Reviews:
    """Reviewed cases by cluster."""

    hits: Floats
    sizes: Floats

    @classmethod
    def of(cls, hits: ArrayLike, sizes: ArrayLike, message: str) -> _Reviews:
        """Check counts per cluster, or two numbers of cases that are each their own; `message` is the error's text."""
        successes, trials = np.asarray(hits, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
        if successes.shape != trials.shape or np.any(successes < 0) or np.any(successes > trials):
            raise ValueError(message)
        if successes.ndim:
            return cls(hits=successes[trials > 0], sizes=trials[trials > 0])
        return cls(hits=(np.arange(int(trials)) < int(successes)).astype(np.float64), sizes=np.ones(int(trials)))

    @property
    def number(self) -> float:
        return float(self.sizes.sum())

    @property
    def share(self) -> float:
        return float(self.hits.sum()) / self.number

    def estimate(self, level: float) -> Estimate:
        """Estimate the share with the interval of `clustered_proportion`; 0 to 1 without reviews."""
        if not self.number:
            return Estimate(value=None, low=0.0, high=1.0)
        return clustered_proportion(self.hits, self.sizes, level=level)

    def ends(self, level: float) -> tuple[float, float]:
        estimate = self.estimate(level)
        return float(estimate.low or 0.0), float(1.0 if estimate.high is None else estimate.high)


def _lower(p: float, v: float) -> float:
    # If all cases may be invalid, nothing is known of valid ones.
    return max(0.0, (p - v) / (1 - v)) if v < 1 else 0.0


def _upper(p: float, v: float) -> float:
    return min(1.0, p / (1 - v)) if v < 1 else 1.0


def corrected_failure_rate(
    failures: Estimate,
    *,
    valid_failures: ArrayLike,
    reviewed_failures: ArrayLike,
    valid_passes: ArrayLike,
    reviewed_passes: ArrayLike,
    level: float = 0.95,
) -> Estimate:
    """Estimate the failure rate among the valid cases, where a sample of failures and of passes was reviewed.

    With a the share of valid cases among the failures, b among the passes, and p the failure rate of all:

        rate = p a / (p a + (1 - p) b),   logit(rate) = logit(p) + log(a) - log(b)

    The interval adds the three distances from estimate to interval end in squares on the logit scale (MOVER), with the
    interval of `failures` and those of a and b by `clustered_proportion`: exact where every reviewed case is a
    cluster of its own. Where one of them is 0 or p is 0 or 1 there is no logit: the ends are then those of the worst
    combination of the three intervals, those of a and b at a third of the error each (method `box`, conservative).

    Source: post-stratification by the verdict, as in Begg and Greenes (1983), Biometrics 39:207-215; MOVER: Zou and
    Donner (2008), Statistics in Medicine 27:1693-1702. Not consulted.

    Args:
        failures: failure rate over all cases, with its interval.
        valid_failures: reviewed failures that are valid cases, of each cluster, shape (K,); one number where every case
            is a cluster of its own. The same of the others.
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
    message = "valid cases must be among the reviewed ones"
    failed, passed = (
        _Reviews.of(*sides, message) for sides in ((valid_failures, reviewed_failures), (valid_passes, reviewed_passes))
    )
    p = failures.value
    if p is None or (p > 0 and not failed.number) or (p < 1 and not passed.number):
        return Estimate(value=None, flags=("empty",), n=failures.n, clusters=failures.clusters)
    # Without failures or passes the other share has the weight 0, whatever it is.
    a = failed.share if failed.number else 1.0
    b = passed.share if passed.number else 1.0
    below = p * a + (1 - p) * b
    if below <= 0:
        return Estimate(value=None, flags=("degenerate",), n=failures.n, clusters=failures.clusters)
    value = p * a / below
    if failures.low is None or failures.high is None:
        return Estimate(value=value, n=failures.n, clusters=failures.clusters)
    smooth = 0 < p < 1 and a > 0 and b > 0 and failures.low > 0 and failures.high < 1
    low, high = (_mover if smooth else _box)(failures, failed, passed, level)
    return enclose(
        value,
        low,
        high,
        method="mover-logit" if smooth else "box",
        n=failures.n,
        clusters=failures.clusters,
        flags=() if smooth else ("conservative",),
    )


def _mover(failures: Estimate, failed: _Reviews, passed: _Reviews, level: float) -> tuple[float, float]:
    p, p_low, p_high = (float(part or 0.0) for part in (failures.value, failures.low, failures.high))
    a, b = failed.share, passed.share
    (a_low, a_high), (b_low, b_high) = failed.ends(level), passed.ends(level)
    # MOVER (Zou and Donner 2008) on the scale on which the three parts add up.
    centre = _logit(p) + log(a) - log(b)
    down = (_logit(p) - _logit(p_low), log(a / a_low), log(b_high / b))
    up = (_logit(p_high) - _logit(p), log(a_high / a), log(b / b_low))
    return _expit(centre - sum(part**2 for part in down) ** 0.5), _expit(centre + sum(part**2 for part in up) ** 0.5)


def _box(failures: Estimate, failed: _Reviews, passed: _Reviews, level: float) -> tuple[float, float]:
    # The ends hold together with the probability `level` (Bonferroni over three proportions).
    strict = 1 - (1 - level) / _ENDS
    (a_low, a_high), (b_low, b_high) = failed.ends(strict), passed.ends(strict)
    return _rate(failures.low or 0.0, a_low, b_high), _rate(failures.high or 0.0, a_high, b_low)


def _rate(p: float, a: float, b: float) -> float:
    below = p * a + (1 - p) * b
    return p * a / below if below > 0 else 0.0


def _logit(p: float) -> float:
    return log(p / (1 - p))


def _expit(x: float) -> float:
    # In two forms, since the exponential of a large number overflows.
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
