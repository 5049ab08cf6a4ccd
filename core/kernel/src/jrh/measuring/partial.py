"""Measures that are known up to what the missing verdicts would have been, and measures turned around."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from attrs import evolve
from jrh_stats import Estimate, cluster_sums, imbens_manski_quantile, ratio_variance
from numpy.typing import NDArray

from jrh.measuring.coded import Codes
from jrh.measuring.flags import BOUNDED, INFORMATIVE_MISSING
from jrh.measuring.scoring import Scores
from jrh.measuring.trials import Trials
from jrh.values.measures import Interval, Measure

Ends: TypeAlias = Callable[[NDArray[np.float64], float], Estimate]
"""From the sum of scores and the number of trials of each cluster, shape (K, 2), and a level, the estimated mean."""


def bounded(measure: Measure, trials: Trials, scores: Scores, rows: Codes, ends: Ends) -> Measure:
    """Return a measure with Imbens and Manski's interval where its verdicts are not missing at random.

    The interval reaches from the lower end of the mean with every missing verdict at its worst to the upper end of that
    with every one at its best (`jrh_stats.imbens_manski_quantile`): it covers what the mean would be without missing
    verdicts, whatever they would have been. Elsewhere the measure stays as it is.
    """
    if (
        INFORMATIVE_MISSING not in measure.flags
        or measure.estimate is None
        or scores.low is None
        or scores.high is None
    ):
        return measure
    level = 0.95 if measure.interval is None else measure.interval.level
    ones, cluster = np.ones(len(rows)), trials.cluster.codes[rows]
    sides = [cluster_sums(cluster, side[rows], ones) for side in (scores.low, scores.high)]
    means = [float(side[:, 0].sum() / side[:, 1].sum()) for side in sides]
    error = max(float(np.sqrt(ratio_variance(side[:, 0], side[:, 1]))) for side in sides)
    reach = imbens_manski_quantile(max(means[1] - means[0], 0.0), error, level=level)
    one_sided = 2 * NormalDist().cdf(reach) - 1
    low, high = ends(sides[0], one_sided).low, ends(sides[1], one_sided).high
    if low is None or high is None:
        return measure
    interval = Interval(low=min(low, measure.estimate), high=max(high, measure.estimate), level=level, method=BOUNDED)
    return evolve(measure, interval=interval, bounds=(means[0], means[1]))


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
