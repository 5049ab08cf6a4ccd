"""Estimate Cohen's kappa, plain and with quadratic weights, with intervals by cluster of items."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, positive_or_nan
from jrh_stats.clusters import Kinds, cluster_margins, cluster_sums, kinds_of, number_pairs, whole_codes
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import beyond_chance, chance_corrected
from jrh_stats.kinds import MOST_LABELS, label_kinds
from jrh_stats.significance import Significance

Weighting: TypeAlias = Literal["none", "quadratic"]
"""How a disagreement counts: all alike, or by squared distance."""


def cohen_kappa(
    first: ArrayLike, second: ArrayLike, *, weighting: Weighting = "none", case_weights: ArrayLike | None = None
) -> Estimate:
    """Compute Cohen's kappa of paired labels, without an interval.

    kappa = 1 - D_o / D_e, with D_o the mean disagreement weight of the pairs and D_e the mean over all combinations of
    the two margins. The weight of labels i and j is [i != j] or (i - j)^2. With the second, kappa is
    Lin's concordance correlation coefficient (CCC) of the codes.

    Source: Cohen (1960), Educational and Psychological Measurement 20:37-46; weighted: Cohen (1968), Psychological
    Bulletin 70:213-220.

    Args:
        first: label codes, whole numbers >= 0, shape (n,); for weighted kappa the ranks of the labels.
        second: label codes of the other side, shape (n,).
        weighting: `none` or `quadratic`.
        case_weights: how much each pair counts, shape (n,); 1 by default.

    Returns:
        The estimate. Flag `degenerate` and no value where both sides always give the same one label: agreement by
        chance is then certain and kappa is 0 / 0. Flag `empty` without pairs.

    Raises:
        ValueError: the shapes differ or a code is negative.
    """
    table = _Pairs(first, second, np.zeros(np.shape(first), dtype=np.int64), weighting, case_weights)
    n, clusters, total = float(table.total[0]), len(table.kinds), table.total[None, :]
    if not n > 0:
        return Estimate(value=None, flags=("empty",))
    value = float(beyond_chance(table.disagreement(total), table.chance_disagreement(total))[0])
    if np.isnan(value):
        return Estimate(value=None, n=n, clusters=clusters, flags=("degenerate",))
    return Estimate(value=value, n=n, clusters=clusters)


def clustered_kappa(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    weighting: Weighting = "none",
    case_weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate Cohen's kappa with an interval by cluster of items.

    The variance is that of the jackknife which leaves out one whole cluster at a time, over K clusters

        v = (K - 1) / K * sum_k (kappa_(k) - mean kappa_(k))^2

    and the quantile is Student's t.

    * Unweighted: Wilson's interval with an effective number of pairs, on u = (1 - kappa) / 2, which lies in [0, 1] (as
      in `clustered_proportion`), t with the `design_degrees` of u; of clusters uneven in size at most the
      `effective_degrees`. Method `jackknife-wilson`.
    * Weighted: symmetric in Fisher's z, with the jackknife of z itself, as in `correlation_estimate`, t with the
      `effective_degrees`. Method `jackknife-fisher-z`.
    * Kappa 1 has no variance: method `wilson-clusters`, from 1 - h / D_e to 1, with h Wilson's upper end for 0
      disagreements in K clusters.
    * Where leaving out a cluster changes nothing (all have the same table, or one side is constant): method
      `wilson-clusters`, Wilson's interval of u with n = K.
    * Weighted, both cases: the extremes over what a share h of unseen clusters could add, with the levels that occur
      (`jrh_stats.unseen`).
    * With a single cluster there is a value but no interval.

    With few clusters and a rare label every interval falls short (86% with 20 items of which one is of the rare label,
    in a simulation) or is far too wide; the flag `few-events` says so. docs/statistics.md has the coverage by design.

    Source: jackknife over clusters: Efron (1982), The Jackknife, the Bootstrap and Other Resampling Plans, chapter 3;
    Fisher's z for weighted kappa and the concordance correlation, which are equal: Lin (1989), Biometrics 45:255-268;
    the score interval of (1 - kappa) / 2 is ours (`docs/derivations.md`).

    Args:
        first: label codes as in `cohen_kappa`, shape (n,).
        second: label codes of the other side, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        weighting: `none` or `quadratic`.
        case_weights: how much each pair counts, shape (n,); 1 by default.
        level: coverage.

    Returns:
        The estimate, with the flags of `cohen_kappa` and `few-events`.

    Raises:
        ValueError: the shapes differ, a code is negative, or the level is not between 0 and 1.
    """
    table = _Pairs(first, second, clusters, weighting, case_weights)
    return chance_corrected(
        table.kinds,
        table.disagreement,
        table.chance_disagreement,
        n=float(table.total[0]),
        level=level,
        unseen=None if weighting == "none" else table.unseen(),
        sized_by=0,
    )


_MOST_KINDS: Final = 400
"""Of pairs of kinds of clusters; with more the interval of kappa decides, at a fraction of the time."""
_TIED: Final = 1e-9


def kappa_test(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike,
    *,
    weighting: Weighting = "none",
    draws: int = 19_999,
    seed: int = 0,
) -> Significance:
    """Test that labels are paired at random, by exchanging the first labels between clusters.

    Needs no variance: of a judge with few large errors the jackknife's is so unsure that the interval of kappa holds 0
    although random pairs would hardly ever agree as well. Of K clusters, v_k and g_k are the shares of each label on
    either side; the statistic is T = sum_k v_k' W g_k with the disagreement weights W of kappa, and its mean over all
    assignments is known. p = (1 + assignments as far from the mean) / (1 + drawn).

    Source: Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.; p never 0: Phipson and
    Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39.

    Args:
        first: label codes as in `cohen_kappa`, shape (n,).
        second: label codes of the other side, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,).
        weighting: `none` or `quadratic`.
        draws: assignments drawn.
        seed: the only source of randomness.

    Returns:
        The two-sided p-value, method `permutation`. None without pairs (flag `empty`). None, too, where the second
        labels differ within a cluster, since exchanging whole clusters tells nothing about what differs inside them,
        and where clusters hold very many different sets of labels: the interval of kappa has to decide then.
    """
    left, right, labels = number_pairs(whole_codes(first), whole_codes(second))
    cluster = np.unique(np.asarray(clusters), return_inverse=True)[1]
    number = int(cluster.max(initial=-1)) + 1
    if not number:
        return Significance(p=None, method="permutation", flags=("empty",))
    kinds, sizes, of = [], [], []
    for side in (left, right):
        counts = np.bincount(cluster * len(labels) + side, minlength=number * len(labels)).reshape(number, -1)
        shares = counts / counts.sum(axis=1, keepdims=True)
        kind, place, size = np.unique(shares, axis=0, return_inverse=True, return_counts=True)
        kinds.append(kind)
        of.append(place.reshape(-1))
        sizes.append(size)
    alike = bool(np.all(kinds[1].max(axis=1) == 1.0))
    if not alike or (len(sizes[0]) - 1) * (len(sizes[1]) - 1) > _MOST_KINDS:
        return Significance(p=None, method="permutation", clusters=number)
    distance = kinds[0] @ label_distance(labels[:, None], labels[None, :], weighting) @ kinds[1].T
    mean = float(sizes[0] @ distance @ sizes[1]) / number
    seen = abs(float(distance[of[0], of[1]].sum()) - mean)
    drawn = _draw_pairings(sizes[0], sizes[1], distance, draws, seed)
    extreme = int((np.abs(drawn - mean) >= seen - _TIED * max(mean, 1.0)).sum())
    p, least = (1 + extreme) / (1 + draws), 1 / (1 + draws)
    return Significance(p=p, statistic=seen, method="permutation", n=len(left), clusters=number, least=least)


def _draw_pairings(first: Codes, second: Codes, distance: Floats, draws: int, seed: int) -> Floats:
    """Draw the summed distance of random pairings of kinds, given how many there are of each on both sides."""
    generator, total = np.random.default_rng(seed), np.zeros(draws)
    left = np.tile(first, (draws, 1))
    # Kind by kind, the partners of the second side are drawn from what is left of the first: their number is enough.
    for column, size in enumerate(second):
        wanted, among = np.full(draws, size), left.sum(axis=1)
        for row in range(len(first)):
            among = among - left[:, row]
            drawn = generator.hypergeometric(left[:, row], among, wanted)
            total += drawn * distance[row, column]
            left[:, row] -= drawn
            wanted = wanted - drawn
    return total


class _Pairs:
    """Paired labels as kinds of clusters, with the sums: total weight, observed disagreement, both margins."""

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        clusters: ArrayLike,
        weighting: Weighting,
        case_weights: ArrayLike | None,
    ) -> None:
        left, right = whole_codes(first), whole_codes(second)
        mass = np.broadcast_to(1.0, left.shape) if case_weights is None else np.asarray(case_weights, dtype=np.float64)
        if left.shape != right.shape or left.shape != mass.shape or left.ndim != 1:
            raise ValueError("the labels of both sides and the case weights must be arrays of equal length")
        if left.size and min(left.min(), right.min()) < 0:
            raise ValueError("label codes must be 0 or more; leave out pairs without a label")
        rows, columns, labels = number_pairs(left, right)
        self.distance = label_distance(labels[:, None], labels[None, :], weighting)
        # Leaving out one cluster of each kind instead of each cluster: with few labels there are tens of kinds.
        self.kinds = _pair_kinds(rows, columns, clusters, mass, self.distance)
        self.total = self.kinds.total

    def disagreement(self, totals: Floats) -> Floats:
        """Compute D_o of totals of shape (B, columns), NaN where nothing is left."""
        return np.asarray(totals[:, 1] / positive_or_nan(totals[:, 0]), dtype=np.float64)

    def chance_disagreement(self, totals: Floats) -> Floats:
        """Compute D_e of totals of shape (B, columns)."""
        size = len(self.distance)
        left, right = totals[:, 2 : 2 + size], totals[:, 2 + size :]
        mean = ((left @ self.distance) * right).sum(axis=1) / np.square(positive_or_nan(totals[:, 0]))
        return np.asarray(mean, dtype=np.float64)

    def unseen(self) -> Floats:
        """Return the sums of one pair each at the corners of the table: lowest and highest label on either side."""
        size = len(self.distance)
        if not size:
            return np.zeros((0, 2))
        ends = np.eye(size)[[0, -1]]
        # No pair can change the coefficient more: far apart, or agreeing at an end.
        corners = [(0, -1), (-1, 0), (0, 0), (-1, -1)]
        rows = [[np.ones(1), [self.distance[row, column]], ends[row], ends[column]] for row, column in corners]
        return np.stack([np.concatenate(parts) for parts in rows])


def _pair_kinds(rows: Codes, columns: Codes, clusters: ArrayLike, mass: Floats, distance: Floats) -> Kinds:
    """Return kinds of clusters with the columns weight, weight times distance, margins of one side and of the other."""
    size = len(distance)
    if size <= MOST_LABELS:
        tables = label_kinds(clusters, rows * size + columns, mass, n_labels=size * size)
        either = np.eye(size)
        sides = np.repeat(either, size, axis=0), np.tile(either, (size, 1))
        return tables.times(np.column_stack([np.ones(size * size), distance.reshape(-1), *sides]))
    margins = (cluster_margins(clusters, side, mass, n_labels=size) for side in (rows, columns))
    return kinds_of(np.hstack([cluster_sums(clusters, mass, mass * distance[rows, columns]), *margins]))


def label_distance(first: Codes, second: Codes, weighting: Weighting) -> Floats:
    """Return how much labels differ: not at all or fully, or in squared steps."""
    if weighting == "none":
        return np.asarray(first != second, dtype=np.float64)
    return np.asarray(np.square((first - second).astype(np.float64)), dtype=np.float64)
