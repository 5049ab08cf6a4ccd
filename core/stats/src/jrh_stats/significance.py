"""Test for significance, and adjust for multiple tests."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import distinct, parts_of

_ENUMERATED: Final = 14
"""With so many clusters that differ, or fewer, all sign patterns are enumerated."""
_CHUNK: Final = 4_000_000
_NOISE: Final = 1e-9


@frozen(kw_only=True)
class Significance:
    """The result of a significance test."""

    p: float | None
    """The p-value; None where the test is undefined; `flags` says why."""
    statistic: float | None = None
    """The test statistic; its meaning is the method's."""
    degrees: int | None = None
    """Degrees of freedom of the reference distribution, where it has any."""
    method: str = ""
    n: int = 0
    """Observations the test rests on; for paired tests those that differ."""
    clusters: int = 0
    """Clusters the test rests on."""
    least: float = 0.0
    """The smallest p-value that the test could have given, from what it holds fixed; 0 where it is not known."""
    flags: tuple[str, ...] = ()
    """`empty`: nothing was observed; `few`: too little for the approximation."""


def mcnemar_exact(only_first: int, only_second: int) -> Significance:
    """Test whether two judges are right equally often, from the questions on which they differ.

    Given b + c discordant pairs, b is Binomial(b + c, 1/2) under the null: p = min(1, 2 P(X <= min(b, c))). For one
    pair per item; use `sign_flip_test` where items have several.

    Source: McNemar (1947), Psychometrika 12:153-157; exact version: Fay (2010), R Journal 2:53-58.

    Args:
        only_first: number of pairs in which only the first side is right.
        only_second: number of pairs in which only the second side is right.

    Returns:
        The two-sided p-value, method `mcnemar-exact`; 1 where no pair differs. The statistic is `only_first`.

    Raises:
        ValueError: a number is negative.
    """
    from jrh_stats.special import bdtr

    if min(only_first, only_second) < 0:
        raise ValueError("numbers of pairs must be 0 or more")
    n = only_first + only_second
    p = min(1.0, 2 * float(bdtr(min(only_first, only_second), n, 0.5))) if n else 1.0
    # All pairs on one side, two-sided.
    least = min(1.0, 2.0 ** (1 - n))
    return Significance(p=p, statistic=float(only_first), method="mcnemar-exact", n=n, clusters=n, least=least)


def sign_flip_test(differences: ArrayLike, *, resamples: int = 2000, seed: int = 0) -> Significance:
    """Test whether paired differences centre on 0, exchanging both sides within whole clusters.

    Under the null each cluster's summed difference d_k is as likely as -d_k. The statistic is |sum_k s_k d_k| over
    signs s_k. With 14 clusters or fewer that differ all sign patterns are enumerated (`sign-flip-exact`); otherwise
    signs are drawn, and p = (1 + those as extreme) / (1 + drawn) (`sign-flip`).

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.; p never 0: Phipson and
    Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.

    Args:
        differences: summed difference of each cluster, shape (K,).
        resamples: sign patterns drawn.
        seed: the only source of randomness.

    Returns:
        The two-sided p-value; 1 where no cluster differs; flag `empty` without clusters.

    Raises:
        ValueError: the differences are not one finite number per cluster.
    """
    sums = np.asarray(differences, dtype=np.float64)
    if sums.ndim != 1 or not np.all(np.isfinite(sums)):
        raise ValueError("give one finite difference per cluster")
    if not sums.size:
        return Significance(p=None, method="sign-flip", flags=("empty",))
    sizes = np.sort(np.abs(sums[np.abs(sums) > _NOISE]))
    observed = abs(float(np.sort(sums).sum()))
    exact = len(sizes) <= _ENUMERATED
    totals = _all_signs(sizes) if exact else _draw_signs(sizes, resamples, seed)
    extreme = int((np.abs(totals) >= observed - _NOISE * max(observed, 1.0)).sum())
    # The observed pattern is among those enumerated, and counts as one more draw where they are drawn: p is never 0.
    return Significance(
        p=extreme / len(totals) if exact else (1 + extreme) / (1 + len(totals)),
        statistic=observed,
        method="sign-flip-exact" if exact else "sign-flip",
        n=len(sizes),
        clusters=len(sums),
        least=min(1.0, 2.0 ** (1 - len(sizes))),
    )


def exchange_test(sums: ArrayLike, *, resamples: int = 2000, seed: int = 0) -> Significance:
    """Test whether several columns have the same mean, exchanging the columns within each cluster.

    Under the null the values of a cluster are as likely in any other order of the columns. The statistic is the largest
    |sum_k (x_kj - mean_j x_kj)| over the columns j, for orders drawn at random within each cluster;
    p = (1 + those as extreme) / (1 + drawn). With two columns it is `sign_flip_test` of their differences.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.; max statistic: Westfall and
    Young (1993), Resampling-Based Multiple Testing.

    Args:
        sums: sums of each cluster and column, shape (K, columns).
        resamples: orders drawn of every cluster.
        seed: the only source of randomness.

    Returns:
        The p-value; 1 where no cluster differs between columns; flag `empty` without clusters.

    Raises:
        ValueError: the sums are not finite numbers of shape (K, columns).
    """
    table = np.asarray(sums, dtype=np.float64)
    if table.ndim != 2 or not np.all(np.isfinite(table)):  # noqa: PLR2004 - clusters and columns
        raise ValueError("give one finite sum per cluster and column")
    if not table.size:
        return Significance(p=None, method="exchange", flags=("empty",))
    # A cluster's level is the same for all columns and says nothing about their order.
    centred = table - table.mean(axis=1, keepdims=True)
    differing = centred[np.abs(centred).max(axis=1) > _NOISE]
    observed = float(np.abs(differing.sum(axis=0)).max(initial=0.0))
    generator, extreme = np.random.default_rng(seed), 0
    # Rows in the order of their values: the order in which clusters come does not show.
    differing = differing[np.lexsort(differing.round(12).T)]
    for part in parts_of(resamples, max(1, _CHUNK // max(differing.size, 1))):
        drawn = np.broadcast_to(differing, (part.stop - part.start, *differing.shape))
        totals = generator.permuted(drawn, axis=2).sum(axis=1)
        extreme += int((np.abs(totals).max(axis=1) >= observed - _NOISE * max(observed, 1.0)).sum())
    return Significance(
        p=(1 + extreme) / (1 + resamples),
        statistic=observed,
        method="exchange",
        n=len(differing),
        clusters=len(table),
    )


def _all_signs(sizes: Floats) -> Floats:
    patterns = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))[None, :]
    return np.asarray((2.0 * (patterns & 1) - 1.0) @ sizes)


def _draw_signs(sizes: Floats, resamples: int, seed: int) -> Floats:
    # Clusters of one size are interchangeable: how many keep their sign is binomial.
    kinds, counts = distinct(sizes.round(12)[:, None])
    generator = np.random.default_rng(seed)
    parts = [
        (2.0 * generator.binomial(counts, 0.5, size=(part.stop - part.start, len(kinds))) - counts) @ kinds[:, 0]
        for part in parts_of(resamples, max(1, _CHUNK // len(kinds)))
    ]
    return np.concatenate(parts)


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values to control the family-wise error rate.

    The i-th smallest of m: the largest of (m - j + 1) p_(j) over j <= i, at most 1.

    Source: Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Args:
        p_values: one per test, shape (m,).

    Returns:
        Adjusted p-values, in the order given.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    p, order = _sort_p_values(p_values)
    # Holm (1979): a hypothesis is not rejected before all with smaller p-values are, hence the running maximum.
    adjusted = np.minimum(np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]), 1.0)
    return _restore_order(adjusted, order)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjust p-values to control the false discovery rate.

    The i-th smallest of m: the smallest of m p_(j) / j over j >= i, at most 1.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300.

    Args:
        p_values: one per test, shape (m,).

    Returns:
        Adjusted p-values, in the order given.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    p, order = _sort_p_values(p_values)
    # Benjamini and Hochberg (1995) step up: all before the last one that is rejected are, hence the running minimum.
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return _restore_order(adjusted, order)


def _sort_p_values(p_values: ArrayLike) -> tuple[Floats, Codes]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p-values must be between 0 and 1; leave out tests that are not defined")
    return p, np.argsort(p, kind="stable").astype(np.int64)


def _restore_order(adjusted: Floats, order: Codes) -> Floats:
    result = np.empty_like(adjusted)
    result[order] = adjusted
    return result
