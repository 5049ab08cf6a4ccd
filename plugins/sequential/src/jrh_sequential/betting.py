"""Bets on the mean of scores in [0, 1], cluster by cluster: tests and intervals that hold at every look.

Under a mean of at most p, the sum of a cluster less p for each of its trials is expected to be 0 or less. Stakes that
follow from earlier clusters then make a nonnegative supermartingale, which reaches 1 / alpha with probability alpha at
most (Ville's inequality), at whatever look a run ends (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded
random variables by betting", Journal of the Royal Statistical Society B 86, 2024, 1-27; here for totals of clusters).
"""

from __future__ import annotations

from math import log
from typing import Final

import numpy as np
from jrh_measuring import Floats

_HALVINGS: Final = 20
"""An end of an interval is known to a millionth."""


def log_capital(sums: Floats, sizes: Floats, p: float, target: float, alpha: float) -> Floats:
    """Return the logarithm of the capital after every cluster, shape (..., clusters), of bets on a mean above `p`.

    Half of the capital is staked against the target, which decides soonest whether the mean is above it; the other half
    by the plug-in of Waudby-Smith and Ramdas, whose intervals are narrow wherever the mean is. Stakes do not depend on
    `p`, so that the capital falls as `p` grows, and the values of `p` that it excludes are an interval.

    Args:
        sums: total score of every cluster, in random order; shape (..., clusters).
        sizes: trials of every cluster, above 0.
        p: the mean that is bet against.
        target: the mean that is of most interest.
        alpha: error rate that the plug-in has in mind.
    """
    largest = np.maximum.accumulate(sizes, axis=-1)
    gain = sums - target * sizes
    # As much again as the largest square: no stake rests on a few clusters alone.
    towards = _before(gain) / (_before(gain**2) + largest**2)
    number = np.arange(1, sums.shape[-1] + 1)
    centred = sums - (_before(sums) + largest / 2) / (_before(sizes) + largest) * sizes
    spread = (_before(centred**2) + largest**2 / 4) / number
    plug_in = np.sqrt(2 * log(1 / alpha) / (spread * number * np.log(number + 1.0)))
    net = sums - p * sizes
    # Below 1 / largest, whatever `p` is: no cluster can take all.
    stakes = np.clip(towards, 0.0, 0.75 / largest), np.minimum(plug_in, 0.5 / largest)
    capital = [np.cumsum(np.log1p(stake * net), axis=-1) for stake in stakes]
    return np.asarray(np.logaddexp(*capital) - log(2))


def _before(values: Floats) -> Floats:
    """Return the sums of all earlier values along the last axis: a stake must not know its own outcome."""
    return np.cumsum(values, axis=-1) - values


def lower_limit(sums: Floats, sizes: Floats, target: float, alpha: float) -> float:
    """Return the largest mean that the bets have excluded from above by now, at error rate `alpha`; 0 if none."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        excluded = log_capital(sums, sizes, middle, target, alpha).max(initial=0.0) >= log(1 / alpha)
        low, high = (middle, high) if excluded else (low, middle)
    return low
