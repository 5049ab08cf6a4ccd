"""Estimate the accuracy of a choice that was made on the same items: nested cross-validation."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from jrh_stats.clusters import ratio_variance
from jrh_stats.estimate import Estimate
from jrh_stats.proportion import clustered_proportion, effective_score_interval

_FEWEST: Final = 3
"""Nested cross-validation leaves two folds out at a time."""
_SPLITS: Final = 30
_FEWEST_SPLITS: Final = 5
_WORK: Final = 3e9
"""Multiplications at most: a few seconds."""
_NOISE: Final = 1e-12


@frozen(kw_only=True)
class HeldOut:
    """What a choice achieves on items it was not made on."""

    accuracy: Estimate
    same: float
    """Share of the folds in which the choice without them is that of all items: 1 where the choice is stable."""


def held_out_accuracy(
    hits: NDArray[np.float64],
    clusters: NDArray[np.int64],
    *,
    folds: int,
    level: float,
    seed: int,
    events: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> HeldOut:
    """Estimate the accuracy of the best of several candidates, chosen on all folds but one and scored on that one.

    The estimate is the mean over random splits into K folds. Its hits are not independent: which candidate is chosen
    for one fold depends on the luck of all others, so that the standard error of a proportion is too small. With two
    folds left out, e_in the accuracy inside the others (each scored with the choice of the K - 2 others), e_out that
    of their choice on the fold left out, and v_out the variance of e_out between the clusters of that fold,

        MSE = mean over folds and splits of (e_in - e_out)^2 - v_out

    estimates the squared error of cross-validation. It is kept between v, the cluster-robust variance of the hits of
    one split, and K v. The interval is Wilson's with the effective number of items p (1 - p) / MSE, and Student's t
    with 2 (K - 1) degrees of freedom.

    Source: Bates, Hastie and Tibshirani (2023), Journal of the American Statistical Association, for the mean squared
    error and its limits; details from memory, not consulted. Ours are Wilson's form, and what simulations decided: no
    correction for the bias of K folds, which made the error larger than the bias was; t instead of the factor
    (K - 1) / K and a normal quantile, which covered 90 to 96% where panels were equally good.

    Args:
        hits: whether a candidate is right, shape (items, candidates).
        clusters: the cluster of every item, numbered from 0, shape (items,); folds never part one.
        folds: number of folds K; fewer where there are fewer than two clusters for each.
        level: coverage.
        seed: deals the clusters into folds.
        events: what the candidate chosen for its hits is scored by instead of them: whether the event happened, shape
            (items, candidates), and which items count, 0 or 1, shape (items,). Without: the hits of all items.

    Returns:
        The accuracy, or the rate of the event, method `nested-cross-validation`; that of `clustered_proportion` on the
        hits of one split with fewer than six clusters, and where no hit varies.
    """
    units = int(clusters.max()) + 1
    sums = _sums(hits, clusters, units)
    happened, counted = (hits, np.ones(len(clusters))) if events is None else events
    sizes = np.bincount(clusters, counted, units).astype(np.float64)
    tops = sums if events is None else _sums(happened * counted[:, None], clusters, units)
    there = sizes > 0
    nested = min(units, int(there.sum())) // 2 >= _FEWEST
    folds = min(folds, units // 2) if nested else min(folds, units)
    splits = int(np.clip(_WORK / (folds * (units + folds) * hits.shape[1]), _FEWEST_SPLITS, _SPLITS))
    generator = np.random.default_rng(seed)
    rounds = [_Split.of(sums, sizes, generator.permutation(units) % folds, folds, tops) for _ in range(splits)]
    chosen = sums.sum(axis=0).argmax()
    same = float(np.mean([one.chosen == chosen for one in rounds]))
    if not there.any():
        return HeldOut(accuracy=Estimate(value=None, flags=("empty",)), same=same)
    plain = clustered_proportion(rounds[0].hits[there], sizes[there], level=level)
    value = float(np.mean([one.hits.sum() for one in rounds])) / float(sizes.sum())
    if not nested or plain.low is None or not _NOISE < value < 1 - _NOISE:
        return HeldOut(accuracy=plain, same=same)
    naive = float(np.mean([ratio_variance(one.hits[there], sizes[there]) for one in rounds]))
    if naive <= _NOISE:
        return HeldOut(accuracy=plain, same=same)
    error = float(np.mean([one.excess for one in rounds]))
    variance = min(max(error, naive), folds * naive)
    low, high = effective_score_interval(value, variance, 2 * (folds - 1), level)
    return HeldOut(
        accuracy=evolve(
            plain, value=value, low=min(low, value), high=max(high, value), method="nested-cross-validation"
        ),
        same=same,
    )


def _sums(values: NDArray[np.float64], clusters: NDArray[np.int64], units: int) -> NDArray[np.float64]:
    sums = np.zeros((units, values.shape[1]))
    np.add.at(sums, clusters, values)
    return sums


@frozen(kw_only=True, eq=False)
class _Split:
    """One split of the clusters into folds."""

    hits: NDArray[np.float64]
    """Hits of every cluster with the candidate chosen without its fold, shape (units,)."""
    chosen: NDArray[np.int64]
    """That candidate, shape (folds,)."""
    excess: float
    """Mean over the folds of (e_in - e_out)^2 - v_out."""

    @classmethod
    def of(
        cls,
        sums: NDArray[np.float64],
        sizes: NDArray[np.float64],
        fold: NDArray[np.int64],
        folds: int,
        scored_by: NDArray[np.float64] | None = None,
    ) -> _Split:
        tops = sums if scored_by is None else scored_by
        member = (fold[:, None] == np.arange(folds)).astype(np.float64)
        within, scored, size = member.T @ sums, member.T @ tops, member.T @ sizes
        total = within.sum(axis=0)
        chosen = (total - within).argmax(axis=1)
        hits = tops[np.arange(len(tops)), chosen[fold]]
        own = np.arange(folds)
        # For every two folds the choice without both, scored on the second of them.
        pairs = np.stack([(total - within - within[left]).argmax(axis=1) for left in own])
        inner = scored[own[None, :], pairs]
        inner[own, own] = 0.0
        # One cluster has no variance that could be told from the error of the choice; nor has a fold that holds all.
        told = (np.bincount(fold[sizes > 0], minlength=folds) > 1) & (size < size.sum())
        outside = scored[own, chosen][told] / size[told]
        inside = inner.sum(axis=1)[told] / (size.sum() - size[told])
        noise = _variances(hits[sizes > 0], sizes[sizes > 0], fold[sizes > 0], folds)[told]
        excess = float(np.mean(np.square(inside - outside) - noise)) if told.any() else 0.0
        return cls(hits=hits, chosen=chosen, excess=excess)


def _variances(
    hits: NDArray[np.float64], sizes: NDArray[np.float64], fold: NDArray[np.int64], folds: int
) -> NDArray[np.float64]:
    """Return `ratio_variance` within each fold; 0 of one cluster."""
    units, tops, totals = (np.bincount(fold, weights, folds) for weights in (None, hits, sizes))
    rates = tops / np.maximum(totals, _NOISE)
    squares = np.bincount(fold, np.square(hits - rates[fold] * sizes), folds)
    scale = np.where(units > 1, units / np.maximum(units - 1, 1), 0.0)
    return np.asarray(scale * squares / np.square(np.maximum(totals, _NOISE)))
