"""Test whether verdicts of several levels, such as prompt templates, agree less than chance makes them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import parts_of
from jrh_stats.significance import Significance

_METHOD: Final = "permutation-of-levels"
_DIMENSIONS: Final = 3
_AT_ONCE: Final = 2_000_000
"""Floats in memory at once, about 16 MB."""
_NOISE: Final = 1e-9


def opposition_test(
    shares: ArrayLike,
    pairs: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    usable: ArrayLike | None = None,
    resamples: int = 1999,
    seed: int = 0,
) -> Significance:
    """Test whether the verdicts of pairs of levels agree less often than independent verdicts do.

    Under the null the verdicts of a level do not depend on those of the others. They are then as likely for any other
    item: every level's verdicts are dealt again over the items. The statistic is the summed agreement

        sum over pairs (l, m) and items i of sum_q s_ilq s_imq

    with s_ilq the share of label q among the verdicts of item i under level l. All labels stay as frequent as they are,
    so that fewer agreements are a smaller kappa. One-sided: p = (1 + deals with no more agreement) / (1 + resamples),
    which is at most alpha in at most alpha of all samples, whatever the number of items and however rare a label.

    Clusters of items are dealt whole, among clusters of as many items with verdicts at the same places.

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.; p never 0: Phipson and
    Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39. Neither was consulted.

    Args:
        shares: share of each label, 0 where there is no verdict, shape (items, levels, labels).
        pairs: the two levels of every pair, shape (pairs, 2).
        clusters: the cluster of every item, whole numbers >= 0, shape (items,); None: every item is its own.
        usable: whether a pair counts for an item, shape (items, pairs); all by default.
        resamples: deals drawn.
        seed: the only source of randomness.

    Returns:
        The p-value, method `permutation-of-levels`; flag `empty` without items or pairs. `n` is the number of items.

    Raises:
        ValueError: the shapes do not fit.
    """
    table, of_pairs = np.asarray(shares, dtype=np.float64), np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if table.ndim != _DIMENSIONS:
        raise ValueError(f"shares must have the shape (items, levels, labels); got {table.shape}")
    items = len(table)
    counts = np.ones((items, len(of_pairs))) if usable is None else np.asarray(usable, dtype=np.float64)
    of = np.arange(items) if clusters is None else np.asarray(clusters, dtype=np.int64)
    if counts.shape != (items, len(of_pairs)) or of.shape != (items,):
        raise ValueError("clusters need one number per item, `usable` one per item and pair")
    if not counts.any():
        return Significance(p=None, method=_METHOD, flags=("empty",))
    blocks = _blocks(of, np.column_stack([table.sum(axis=2) > 0, counts > 0]))
    generator = np.random.default_rng(seed)
    levels = np.unique(of_pairs)
    observed = float(_agreement(table[None], of_pairs, counts)[0])
    as_low = 0
    for part in parts_of(resamples, max(1, _AT_ONCE // max(table.size, 1))):
        drawn = part.stop - part.start
        dealt = np.repeat(table[None], drawn, axis=0)
        # One level may stay: only how the levels are matched counts.
        for level in levels[1:]:
            place = np.tile(np.arange(items), (drawn, 1))
            for block in blocks:
                place[:, block] = block[np.argsort(generator.random((drawn, len(block))), axis=1)]
            dealt[:, :, level] = table[place, level]
        as_low += int(np.count_nonzero(_agreement(dealt, of_pairs, counts) <= observed + _NOISE))
    return Significance(
        p=(1 + as_low) / (1 + resamples), statistic=observed, method=_METHOD, n=items, clusters=len(set(of))
    )


def _agreement(tables: Floats, pairs: Codes, counts: Floats) -> Floats:
    """Return the summed agreement of tables of shape (B, items, levels, labels)."""
    agreement = np.zeros(len(tables))
    for place, (first, second) in enumerate(pairs):
        agreement += ((tables[:, :, first] * tables[:, :, second]).sum(axis=2) * counts[:, place]).sum(axis=1)
    return agreement


def _blocks(clusters: Codes, there: Mask) -> list[Codes]:
    """Return the clusters that may take each other's place, as arrays of items of shape (clusters, size)."""
    alike: dict[tuple[int, bytes], list[Codes]] = {}
    order = np.argsort(clusters, kind="stable")
    # Cluster numbers are 0 or more, so -1 makes the first row the start of a cluster.
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    for items in np.split(order, starts[1:]):
        # Exchangeable are clusters of one size with verdicts at the same places: a missing verdict stays where it is.
        alike.setdefault((len(items), there[items].tobytes()), []).append(items)
    return [np.stack(clusters_alike) for clusters_alike in alike.values() if len(clusters_alike) > 1]
