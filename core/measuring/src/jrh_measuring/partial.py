"""Measures that are known up to what the missing verdicts would have been, and measures turned around."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve
from jrh.values.measures import Interval, Measure
from jrh_stats import Bounds, Estimate, cluster_sums, imbens_manski_quantile, ratio_variance
from numpy.typing import NDArray

from jrh_measuring.coded import Codes
from jrh_measuring.flags import BOUNDED, INFORMATIVE_MISSING, SENSITIVE_TO_MISSING, UNTESTABLE_MISSING
from jrh_measuring.missing_reasons import is_untestable
from jrh_measuring.scoring import Scores
from jrh_measuring.trials import Trials

Ends: TypeAlias = Callable[[NDArray[np.float64], float], Estimate]
"""From the sum of scores and the number of trials of each cluster, shape (K, 2), and a level, the estimated mean."""

_ODDS: Final = 10.0
"""How many times as readily wrong verdicts may be lost as right ones, or the reverse."""
_SWAY: Final = 0.2
"""An interval that is off by this share of its half width covers 93% instead of 95%."""


def bounded(measure: Measure, trials: Trials, scores: Scores, rows: Codes, ends: Ends) -> Measure:
    """Return a measure with Imbens and Manski's interval where its verdicts are not, or may not be, missing at random.

    The interval reaches from the lower end of the mean with every missing verdict at its worst to the upper end of that
    with every one at its best (`jrh_stats.imbens_manski_quantile`): it covers what the mean would be without missing
    verdicts, whatever they would have been. So it is where a test has found what the missing verdicts depend on, and
    where no test can (`is_untestable`) and they might sway the estimate. Elsewhere the measure stays as it is.
    """
    untestable = INFORMATIVE_MISSING not in measure.flags and is_untestable(trials, rows) and is_swayed(measure)
    if (
        not (untestable or INFORMATIVE_MISSING in measure.flags)
        or measure.estimate is None
        or (ends_of := scores.sides(rows)) is None
    ):
        return measure
    level = 0.95 if measure.interval is None else measure.interval.level
    ones, cluster = np.ones(len(rows)), trials.cluster.codes[rows]
    sides = [cluster_sums(cluster, side, ones) for side in ends_of]
    if len(sides[0]) == 1:  # a single cluster tells no variance
        return measure
    means = [float(side[:, 0].sum() / side[:, 1].sum()) for side in sides]
    error = max(float(np.sqrt(ratio_variance(side[:, 0], side[:, 1]))) for side in sides)
    reach = imbens_manski_quantile(max(means[1] - means[0], 0.0), error, level=level)
    one_sided = 2 * NormalDist().cdf(reach) - 1
    low, high = ends(sides[0], one_sided).low, ends(sides[1], one_sided).high
    if low is None or high is None:
        return measure
    interval = Interval(low=min(low, measure.estimate), high=max(high, measure.estimate), level=level, method=BOUNDED)
    flags = (*measure.flags, UNTESTABLE_MISSING) if untestable else measure.flags
    return evolve(measure, interval=interval, bounds=(means[0], means[1]), flags=flags)


def within_bounds(
    measure: Measure,
    bounds: Bounds | None,
    *,
    untestable: bool = False,
    limits: tuple[float, float] = (-1.0, 1.0),
) -> Measure:
    """Return a measure with the bounds of its coefficient, and their interval where verdicts are missing for a reason.

    Bounds and interval are widened to hold the estimate, which rests on the verdicts that are there.

    Args:
        measure: with the interval of the verdicts that are there.
        bounds: what `jrh_stats` found.
        untestable: `is_untestable` of its trials: the bounds' interval is taken where they might sway the estimate.
        limits: the least and the greatest value that it can have.
    """
    value = measure.estimate
    if bounds is None or value is None:
        return measure
    told = evolve(measure, bounds=(min(bounds.low, value), max(bounds.high, value)))
    untestable = untestable and INFORMATIVE_MISSING not in measure.flags and is_swayed(told, limits)
    if not (untestable or INFORMATIVE_MISSING in measure.flags) or bounds.interval is None:
        return told
    if untestable:
        told = evolve(told, flags=(*told.flags, UNTESTABLE_MISSING))
    level = 0.95 if measure.interval is None else measure.interval.level
    low, high = bounds.interval
    return evolve(told, interval=Interval(low=min(low, value), high=max(high, value), level=level, method=BOUNDED))


def sensitive(measure: Measure, limits: tuple[float, float] = (0.0, 1.0)) -> Measure:
    """Flag a measure whose interval would not hold if its verdicts were missing for a reason that nothing shows.

    With a share u of right verdicts among those that are there, and wrong ones lost with ten times the odds of right
    ones, 1 / (10 (1 - u) + u) of u is left among the lost. The estimate is then off by 1 less that, times its distance
    from the lower bound; for right ones lost more readily likewise upwards. Where either is more than a fifth of the
    interval's half width, the interval covers less than 93% of the time. The flag follows from how many verdicts are
    missing, not from a test that may miss a dependence; `informative-missing` stands where a test has found one.

    Args:
        measure: with its bounds.
        limits: the least and the greatest value that it can have.
    """
    if {INFORMATIVE_MISSING, UNTESTABLE_MISSING}.intersection(measure.flags) or not is_swayed(measure, limits):
        return measure
    return evolve(measure, flags=(*measure.flags, SENSITIVE_TO_MISSING))


def is_swayed(measure: Measure, limits: tuple[float, float] = (0.0, 1.0)) -> bool:
    """Tell whether missing verdicts could shift an estimate by a fifth of its interval's half width (`sensitive`)."""
    value, interval, bounds = measure.estimate, measure.interval, measure.bounds
    if value is None or interval is None or bounds is None:
        return False
    share = min(max((value - limits[0]) / (limits[1] - limits[0]), 0.0), 1.0)
    down = (value - bounds[0]) * (1 - 1 / (_ODDS * (1 - share) + share))
    up = (bounds[1] - value) * (1 - 1 / (_ODDS * share + 1 - share))
    return max(down, up) > _SWAY * (interval.high - interval.low) / 2


def mirrored(measure: Measure, name: str) -> Measure:
    """Return 1 - a proportion, with the mirrored interval and bounds."""
    interval, bounds = measure.interval, measure.bounds
    return evolve(
        measure,
        name=name,
        estimate=None if measure.estimate is None else 1 - measure.estimate,
        interval=None if interval is None else evolve(interval, low=1 - interval.high, high=1 - interval.low),
        bounds=None if bounds is None else (1 - bounds[1], 1 - bounds[0]),
    )
