"""Estimate excess disagreement: how much more a condition changes verdicts than asking again does."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike, NDArray

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import PART, by_parts, cluster_sums
from jrh_stats.degrees import FEW_CLUSTERS, FEW_EVENTS
from jrh_stats.estimate import Estimate
from jrh_stats.excess_null import ASKED_AGAIN, Deals, group_deals, item_excess, raw_and_floor, takes_part
from jrh_stats.mean import clustered_difference, clustered_mean
from jrh_stats.proportion import clustered_proportion
from jrh_stats.significance import Significance

_Counts: TypeAlias = NDArray[np.floating[Any] | np.signedinteger[Any]]
_DIMENSIONS: Final = 3
_NOISE: Final = 1e-9
_METHOD: Final = "permutation-within-items"
_DEALT: Final = 200
"""With so many mixed items, or fewer, the permutation test deals answers; with more the normal limit holds."""
_BOUNDS: Final = (-0.5, 1.0)
"""An item's U-statistic is least where two and two answers are split alike, and greatest where they have no label in
common."""


@frozen(kw_only=True)
class Excess:
    """Raw disagreement with the reference, the floor, and what is in excess of it; they rest on the same items."""

    raw: Estimate
    """P(Y0 != Y1): a reference and a condition answer differ."""
    floor: Estimate
    """(P(Y0 != Y0') + P(Y1 != Y1')) / 2; where the condition is asked once, P(Y0 != Y0')."""
    excess: Estimate
    """raw - floor, from -0.5 to 1. Flag `reference-floor` where a condition that is asked once takes part: its own
    rerun disagreement is then taken to be the reference's."""


def excess_disagreement(counts: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95) -> Excess:
    """Estimate the excess disagreement of conditions over reruns.

    E = P(Y0 != Y1) - (P(Y0 != Y0') + P(Y1 != Y1')) / 2, with Y0, Y0' answers under the reference and Y1, Y1' under the
    condition, all independent given the item. It is half the squared distance of the two distributions of answers,
    sum_l (p0_l - p1_l)^2 / 2, so 0 if and only if they are equal.

    Per item and condition it is estimated without bias as a U-statistic: all pairs of answers, none with itself. An
    item and condition takes part where the reference has two answers or more, and the condition one or more. With one,
    P(Y1 != Y1') cannot be estimated, and P(Y0 != Y0') replaces it. What is estimated is then another quantity,
    E + (P(Y1 != Y1') - P(Y0 != Y0')) / 2: a condition that makes the judge noisier has an excess without moving it.

    Source: Rao (1982), Theoretical Population Biology 21:24-43 (the Jensen difference of the Gini-Simpson index);
    Szekely and Rizzo (2013), Journal of Statistical Planning and Inference 143:1249-1272 (energy statistics). Neither
    was consulted.

    Args:
        counts: answers per item, group and label, shape (items, groups, labels); group 0 is the reference, each other
            group a condition; zeros where an item was not put under a condition.
        clusters: the cluster of every item, whole numbers >= 0, shape (items,); None: every item is its own.
        level: coverage.

    Returns:
        Raw, floor and excess, means over all item-condition pairs that take part, by cluster, with the
        intervals of `clustered_mean` within bounds (-0.5 to 1 for the excess). Flags: `empty` where none takes part;
        `reference-floor`, see `Excess`; `few-clusters` below 30 clusters: the interval of the excess is then too narrow
        (coverage down to 87% instead of 95% with 20); `few-events` where few items move.

    Raises:
        ValueError: `counts` has another shape or a negative number.
    """
    raw_sums, floor_sums, weights, single = _sums(counts, clusters)
    excess = excess_sums((raw_sums - floor_sums).round(12), weights, level=level)
    flags = (
        *(("reference-floor",) if single else ()),
        *(("few-clusters",) if 0 < excess.clusters < FEW_CLUSTERS else ()),
    )
    return Excess(
        raw=clustered_mean(raw_sums, weights, bounds=(0.0, 1.0), level=level),
        floor=clustered_mean(floor_sums, weights, bounds=(0.0, 1.0), level=level),
        excess=evolve(excess, flags=(*excess.flags, *flags)),
    )


def _sums(counts: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats, Floats, bool]:
    """Return raw disagreement, floor and weight of every cluster, and whether a condition asks once."""
    table = _check_counts(counts)
    raw_sums, floor_sums, weights, once = by_parts(_item_sums, table, size=max(PART // table.shape[1], 1))
    rows = np.flatnonzero(weights)
    raw_sums, floor_sums, weights = raw_sums[rows], floor_sums[rows], weights[rows]
    if clusters is not None and len(rows):
        sums = cluster_sums(_check_clusters(clusters, table)[rows], raw_sums, floor_sums, weights)
        raw_sums, floor_sums, weights = sums.T
    return raw_sums, floor_sums, weights, bool(once.any())


def _item_sums(counts: _Counts) -> tuple[Floats, ...]:
    """Return of every item raw disagreement, floor, conditions that take part, and those of them that ask once."""
    table = counts.astype(np.float64, copy=False)
    answers = table.sum(axis=2)
    takes = takes_part(answers)
    once = takes & (answers[:, 1:] < ASKED_AGAIN)
    # Rounded, so that the order of labels does not show in the last digit.
    raw, floor = ((part * takes).sum(axis=1).round(12) for part in raw_and_floor(table, answers))
    return raw, floor, takes.sum(axis=1).astype(np.float64), once.sum(axis=1).astype(np.float64)


def excess_limits(counts: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95) -> Estimate:
    """Estimate the excess disagreement with one-sided limits: each errs in at most (1 - level) / 2 of all samples.

    Where enough clusters differ these are the ends of `excess_disagreement`. Where few do, or none (every item moved,
    or none did), a variance says nothing; where every item moved wholly or not at all, none is needed. With e_k the
    excess of cluster k, between -1/2 and 1 per item, and e+ and e- the parts of it above and below 0, the mean excess
    is mean e+ - mean e-, so that

        upper limit = U(e+; alpha)        lower limit = L(e+; alpha / 2) - U(2 e-; alpha / 2) / 2

    with the ends L and U of `clustered_proportion`, exact where every e is 0 or 1, and alpha = (1 - level) / 2. Of n
    items that all moved the lower limit is a - (1 - a) / 2 with a = (alpha / 2)^(1/n); of n items that did not, the
    upper limit is 1 - alpha^(1/n).

    Source: Clopper and Pearson (1934), Biometrika 26:404-413; the two parts share alpha by Bonferroni's inequality.

    Args:
        counts: as for `excess_disagreement`.
        clusters: as for `excess_disagreement`.
        level: alpha is half of what it lacks to 1.

    Returns:
        The excess with its limits. Where they are not those of `excess_disagreement`, the method and the flag
        `few-events` are those of `clustered_proportion`.

    Raises:
        ValueError: `counts` has another shape or a negative number.
    """
    estimate = excess_disagreement(counts, clusters, level=level).excess
    if estimate.value is None:
        return estimate
    raw, floor, weights, _ = _sums(counts, clusters)
    excess = (raw - floor).round(12)
    whole_or_none = bool(np.all((weights == 1) & ((excess == 0) | (excess == 1))))
    if FEW_EVENTS not in estimate.flags and not whole_or_none:
        return estimate
    # Sums of thirds and the like may exceed the weight by rounding.
    above, below = (np.clip(part, 0.0, weights) for part in (excess, -2 * excess))
    upper = clustered_proportion(above, weights, level=level)
    halved = (1 + level) / 2
    lower, left = (clustered_proportion(part, weights, level=halved) for part in (above, below))
    ends = (lower.low, left.high, upper.high)
    if None in ends:
        return estimate
    low, off, high = (float(end) for end in ends if end is not None)
    # The method and the flags that hold for fewer designs are those of all.
    doubts = dict.fromkeys(flag for limit in (upper, lower, left) for flag in limit.flags)
    unaffected = (flag for flag in estimate.flags if flag not in (FEW_EVENTS, "few-clusters"))
    return evolve(
        estimate,
        low=min(low - off / 2, estimate.value),
        high=max(high, estimate.value),
        method=max(limit.method for limit in (upper, left)),
        flags=(*unaffected, *doubts),
    )


def excess_permutation_test(
    counts: ArrayLike, clusters: ArrayLike | None = None, *, resamples: int = 2000, seed: int = 0
) -> Significance:
    """Test whether conditions change verdicts more than asking again does.

    Under the null an item's answers are exchangeable between the reference and its conditions. The answers of every
    item are dealt again to groups of the same sizes; the statistic is the summed excess of `excess_disagreement`.
    One-sided: p is the probability of a summed excess as large, computed exactly. Where items have very many dealings,
    or clusters several items, dealings are drawn: p = (1 + those as large) / (1 + resamples), with 20 times as many
    draws where fewer than 10 are.

    The answers of a cluster's items are dealt as one: items put under the conditions equally often get the same deal,
    so that copies of an item, whose answers may be the same by more than chance, move together.

    Where more than 200 items, or clusters of several, have answers that are not all equal, the dealings' distribution
    is normal for all practical purposes: p is then the normal tail, with mean 0 and the variance of the dealings, kind
    by kind.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.; p never 0: Phipson and
    Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.

    Args:
        counts: as for `excess_disagreement`.
        clusters: as for `excess_disagreement`.
        resamples: dealings drawn where they are too many to be listed.
        seed: the only source of randomness.

    Returns:
        The p-value, method `permutation-within-items`, or `permutation-within-items-normal`; 1 where no answers differ.
        `n` is the number of items, or clusters of several, whose answers are not all equal; `least` the probability
        that the dealing of every one of them is the most extreme. Flag `empty` where no item takes part.

    Raises:
        ValueError: `counts` has another shape or a negative number.
    """
    table = _check_counts(counts)
    (moves,) = by_parts(_item_moves, table, size=max(PART // table.shape[1], 1))
    rows = np.flatnonzero(moves)
    if not len(rows):
        return Significance(p=None, method=_METHOD, flags=("empty",))
    of = np.arange(len(table)) if clusters is None else _check_clusters(clusters, table)
    units = len(np.unique(of[rows]))
    rows = rows[moves[rows] > 1]
    # Items that share a cluster are dealt as one; those that are alone can be counted by kind, which is exact.
    names, times = np.unique(of[rows], return_counts=True)
    several = np.isin(of[rows], names[times > 1])
    blocks = group_deals(table[rows[several]].astype(np.float64, copy=False), of[rows[several]])
    mixed = table[rows[~several]].astype(np.float64, copy=False)
    # Sorted, so that the draws do not depend on the order of the items.
    mixed = mixed[np.lexsort(mixed.reshape(len(mixed), mixed.shape[1] * mixed.shape[2]).T)]
    (excesses,) = by_parts(lambda some: (item_excess(some),), mixed, size=max(PART // table.shape[1], 1))
    observed = float(excesses.sum()) + sum(block.number * float(item_excess(block.tables).sum()) for block in blocks)
    sizes, pooled = mixed.astype(np.int32).sum(axis=2, dtype=np.int32), mixed.sum(axis=1).astype(np.int32)
    moving = len(mixed) + sum(block.number for block in blocks)
    # The sums above are all that is needed of it.
    del mixed
    drawn = Deals(pooled=pooled, sizes=sizes, blocks=blocks, seed=seed)
    if moving > _DEALT:
        p, method = drawn.normal_p(observed), f"{_METHOD}-normal"
    else:
        p, method = drawn.permutation_p(observed, resamples), _METHOD
    least = drawn.least() if moving <= _DEALT else 0.0
    return Significance(p=p, statistic=observed, method=method, n=moving, clusters=units, least=least)


def _item_moves(table: _Counts) -> tuple[Floats]:
    """Return of every item 0 where it does not take part, and else the number of labels among its answers."""
    takes = takes_part(table.sum(axis=2))
    return (np.where(takes.any(axis=1), (table.sum(axis=1) > 0).sum(axis=1), 0).astype(np.float64),)


def excess_decision(
    counts: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[Excess, Significance]:
    """Estimate the excess disagreement and test it as one decision.

    The estimates of `excess_disagreement` and the test of `excess_permutation_test`. Where the interval and the test
    disagree about 0, the lower end of the excess is moved to 0, and the test decides on which side of it: its interval
    is above 0 exactly where p < 1 - level. An excess of 0 is covered as often as the test does not reject.

    Args:
        counts: as for `excess_disagreement`.
        clusters: as for `excess_disagreement`.
        level: coverage; the test rejects at 1 - level.
        resamples: dealings drawn.
        seed: the only source of randomness.

    Returns:
        The estimates and the test, with the flags of both functions.
    """
    measured = excess_disagreement(counts, clusters, level=level)
    test = excess_permutation_test(counts, clusters, resamples=resamples, seed=seed)
    excess = measured.excess
    if test.p is None or excess.value is None or excess.low is None:
        return measured, test
    # Just above 0, and never above the estimate: the interval has to contain it.
    low = max(excess.low, min(_NOISE, excess.value)) if test.p < 1 - level else min(excess.low, 0.0)
    return evolve(measured, excess=evolve(excess, low=low)), test


def _check_counts(counts: ArrayLike) -> _Counts:
    table = np.asarray(counts)
    # Counts stay in the bytes they have: a table of a million answers is not copied to be checked.
    if table.dtype.kind not in "if":
        table = table.astype(np.float64)
    if table.ndim != _DIMENSIONS or table.shape[1] < ASKED_AGAIN:
        raise ValueError(f"answers must be counts per item, group and label, the reference first; got {table.shape}")
    if not np.all(np.isfinite(table) & (table >= 0)):
        raise ValueError("counts of answers must be finite and 0 or more")
    return table


def _check_clusters(clusters: ArrayLike, table: _Counts) -> Codes:
    codes = np.asarray(clusters, dtype=np.int64)
    if codes.shape != table.shape[:1]:
        raise ValueError(f"clusters need one number per item, {table.shape[:1]}; got {codes.shape}")
    return codes


def excess_sums(differences: Floats, weights: Floats, *, level: float) -> Estimate:
    """Estimate the mean excess from sums per cluster."""
    if np.any(differences != 0):
        return clustered_mean(differences, weights, bounds=_BOUNDS, level=level)
    # Where nothing differs, the ends are as far from 0 as the number of items allows, and not those of the bounds.
    return clustered_difference(differences, weights, level=level)
