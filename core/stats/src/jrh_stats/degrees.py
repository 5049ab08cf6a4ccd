"""Estimate how well a variance between clusters is known: effective degrees of freedom, and the flag for too few."""

from __future__ import annotations

from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.score_intervals import wilson

FEW: Final = 14.0
"""Below so many effective degrees of freedom an interval is flagged: five clusters or fewer differ from the others."""
UNSEEN: Final = 2.0
"""An error is unsure if clusters that were not seen could add so many times as much to it as was seen."""
FEW_CLUSTERS: Final = 30
"""Fewer clusters are flagged whatever their degrees: an event that happens to one cluster in ten is absent from 4% of
samples of 30 and from 12% of samples of 20."""
FEW_EVENTS: Final = "few-events"
"""So few clusters carry what varies that the interval may cover less or more often than it says."""
FEW_LEVELS: Final = "few-levels"
"""Few judges, templates or other levels: the interval may cover less often than it says for others than these."""
ENOUGH_LEVELS: Final = 30
"""With fewer levels of a facet its share of the variance is hardly known."""

_NOISE: Final = 1e-24
_MOST: Final = 1e6
"""Student's t with so many degrees of freedom is normal."""
_SKEWED: Final = 0.118
"""Skewness, per root of the number of clusters, that moves one point of misses to one side of a 95% interval."""
UNEVEN: Final = 1.5
"""Clusters whose sizes have a larger mean fourth power, relative to the square of their mean square, are uneven."""


def effective_degrees(
    deviations: ArrayLike, counts: ArrayLike | None = None, sizes: ArrayLike | None = None, *, doubt: bool = False
) -> float:
    """Estimate the degrees of freedom of a variance between clusters.

    The variance of K deviations with kurtosis g has itself the variance sigma^4 (g - (K - 3) / (K - 1)) / K. A
    chi-squared variable that varies as much has

        2 K / (g - (K - 3) / (K - 1))   degrees of freedom, at least 1 and at most K - 1.

    Normal deviations (g = 3) give K - 1. Where few clusters differ from all others g is large: if one of two outcomes
    is rare, the degrees are about twice the number of clusters that have it. Student's t with so many degrees knows
    that the variance rests on few clusters, K - 1 degrees do not.

    Where clusters differ in size, a sample in which by luck no large cluster has the rare outcome looks as if much were
    known. With `sizes` w the kurtosis is therefore at least the one that d = w r has if the deviation r per trial does
    not depend on the size, which is (mean w^4 / (mean w^2)^2) (mean r^4 / (mean r^2)^2).

    For flags (`doubt`), where that first factor is above 1.5, the second is that of the rarest outcome that the sample
    does not rule out: a share q with the observed kurtosis 1 / (q (1 - q)) - 3 is replaced by the lower end of Wilson's
    interval of q in K clusters. Whether a study is flagged then follows from its design rather than from the luck of
    its large clusters.

    Source: moments of the sample variance: Kenney and Keeping (1951), Mathematics of Statistics, part 2 (not
    consulted); matching its variance by a chi-squared one: Satterthwaite (1946), Biometrics Bulletin 2:110-114.

    Args:
        deviations: one per cluster, or per kind of cluster; their mean is subtracted, shape (k,).
        counts: number of clusters of each kind, shape (k,); 1 by default.
        sizes: number of trials of each cluster, > 0, shape (k,); None: all alike.
        doubt: whether to count the rarest outcome that the sample does not rule out, for a flag.

    Returns:
        The degrees of freedom; 1 with fewer than three clusters or where nothing varies.
    """
    many, clusters, centred, square = _centre(deviations, counts)
    if clusters <= 2 or square <= _NOISE:  # noqa: PLR2004 - two clusters have one degree
        return 1.0
    kurtosis = float(many @ np.square(np.square(centred))) / clusters / square**2
    if sizes is not None:
        weight = np.asarray(sizes, dtype=np.float64)
        uneven = _kurtosis(weight, many)
        # Around 0, not around their mean: deviations from a ratio already sum to 0, weighted by size.
        single = _kurtosis(np.asarray(deviations, dtype=np.float64) / weight, many)
        kurtosis = max(kurtosis, uneven * (_pessimistic(single, clusters) if doubt and uneven > UNEVEN else single))
    excess = kurtosis - (clusters - 3) / (clusters - 1)
    most = clusters - 1
    # Deviations less peaked than normal ones know their variance better than K - 1 degrees say; that is not claimed.
    return float(min(max(2 * clusters / excess, 1.0), most)) if excess > 0 else most


def _centre(deviations: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, float, Floats, float]:
    """Return clusters of each kind and in all, the deviations from their mean, and the mean square of these."""
    values = np.asarray(deviations, dtype=np.float64)
    many = np.ones(len(values)) if counts is None else np.asarray(counts, dtype=np.float64)
    clusters = float(many.sum())
    centred = values - (many @ values) / max(clusters, 1.0)
    return many, clusters, centred, float(many @ np.square(centred)) / max(clusters, 1.0)


def are_uneven(sizes: ArrayLike, counts: ArrayLike | None = None) -> bool:
    """Tell whether clusters differ so much in size that few large ones decide (see `effective_degrees`)."""
    weight = np.asarray(sizes, dtype=np.float64)
    many = np.ones(len(weight)) if counts is None else np.asarray(counts, dtype=np.float64)
    return _kurtosis(weight, many) > UNEVEN


def _pessimistic(kurtosis: float, clusters: float) -> float:
    """Return the kurtosis of an outcome that is as rare as the sample does not rule out."""
    if kurtosis <= 0:
        return kurtosis
    # The rarer outcome's share q, from kurtosis = 1 / (q (1 - q)) - 3.
    share = (1 - sqrt(max(1 - 4 / (kurtosis + 3), 0.0))) / 2
    least = float(wilson(share * clusters, clusters)[0])
    return max(1 / (least * (1 - least)) - 3, kurtosis) if least > 0 else kurtosis


def _kurtosis(values: Floats, counts: Floats) -> float:
    """Return the mean fourth power relative to the square of the mean square; 0 where all are 0."""
    square, fourth = float(counts @ values**2), float(counts @ values**4)
    return fourth * float(counts.sum()) / square**2 if square > _NOISE else 0.0


def is_skewed(deviations: ArrayLike, counts: ArrayLike | None = None) -> bool:
    """Tell whether a symmetric 95% interval of the mean of K deviations misses on one side more often than 3.5%.

    To first order the misses on the side of the long tail are 2.5% + g (2 z^2 + 1) phi(z) / (6 sqrt(K)), with g the
    skewness and z = 1.96; 1 more point is |g| / sqrt(K) above 0.118. It is true of 92%
    of samples of 100 exponential values, and of no sample of 100 normal ones.

    Source: Edgeworth expansion of Student's statistic: Hall (1992), The Bootstrap and Edgeworth Expansion (not
    consulted).

    Args:
        deviations: one per cluster, or per kind of cluster; their mean is subtracted, shape (k,).
        counts: number of clusters of each kind, shape (k,); 1 by default.
    """
    many, clusters, centred, square = _centre(deviations, counts)
    third = float(many @ centred**3) / max(clusters, 1.0)
    return square > _NOISE and abs(third) / square**1.5 > _SKEWED * sqrt(clusters)


def design_degrees(deviations: ArrayLike, share: float, counts: ArrayLike | None = None) -> float:
    """Estimate the degrees of freedom of a design effect, the variance of a share relative to share (1 - share).

    Wilson's interval takes the variance to move with the share as a proportion's does, and only the factor between the
    two, the design effect, is estimated. With d_k the linearised deviation of cluster k (the share's error is their
    mean) and s^2 their mean square, the relative error of the design effect is to first order the mean over clusters of

        e_k = d_k^2 / s^2 - 1 - d_k (1 - 2 share) / (share (1 - share))

    Its variance is that of a chi-squared variable over its degrees of freedom with

        2 (K - 1) / mean_k e_k^2   degrees.

    Where every cluster is one yes or no, e_k is 0: the variance follows from the share, nothing about it is estimated,
    and Student's t is normal. `effective_degrees` would count the rare outcome there and widen an interval that needs
    no widening.

    Source: our own, derived in `docs/derivations.md`; linearised variance of a log-ratio: Cochran (1977), Sampling
    Techniques, 3rd ed., section 6.3 (not consulted); matching a chi-squared variable: Satterthwaite (1946).

    Args:
        deviations: one per cluster, or per kind of cluster, in the unit of the share, shape (k,); their mean is
            subtracted.
        share: from 0 to 1.
        counts: number of clusters of each kind, shape (k,); 1 by default.

    Returns:
        The degrees of freedom, at least the `effective_degrees` and at most a million; `effective_degrees` for a share
        of 0 or 1.
    """
    many, clusters, centred, square = _centre(deviations, counts)
    least = effective_degrees(deviations, counts)
    if clusters <= 2 or square <= _NOISE or not 0 < share < 1:  # noqa: PLR2004 - two clusters have one degree
        return least
    # Relative error of the variance less that of p (1 - p); derived in docs/derivations.md.
    errors = np.square(centred) / square - 1 - centred * (1 - 2 * share) / (share * (1 - share))
    relative = float(many @ np.square(errors)) / clusters
    return max(2 * (clusters - 1) / max(relative, 2 * clusters / _MOST), least)


def interval_degrees(deviations: Floats, share: float, counts: ArrayLike | None, sizes: ArrayLike | None) -> float:
    """Return the `design_degrees`, of clusters uneven in size the `effective_degrees`, which are never more.

    Args:
        deviations: one per cluster, or per kind of cluster, in the unit of the share, shape (k,).
        share: from 0 to 1.
        counts: number of clusters of each kind, shape (k,); None: one.
        sizes: number of trials of each cluster, > 0, shape (k,); None: all alike.
    """
    # Few large clusters decide there. Whether they have the rare outcome is luck that first-order theory leaves out.
    if sizes is not None and are_uneven(sizes, counts):
        return effective_degrees(deviations, counts, sizes)
    return design_degrees(deviations, share, counts)


def few_events(degrees: float, clusters: int) -> tuple[str, ...]:
    """Return the flag `few-events` below 14 effective degrees of freedom and below 30 clusters, else nothing.

    Intervals that cover less than 93% or more than 97% of the time have this flag in most studies. docs/statistics.md
    says how that was measured, by the self-test and by a separate grid of designs.

    Args:
        degrees: the `effective_degrees`, not those of the design.
        clusters: number of clusters.
    """
    return (FEW_EVENTS,) if degrees < FEW or clusters < FEW_CLUSTERS else ()
