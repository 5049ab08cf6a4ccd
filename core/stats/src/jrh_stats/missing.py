"""Test whether verdicts are missing at random, and bound what they could change."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats
from jrh_stats.clusters import cluster_margins, cluster_sums, dense_codes, whole_codes
from jrh_stats.significance import Significance

_FEW: Final = 5
"""An expected number below this makes the chi-squared approximation rough."""
_GROUPS: Final = 2
_STEPS: Final = 60
_NOISE: Final = 1e-12


def missingness_test(
    missing: ArrayLike, conditions: ArrayLike, items: ArrayLike, clusters: ArrayLike | None = None
) -> Significance:
    """Test whether verdicts go missing more often under some conditions than others, within items.

    The generalised Cochran-Mantel-Haenszel test of association, items as strata. Item k has n_k trials, n_kg of them
    under condition g, m_k missing; under the null the missing ones fall on any of them:

        d_g = sum_k (missing_kg - n_kg m_k / n_k)
        V   = sum_k m_k (n_k - m_k) / (n_k^2 (n_k - 1)) (n_k diag(n_kg) - n_kg n_kh)

    d' V^- d is chi-squared with (conditions - 1) degrees of freedom. With one trial per item and condition it is
    Cochran's Q. Where items share clusters, verdicts of a cluster may go missing together: V is then the sum over
    clusters of d_c d_c', with d_c the part of d that is the cluster's.

    Source: Landis, Heyman and Koch (1978), International Statistical Review 46:237-254; Cochran (1950), Biometrika
    37:256-266. Not consulted.

    Args:
        missing: whether the trial has no verdict, shape (n,).
        conditions: condition of every trial as a whole number >= 0, shape (n,).
        items: item of every trial, whole numbers >= 0, shape (n,).
        clusters: cluster of every trial, likewise; None: every item is its own.

    Returns:
        The p-value, method `cochran-mantel-haenszel`; `n` is the number of missing verdicts, `clusters` that of the
        informative items: put under several conditions, with some verdicts missing and some not. Flags: `empty`
        and no p-value without such items; `few` where a condition's expected number of missing verdicts is below 5.

    Raises:
        ValueError: the shapes differ.
    """
    # `trials` and `lost` are the tables n_kg and missing_kg of the formula.
    gone, groups, strata = np.asarray(missing), whole_codes(conditions), whole_codes(items)
    cluster = strata if clusters is None else whole_codes(clusters)
    if not gone.shape == groups.shape == strata.shape == cluster.shape or gone.ndim != 1:
        raise ValueError("missing, conditions, items and clusters must be arrays of equal length")
    dense, names = dense_codes(groups)
    every = np.broadcast_to(1.0, gone.shape)
    trials, lost = (
        cluster_margins(strata, dense, column, n_labels=len(names)) if len(gone) else np.zeros((0, 1))
        for column in (every, gone)
    )
    n, m = trials.sum(axis=1), lost.sum(axis=1)
    informative = (m > 0) & (m < n) & ((trials > 0).sum(axis=1) > 1)
    number, present_items = dense_codes(strata)
    cluster_of = np.empty(len(present_items), dtype=np.int64)
    cluster_of[number] = cluster  # the trials of an item share its cluster
    of = cluster_of[informative]
    trials, lost, n, m = trials[informative], lost[informative], n[informative], m[informative]
    present = trials.sum(axis=0) > 0
    if present.sum() <= 1:
        return Significance(p=None, method="cochran-mantel-haenszel", n=int(gone.sum()), flags=("empty",))
    from jrh_stats.special import chdtrc  # only where there is something to test: loading it takes longer than all else

    trials, lost = trials[:, present], lost[:, present]
    expected = trials * (m / n)[:, None]
    # Sorted before it is summed, so that the order of items does not show in the last digit.
    difference = np.sort(lost - expected, axis=0).sum(axis=0)
    # The hypergeometric variance holds where items are independent; clusters of several show theirs only between them.
    alone = len(np.unique(of)) == len(of)
    sums = cluster_sums(of, *(lost - expected).T)
    covariance = _covariance(trials, n, m) if alone else sums.T @ sums
    # Conditions that never share an item are not compared: the rank says how many comparisons there are.
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return Significance(
        p=float(chdtrc(degrees, max(statistic, 0.0))),
        statistic=statistic,
        degrees=degrees,
        method="cochran-mantel-haenszel",
        n=int(gone.sum()),
        clusters=int(informative.sum()),
        flags=("few",) if expected.sum(axis=0).min() < _FEW else (),
    )


def imbens_manski_quantile(width: float, error: float, *, level: float = 0.95) -> float:
    """Return how many standard errors an interval extends beyond each bound of a quantity that is only bounded.

    c with Phi(c + width / error) - Phi(-c) = level: 1.96 where the bounds coincide, 1.64 where they are far apart,
    because the quantity cannot be near both ends. [lower - c se, upper + c se] then covers the quantity, wherever
    between the bounds it lies, with probability `level`.

    Source: Imbens and Manski (2004), Econometrica 72:1845-1857. Not consulted.

    Args:
        width: distance of the estimated bounds, 0 or more.
        error: the larger standard error of the two bounds.
        level: coverage.

    Raises:
        ValueError: a width or error is negative, or the level is not between 0 and 1.
    """
    if width < 0 or error < 0 or not 0 < level < 1:
        raise ValueError("widths and errors must be 0 or more, and the level between 0 and 1")
    normal = NormalDist()
    least, most = normal.inv_cdf(level), normal.inv_cdf(0.5 + level / 2)
    # Bounds without error: one-sided where they differ, two-sided where they coincide.
    if error == 0:
        return least if width > 0 else most
    for _ in range(_STEPS):
        middle = (least + most) / 2
        covered = normal.cdf(middle + width / error) - normal.cdf(-middle)
        least, most = (middle, most) if covered < level else (least, middle)
    return most


def missingness_association(missing: ArrayLike, scores: ArrayLike) -> Significance:
    """Test whether clusters with other scores lose more verdicts.

    The statistic is (K - 1) R^2, with R^2 of the regression of the missing shares on the scores over K clusters; under
    the null hypothesis that shares fall on clusters at random it is chi-squared, with the rank of the centred scores as
    degrees of freedom. For one score this is Mantel's test (K - 1) r^2; for indicators of groups, the general
    Cochran-Mantel-Haenszel statistic of one stratum.

    Source: Mantel (1963), JASA 58:690-700; Landis, Heyman and Koch (1978), International Statistical Review
    46:237-254. Neither was consulted.

    Args:
        missing: share of missing verdicts of each cluster, less what its conditions lead to expect, shape (K,).
        scores: one or several scores of each cluster, shape (K,) or (K, columns).

    Returns:
        The p-value, method `mantel`; flag `empty` and no p-value where shares or scores do not vary.

    Raises:
        ValueError: the shapes differ.
    """
    lost = np.asarray(missing, dtype=np.float64)
    columns = np.asarray(scores, dtype=np.float64).reshape(len(lost), -1)
    if lost.ndim != 1 or not (np.isfinite(lost).all() and np.isfinite(columns).all()):
        raise ValueError("give a share and finite scores per cluster")
    if len(lost) <= _GROUPS:
        return Significance(p=None, method="mantel", clusters=len(lost), flags=("empty",))
    # Centred, so that the intercept takes no degree of freedom from the scores.
    y, x = lost - lost.mean(), columns - columns.mean(axis=0)
    degrees = int(np.linalg.matrix_rank(x))
    if not degrees or not np.any(np.abs(y) > _NOISE):
        return Significance(p=None, method="mantel", clusters=len(lost), flags=("empty",))
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    statistic = (len(y) - 1) * float(fitted @ fitted) / float(y @ y)
    from jrh_stats.special import chdtrc

    return Significance(
        p=float(chdtrc(degrees, statistic)), statistic=statistic, degrees=degrees, method="mantel", clusters=len(lost)
    )


def _covariance(trials: Floats, n: Floats, m: Floats) -> Floats:
    factor = m * (n - m) / (np.square(n) * (n - 1))
    crossed = (trials * factor[:, None]).T @ trials
    return np.asarray(np.diag((trials * (factor * n)[:, None]).sum(axis=0)) - crossed)
