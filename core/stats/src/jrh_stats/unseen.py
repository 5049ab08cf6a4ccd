"""Bound what clusters that were not drawn could change, where all clusters that were drawn say the same.

Identical values have no variance, and an interval built on one would be a point. What they do show: clusters unlike
them are rare. After K clusters without one, at most a share h of all clusters is unlike them, with h Wilson's upper end
for 0 of K (the "rule of three"). The ends of the interval are the extremes of the estimate over all mixtures of what
was seen, with weight 1 - h, and clusters as different as the scale allows, with weight h.

Source: Hanley and Lippman-Hand (1983), JAMA 249:1743-1745, for the share; Horowitz and Manski (1995), Econometrica
63:281-302, for the bounds of a contaminated sample. Not consulted; the mixtures are our own.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from jrh_stats.arrays import Floats
from jrh_stats.score_intervals import wilson

_STEPS: Final = 11
"""Mixtures of two kinds of unseen clusters, from all of one to all of the other."""


def unseen_share(clusters: int, level: float) -> float:
    """Return the largest share of clusters that K identical ones leave room for: Wilson's upper end for 0 of K."""
    return float(wilson(0, clusters, level=level)[1])


def identical_mean(value: float, clusters: int, bounds: tuple[float, float], level: float) -> tuple[float, float]:
    """Return the interval of a mean where every cluster has the same one.

    Args:
        value: the mean of every cluster.
        clusters: number of clusters K.
        bounds: the least and the greatest score a trial can have.
        level: coverage.
    """
    share = unseen_share(clusters, level)
    return value - share * (value - bounds[0]), value + share * (bounds[1] - value)


def mixtures(total: Floats, unseen: Floats, share: float) -> Floats:
    """Return totals in which unseen clusters replace a share of those that were seen.

    Args:
        total: sums over all clusters, shape (columns,).
        unseen: what `total` would be if all clusters were of one unseen kind, shape (kinds, columns).
        share: of unseen clusters.

    Returns:
        Every kind alone, and every two of them in several proportions, shape (mixtures, columns).
    """
    # Both ends are the kinds alone, which are listed anyway.
    weight = np.linspace(0.0, 1.0, _STEPS)[1:-1, None]
    mixed = [weight * first + (1 - weight) * second for first, second in combinations(unseen, 2)]
    return np.asarray((1 - share) * total + share * np.concatenate([unseen, *mixed]))
