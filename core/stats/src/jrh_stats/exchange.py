"""Distribute the difference of two sides under the null hypothesis, and compare a statistic with its distribution.

A cluster's difference has finitely many values under the null hypothesis, each with a known probability: d and -d where
whole sides are exchanged, or the differences of all ways to deal its answers to the two sides again. Clusters with the
same values are of one kind. What a sample of clusters may add up to then has a product of multinomial distributions:
enumerated where that is feasible, drawn from otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import Kinds, dense_codes, distinct, join_kinds, parts_of

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

    values: Floats
    """Values of the summed difference of a cluster, shape (J,); their mean is 0."""
    chances: Floats
    """Probability of each value, shape (J,)."""
    weight: float
    """Denominator of the cluster."""
    count: int
    """Number of clusters."""
    dealt: bool
    """Whether the cluster's answers can be dealt again, because its two sides have different numbers of them."""

    @property
    def moves(self) -> bool:
        """Return whether the difference can be anything but 0."""
        return bool(np.abs(self.values).max() > _NOISE)

    @property
    def variance(self) -> float:
        """Return the variance of one cluster's difference."""
        return float(self.chances @ np.square(self.values))

    @cached_property
    def columns(self) -> Floats:
        """Return what each value adds to the `Sums`, shape (J, 5)."""
        parts = np.stack([np.square(self.values), self.weight * self.values], axis=1)
        nothing = np.zeros_like(parts)
        sides = (nothing, parts) if self.dealt else (parts, nothing)
        return np.hstack([self.values[:, None], *sides])


@frozen(kw_only=True, eq=False)
class ClusterDifferences:
    """The differences of all clusters, as observed."""

    sums: Floats
    """Sum of differences and of weights per cluster, sorted, so that the order of clusters does not show; (K, 2)."""
    dealt: Mask
    """Clusters whose answers can be dealt again, shape (K,)."""

    @classmethod
    def of(cls, sums: Floats, dealt: Mask | None = None) -> ClusterDifferences:
        """Sort the clusters; by default none can be dealt again."""
        order = np.lexsort(sums.T[::-1])
        flags = np.zeros(len(sums), dtype=np.bool_) if dealt is None else dealt
        return cls(sums=sums[order], dealt=flags[order])

    @property
    def statistic_sums(self) -> Floats:
        """Return the sums that a `Statistic` takes, shape (1, 5)."""
        top, bottom = self.sums.T
        parts = [top.sum()]
        for chosen in (~self.dealt, self.dealt):
            parts += [np.square(top[chosen]).sum(), top[chosen] @ bottom[chosen]]
        return np.array([parts])

    def exchange_sides(self, chosen: Mask | None = None) -> list[Kind]:
        """Return clusters, by default all, as kinds whose whole sides are exchanged: d and -d are equally likely."""
        # The sign of a difference is what is exchanged, so clusters that differ in it alone are one kind.
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
        squares = [sum(kind.count * kind.weight**2 for kind in kinds if kind.dealt == dealt) for dealt in (False, True)]
        return cls(
            clusters=sum(kind.count for kind in kinds),
            total=sum(kind.count * kind.weight for kind in kinds),
            squares=(squares[0], squares[1]),
            floor=_FLOOR * sum(kind.count * kind.variance for kind in kinds if kind.dealt),
        )

    def variance(self, sums: Floats) -> Floats:
        """Return v of sums of shape (n, 5): the difference, and its squares and products with the denominator twice."""
        ratio = sums[:, 0] / self.total
        exchangeable, dealt = (
            sums[:, 1 + at] - 2 * ratio * sums[:, 2 + at] + np.square(ratio) * squares
            for at, squares in zip((0, 2), self.squares, strict=True)
        )
        # The floor moves with r as the variance of a proportion does, by 1 - r^2; the class says why there is one.
        spread = exchangeable + np.maximum(dealt, self.floor * (1 - np.square(ratio)))
        return np.asarray(spread * self.clusters / max(self.clusters - 1, 1) / self.total**2)

    def values(self, sums: Floats) -> Floats:
        """Return t of sums of shape (n, 5); `_ENDLESS` where a difference has no variance."""
        ratio, variance = sums[:, 0] / self.total, self.variance(sums)
        # Relative to the total: the variance of a mean falls with the number of denominators.
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
    moving = [kind for kind in kinds if kind.moves]
    exact = _number(moving) <= _ENUMERATED
    # A kind that cannot move adds the same to every outcome, and would only multiply their number by 1.
    sums, chances = _enumerate_outcomes(moving) if exact else _draw_outcomes(moving, resamples, seed)
    beyond = statistic.values(sums) - seen
    # Sums of the same outcome in another order differ by rounding; they count as equal.
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


def _enumerate_outcomes(kinds: Sequence[Kind]) -> tuple[Floats, Floats]:
    sums, chances = np.zeros((1, _SUMS)), np.ones(1)
    for kind in kinds:
        times, probability = _multinomial(kind)
        sums = (sums[:, None] + (times @ kind.columns)[None]).reshape(-1, _SUMS)
        chances = (chances[:, None] * probability).reshape(-1)
    return sums, chances


def _multinomial(kind: Kind) -> tuple[Floats, Floats]:
    """List how many clusters of a kind may have each value, and the probability of each list."""
    from jrh_stats.special import gammaln, xlogy

    times = compositions(kind.count, len(kind.values))
    logs = gammaln(kind.count + 1) - gammaln(times + 1).sum(axis=1) + xlogy(times, kind.chances).sum(axis=1)
    return times, np.exp(logs)


def compositions(total: int, parts: int) -> Floats:
    """List all ways to write a number as an ordered sum of so many numbers of 0 or more, shape (ways, parts)."""
    if parts == 1:
        return np.full((1, 1), float(total))
    last = np.arange(total + 1, dtype=np.float64)
    if parts == 2:  # noqa: PLR2004 - the usual case, without recursion
        return np.stack([last, total - last], axis=1)
    ways = []
    for first in range(total + 1):
        tails = compositions(total - first, parts - 1)
        ways.append(np.hstack([np.full((len(tails), 1), float(first)), tails]))
    return np.concatenate(ways)


def _draw_outcomes(kinds: Sequence[Kind], resamples: int, seed: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    total = np.zeros((resamples, _SUMS))
    even = [kind for kind in kinds if len(kind.values) == 2 and kind.chances[0] == kind.chances[1]]  # noqa: PLR2004
    if even:
        # Exchanged sides, which may be of many kinds: how many keep their sign is binomial.
        counts = np.array([kind.count for kind in even])
        columns = np.stack([kind.columns for kind in even])
        for part in parts_of(resamples, max(1, _CHUNK // len(even))):
            times = generator.binomial(counts, 0.5, size=(part.stop - part.start, len(even))).astype(np.float64)
            total[part] += times @ columns[:, 0] + (counts - times) @ columns[:, 1]
    for kind in kinds:
        if kind in even:
            continue
        for part in parts_of(resamples, max(1, _CHUNK // len(kind.values))):
            drawn = generator.multinomial(kind.count, kind.chances, size=part.stop - part.start)
            total[part] += drawn @ kind.columns
    return total, np.full(resamples, 1 / resamples)


_DEALINGS: Final = 1000
"""With so many ways to deal, or fewer, all are listed; otherwise so many are drawn."""
_CLUSTERS: Final = 1 << 13
"""Clusters whose slots are in memory at once."""
_DECIMALS: Final = 12
_TWO: Final = 2
_FEW: Final = 5
_MOST: Final = 2**30
"""Items that can be numbered in 32 bits together with their side."""


@frozen(kw_only=True, eq=False)
class Answers:
    """The answers to two sides of the same items, without those that are missing; arrays of one entry per answer."""

    value: NDArray[np.floating]
    second: Mask
    item: NDArray[np.int32]
    """Numbered from 0 without gaps; every item has answers on both sides."""
    slot: NDArray[np.int32]
    """Place of the answer among those of its item and side, missing ones included."""
    cluster: Codes
    """Cluster of every item, numbered from 0 without gaps, shape (items,)."""
    weight: Floats
    """What an item counts, shape (items,)."""
    first_number: Codes
    """Answers of the first side, shape (items,)."""
    second_number: Codes

    @property
    def sums(self) -> Floats:
        """Return the weighted sum of the items' differences and the sum of their weights per cluster."""
        tops = np.zeros(int(self.cluster.max(initial=-1)) + 1)
        for part in parts_of(len(self.value)):
            item, second = self.item[part], self.second[part]
            scaled = np.where(second, 1 / self.second_number[item], -1 / self.first_number[item])
            np.add.at(tops, self.cluster[item], self.weight[item] * self.value[part] * scaled)
        sums = np.stack([tops, np.bincount(self.cluster, weights=self.weight)], axis=1)
        return np.asarray(sums, dtype=np.float64).round(_DECIMALS)


def sides(
    value: NDArray[np.floating],
    second: Mask,
    items: NDArray[np.signedinteger],
    clusters: NDArray[np.signedinteger] | None,
    weights: Floats | None,
) -> Answers | None:
    """Number items and clusters, and leave out missing answers and items without an answer on either side."""
    # 32 bits: these columns are as long as the table of answers, and there are several.
    item = dense_codes(items)[0].astype(np.int32)
    slot = _ranks(item, second)
    there = np.isfinite(value)
    number = int(item.max(initial=-1)) + 1
    both = [np.bincount(item[there & side], minlength=number) for side in (~second, second)]
    complete = (both[0] > 0) & (both[1] > 0)
    if not complete.any():
        return None
    first = np.zeros(number, dtype=np.int32)
    first[item] = np.arange(len(item), dtype=np.int32)  # any answer of the item: they share cluster and weight
    cluster, _ = dense_codes(np.arange(int(complete.sum())) if clusters is None else clusters[first[complete]])
    used = there & complete[item]
    return Answers(
        value=value[used],
        second=second[used],
        item=(np.cumsum(complete) - 1).astype(np.int32)[item[used]],
        slot=slot[used],
        cluster=cluster,
        weight=both[1][complete].astype(np.float64) if weights is None else weights[first[complete]],
        first_number=both[0][complete],
        second_number=both[1][complete],
    )


def _ranks(item: NDArray[np.int32], second: Mask) -> NDArray[np.int32]:
    """Number the answers of each item and side in the order given."""
    key = item.astype(np.int64 if len(item) > _MOST else np.int32) * 2 + second
    # Stable, so that answers keep the order in which they were asked: the same place is the same slot.
    order = np.argsort(key, kind="stable").astype(np.int32)
    counts = np.bincount(key)
    del key
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)
    ranks = np.empty(len(order), dtype=np.int32)
    for part in parts_of(len(order)):
        rows = order[part]
        ranks[rows] = np.arange(part.start, part.stop, dtype=np.int32) - starts[2 * item[rows] + second[rows]]
    return ranks


def null_families(answers: Answers, seed: int) -> tuple[ClusterDifferences, list[list[Kind]]]:
    """Return the clusters, and what they may be under two null hypotheses: answers dealt again, whole sides exchanged.

    Where both sides of every item of a cluster have as many answers, exchanging the sides is valid under either; where
    that holds for all clusters, there is one family.
    """
    size = np.bincount(answers.cluster)
    even = np.ones(len(size), dtype=np.bool_)
    even[answers.cluster[answers.first_number != answers.second_number]] = False
    data = ClusterDifferences.of(answers.sums, ~even)
    exchanged = data.exchange_sides()
    if even.all():
        return data, [exchanged]
    weights = answers.sums[:, 1]
    tables, separate = [], []
    # The table of slots is as wide as the cluster with the most answers; of all clusters at once it would be too large.
    for start in range(0, len(size), _CLUSTERS):
        part = slice(start, start + _CLUSTERS)
        answered, totals = _slots(answers, start)
        # Where all items of a cluster have the same slots, its dealings are those of the sums of its slots.
        alike = ~even[part] & ((answered == 0) | (answered == size[part, None])).all(axis=1)
        tables.append(distinct(_orderless(totals[alike], answered[alike] > 0, weights[part][alike])))
        separate += [start + int(place) for place in np.flatnonzero(~even[part] & ~alike)]
    dealt = [*data.exchange_sides(~data.dealt), *_deal_kinds(join_kinds(tables), seed)]
    dealt += [_in_one_order(answers, cluster, float(weights[cluster]), seed) for cluster in separate]
    return data, [dealt, exchanged]


def _slots(answers: Answers, start: int) -> tuple[Codes, Floats]:
    """Return the answers in each slot and the sums of their values, of the clusters from a number on."""
    number = min(_CLUSTERS, int(answers.cluster.max()) + 1 - start)
    width = 2 * (int(answers.slot.max()) + 1)
    within = (answers.cluster >= start) & (answers.cluster < start + number)
    here = np.flatnonzero(within[answers.item])
    place = (
        (answers.cluster[answers.item[here]] - start) * width + answers.slot[here] + answers.second[here] * (width // 2)
    )
    values = answers.weight[answers.item[here]] * answers.value[here]
    answered = np.bincount(place, minlength=number * width).reshape(-1, width)
    totals = np.bincount(place, weights=values, minlength=number * width)
    return answered, np.asarray(totals, dtype=np.float64).reshape(-1, width)


def rarely_varies(answers: Answers) -> bool:
    """Tell whether few clusters differ from the others on the side that has fewer answers, where one has.

    The other side may have many events, each of them small: they hide that there is next to none on this one.
    """
    numbers = [np.bincount(answers.cluster, weights=side) for side in (answers.first_number, answers.second_number)]
    if np.array_equal(numbers[0], numbers[1]):
        return False
    # 1 where the second side has fewer answers: it serves as the side's number as well.
    fewer = bool(numbers[1].sum() < numbers[0].sum())
    here = answers.second == fewer
    sums = np.bincount(answers.cluster[answers.item[here]], weights=answers.value[here], minlength=len(numbers[0]))
    _, alike = np.unique((sums / numbers[fewer]).round(_DECIMALS), return_counts=True)
    return int(len(sums) - alike.max()) < _FEW


def _orderless(totals: Floats, answered: Mask, weights: Floats) -> Floats:
    """Return what decides how the slots of clusters are dealt: the sizes of both sides, the weight, the sorted sums."""
    half = totals.shape[1] // 2
    # Sorted, so that clusters with the same sums are one kind wherever these stand; slots without an answer come last.
    ordered = np.sort(np.where(answered, totals.round(_DECIMALS), np.inf), axis=1)
    sizes = np.stack([answered[:, :half].sum(axis=1), answered[:, half:].sum(axis=1)], axis=1)
    return np.column_stack([sizes, weights, np.where(np.isfinite(ordered), ordered, 0.0)])


def _deal_kinds(kinds: Kinds, seed: int) -> Iterator[Kind]:
    """Yield the kinds of clusters whose slots are dealt again, from the rows of `_orderless`."""
    for row, count in zip(kinds.rows, kinds.counts, strict=True):
        first, second = int(row[0]), int(row[1])
        values, chances = _differences(row[3 : 3 + first + second], first, second, seed)
        yield Kind(values=values, chances=chances, weight=float(row[2]), count=int(count), dealt=True)


def _differences(slots: Floats, first: int, second: int, seed: int) -> tuple[Floats, Floats]:
    """Return the differences of all ways to deal the slots to sides of these sizes, and their probabilities."""
    total, number = float(slots.sum()), first + second
    levels, times = np.unique(slots, return_counts=True)
    if len(levels) <= _TWO:
        # Of two values only how many of the larger come to the second side matters: hypergeometric.
        high = int(times[-1])
        taken = np.arange(max(0, high - first), min(second, high) + 1)
        ways = np.array(
            [comb(high, int(k)) * comb(number - high, second - int(k)) / comb(number, second) for k in taken]
        )
        got = taken * levels[-1] + (second - taken) * levels[0]
    else:
        if comb(number, second) <= _DEALINGS:
            chosen = np.array(list(combinations(range(number), second)))
        else:
            generator = np.random.default_rng(seed)
            chosen = generator.permuted(np.tile(np.arange(number), (_DEALINGS, 1)), axis=1)[:, :second]
        got, counts = np.unique(slots[chosen].sum(axis=1).round(_DECIMALS), return_counts=True)
        # Listed or drawn, each dealing is as likely as any other.
        ways = counts / counts.sum()
    differences = got / second - (total - got) / first
    return differences - float(ways @ differences), ways


def _in_one_order(answers: Answers, cluster: int, weight: float, seed: int) -> Kind:
    """Return a cluster whose items have different slots: an order of all slots is drawn, and each item follows it.

    The answers that come first in that order go to the item's second side. So items with the same slots are dealt
    alike, and those that lack some nearly so: what the items have in common in a slot stays together.
    """
    here = answers.cluster[answers.item] == cluster
    items, second, slot = answers.item[here], answers.second[here], answers.slot[here]
    value = answers.value[here].astype(np.float64)
    column = slot + second * (int(slot.max()) + 1)
    # A random number per slot, the same for all items of the cluster: sorting by it deals them alike.
    order = np.random.default_rng(seed).random((_DEALINGS, int(column.max()) + 1))
    totals = np.zeros(_DEALINGS)
    for item in np.unique(items):
        rows = np.flatnonzero(items == item)
        # By value within a slot, so that the order of rows does not show.
        rows = rows[np.lexsort((value[rows], column[rows]))]
        first, number = int(answers.first_number[item]), int(answers.second_number[item])
        dealt = value[rows][np.argsort(order[:, column[rows]], axis=1)[:, :number]].sum(axis=1)
        totals += answers.weight[item] * (dealt / number - (value[rows].sum() - dealt) / first)
    values, counts = np.unique((totals - totals.mean()).round(_DECIMALS), return_counts=True)
    return Kind(values=values, chances=counts / _DEALINGS, weight=weight, count=1, dealt=True)
