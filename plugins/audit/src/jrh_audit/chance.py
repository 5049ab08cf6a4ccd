"""Test whether a pattern in gold labels may be chance; copies of an item are no further evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from jrh_stats import cluster_sums, mcnemar_exact, sign_flip_test, spearman
from numpy.typing import ArrayLike, NDArray

CHANCE: Final = 0.01
"""A pattern is a finding only if its p-value is below this."""


def uneven(heads: Sequence[bool], clusters: NDArray[np.int64]) -> bool:
    """Tell whether a fair coin is unlikely to fall so unevenly.

    Each toss alone: the exact binomial test, of which McNemar's is a case. Where tosses share clusters, the sign-flip
    test exchanges the sides of whole clusters.
    """
    sides = np.asarray(heads, dtype=np.float64)
    if len(np.unique(clusters)) == len(sides):
        up = int(sides.sum())
        p = mcnemar_exact(up, len(sides) - up).p
    else:
        p = sign_flip_test(cluster_sums(clusters, 2 * sides - 1)[:, 0], resamples=2000).p
    return p is not None and p < CHANCE


def associated(one: ArrayLike, other: ArrayLike, clusters: NDArray[np.int64]) -> bool:
    """Tell whether a rank correlation is unlikely to be chance: its interval by cluster, at 99%, leaves out 0."""
    found = spearman(one, other, clusters, level=1 - CHANCE)
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high
