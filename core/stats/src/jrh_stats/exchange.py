"""Distribute the difference of two sides under the null hypothesis, and compare a statistic with its distribution.

A cluster's difference has finitely many values under the null hypothesis, each with a known probability: d and -d where
whole sides are exchanged, or the differences of all ways to deal its answers to the two sides again. Clusters with the
same values are of one kind. What a sample of clusters may add up to then has a product of multinomial distributions:
enumerated where that is feasible, drawn from otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh_stats.clusters import distinct

Numbers = NDArray[np.float64]

_ENUMERATED: Final = 2**14
"""With so many outcomes of all kinds together, or fewer, all are enumerated."""
_CHUNK: Final = 2_000_000
_NOISE: Final = 1e-9
_SUMS: Final = 5
_FLOOR: Final = 2 / 3
_ENDLESS: Final = 1e12


@frozen(kw_only=True, eq=False, slots=False)
class Kind:
    """Clusters whose difference has the same distribution under the null hypothesis."""

    values: Numbers
    """Values of the summed difference of a cluster, shape (J,); their mean is 0."""
    chances: Numbers
    """Probability of each value, shape (J,)."""
    weight: float
    """Denominator of the cluster."""
    count: int
    """Number of clusters."""
    dealt: bool
    """Whether the cluster's answers can be dealt again, because its two sides have different numbers of them."""

    @property
    def moving(self) -> bool:
        """Return whether the difference can be anything but 0."""
        return bool(np.abs(self.values).max() > _NOISE)

    @property
    def variance(self) -> float:
        """Return the variance of one cluster's difference."""
        return float(self.chances @ np.square(self.values))

    @cached_property
    def columns(self) -> Numbers:
        """Return what each value adds to the `Sums`, shape (J, 5)."""
        parts = np.stack([np.square(self.values), self.weight * self.values], axis=1)
        nothing = np.zeros_like(parts)
        sides = (nothing, parts) if self.dealt else (parts, nothing)
        return np.hstack([self.values[:, None], *sides])


@frozen(kw_only=True, eq=False)
class Compared:
    """The differences of all clusters, as observed."""

    sums: Numbers
    """Sum of differences and of weights per cluster, sorted, so that the order of clusters does not show; (K, 2)."""
    dealt: NDArray[np.bool_]
    """Clusters whose answers can be dealt again, shape (K,)."""

    @classmethod
    def of(cls, sums: Numbers, dealt: NDArray[np.bool_] | None = None) -> Compared:
        """Sort the clusters; by default none can be dealt again."""
        order = np.lexsort(sums.T[::-1])
        flags = np.zeros(len(sums), dtype=np.bool_) if dealt is None else dealt
        return cls(sums=sums[order], dealt=flags[order])

    @property
    def observed(self) -> Numbers:
        """Return the sums that a `Statistic` takes, shape (1, 5)."""
        top, bottom = self.sums.T
        parts = [top.sum()]
        for chosen in (~self.dealt, self.dealt):
            parts += [np.square(top[chosen]).sum(), top[chosen] @ bottom[chosen]]
        return np.array([parts])

    def exchanged(self, chosen: NDArray[np.bool_] | None = None) -> list[Kind]:
        """Return clusters, by default all, as kinds whose whole sides are exchanged: d and -d are equally likely."""
        table = np.column_stack([np.abs(self.sums[:, 0]), self.sums[:, 1], self.dealt])
        rows, counts = distinct(table if chosen is None else table[chosen])
        return [
            Kind(
                values=np.array([top, -top]),
                chances=np.full(2, 0.5),
                weight=float(bottom),
                count=int(count),
                dealt=bool(dealt),
            )
            for (top, bottom, dealt), count in zip(rows, counts, strict=True)
        ]


@frozen(kw_only=True, eq=False)
class Statistic:
    """The studentised mean difference, with what it needs to know of the clusters besides their differences.

    With r the mean difference as a share of its span, u = (1 + r) / 2, and v the variance of r, it is

        t = |r| sqrt((1 - r^2) / v)

    Wilson's interval of u with the effective number of trials (1 - r^2) / v and the quantile q contains 1/2 exactly
    where t <= q. v is `ratio_variance`; but clusters whose answers can be dealt again add no less to it than two thirds
    of the variance of the dealings times 1 - r^2: where one side has one answer, it may have no error by luck, and the
    differences alone would then say nearly nothing of the noise. Only two thirds, because the dealings vary more than
    the differences where the side with fewer answers is the less noisy one; tests are valid for any such share.
    """

    clusters: int
    total: float
    """Sum of the denominators."""
    squares: tuple[float, float]
    """Sum of the squared denominators, of clusters that are not dealt and of those that are."""
    floor: float
    """The least summed variance of clusters that are dealt."""

    @classmethod
    def of(cls, kinds: Sequence[Kind]) -> Statistic:
        """Add up what does not change under the null hypothesis."""
        squares = [sum(each.count * each.weight**2 for each in kinds if each.dealt == dealt) for dealt in (False, True)]
        return cls(
            clusters=sum(each.count for each in kinds),
            total=sum(each.count * each.weight for each in kinds),
            squares=(squares[0], squares[1]),
            floor=_FLOOR * sum(each.count * each.variance for each in kinds if each.dealt),
        )

    def variance(self, sums: Numbers) -> Numbers:
        """Return v of sums of shape (n, 5): the difference, and its squares and products with the denominator twice."""
        ratio = sums[:, 0] / self.total
        own, dealt = (
            sums[:, 1 + at] - 2 * ratio * sums[:, 2 + at] + np.square(ratio) * squares
            for at, squares in zip((0, 2), self.squares, strict=True)
        )
        spread = own + np.maximum(dealt, self.floor * (1 - np.square(ratio)))
        return np.asarray(spread * self.clusters / max(self.clusters - 1, 1) / self.total**2)

    def values(self, sums: Numbers) -> Numbers:
        """Return t of sums of shape (n, 5); `_ENDLESS` where a difference has no variance."""
        ratio, variance = sums[:, 0] / self.total, self.variance(sums)
        varies = variance > _NOISE / self.total**2
        t = np.abs(ratio) * np.sqrt(np.maximum(1 - np.square(ratio), 0.0) / np.where(varies, variance, 1.0))
        return np.where(varies, t, np.where(np.abs(ratio) > _NOISE, _ENDLESS, 0.0))


def mid_p(seen: float, statistic: Statistic, kinds: Sequence[Kind], *, resamples: int, seed: int) -> tuple[float, bool]:
    """Return the probability of larger values of a statistic and half that of equal ones, and whether it is exact.

    Args:
        seen: the statistic of the data.
        statistic: how it is computed.
        kinds: the clusters under the null hypothesis.
        resamples: number of outcomes to draw where there are too many to enumerate.
        seed: seed of the draws.
    """
    moving = [kind for kind in kinds if kind.moving]
    exact = _number(moving) <= _ENUMERATED
    sums, chances = _enumerated(moving) if exact else _drawn(moving, resamples, seed)
    beyond = statistic.values(sums) - seen
    slack = _NOISE * max(seen, 1.0)
    p = float(chances[beyond > slack].sum() + chances[np.abs(beyond) <= slack].sum() / 2)
    # Where outcomes are drawn, the data themselves are one more draw: p is never 0.
    return min(p if exact else (1 + p * resamples) / (1 + resamples), 1.0), exact


def _number(kinds: Sequence[Kind]) -> int:
    """Count the outcomes of all kinds together, as far as that matters."""
    number = 1
    for kind in kinds:
        number *= comb(kind.count + len(kind.values) - 1, len(kind.values) - 1)
        if number > _ENUMERATED:
            break
    return number


def _enumerated(kinds: Sequence[Kind]) -> tuple[Numbers, Numbers]:
    sums, chances = np.zeros((1, _SUMS)), np.ones(1)
    for kind in kinds:
        times, probability = _multinomial(kind)
        sums = (sums[:, None] + (times @ kind.columns)[None]).reshape(-1, _SUMS)
        chances = (chances[:, None] * probability).reshape(-1)
    return sums, chances


def _multinomial(kind: Kind) -> tuple[Numbers, Numbers]:
    """List how many clusters of a kind may have each value, and the probability of each list."""
    from scipy.special import gammaln, xlogy

    times = _compositions(kind.count, len(kind.values))
    logs = gammaln(kind.count + 1) - gammaln(times + 1).sum(axis=1) + xlogy(times, kind.chances).sum(axis=1)
    return times, np.exp(logs)


def _compositions(total: int, parts: int) -> Numbers:
    """List all ways to write a number as an ordered sum of so many numbers of 0 or more, shape (ways, parts)."""
    if parts == 1:
        return np.full((1, 1), float(total))
    last = np.arange(total + 1, dtype=np.float64)
    if parts == 2:  # noqa: PLR2004 - the usual case, without recursion
        return np.stack([last, total - last], axis=1)
    found = []
    for first in range(total + 1):
        rest = _compositions(total - first, parts - 1)
        found.append(np.hstack([np.full((len(rest), 1), float(first)), rest]))
    return np.concatenate(found)


def _drawn(kinds: Sequence[Kind], resamples: int, seed: int) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    total = np.zeros((resamples, _SUMS))
    even = [kind for kind in kinds if len(kind.values) == 2 and kind.chances[0] == kind.chances[1]]  # noqa: PLR2004
    if even:
        # Exchanged sides, which may be of many kinds: how many keep their sign is binomial.
        counts = np.array([kind.count for kind in even])
        columns = np.stack([kind.columns for kind in even])
        step = max(1, _CHUNK // len(even))
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            times = generator.binomial(counts, 0.5, size=(size, len(even))).astype(np.float64)
            total[start : start + size] += times @ columns[:, 0] + (counts - times) @ columns[:, 1]
    for kind in kinds:
        if kind in even:
            continue
        step = max(1, _CHUNK // len(kind.values))
        for start in range(0, resamples, step):
            drawn = generator.multinomial(kind.count, kind.chances, size=min(step, resamples - start))
            total[start : start + step] += drawn @ kind.columns
    return total, np.full(resamples, 1 / resamples)
