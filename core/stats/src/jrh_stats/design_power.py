"""Compute the power of a design: askings under the reference and a test, items, and tests that share the error rate."""

from __future__ import annotations

from functools import lru_cache, reduce
from math import comb, gcd
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh_stats.power import paired_power

_STUDIES: Final = 4000
_STEPS: Final = 40
_NOISE: Final = 1e-12
_SYMMETRIC: Final = 1e-3
"""Below this skewness a gamma distribution is normal."""


def change_power(
    change: float,
    items: int,
    *,
    discordant: float,
    noise: float,
    reference: float = 1,
    askings: float = 1,
    alpha: float = 0.05,
) -> float:
    """Return the power to find a change of accuracy between the reference and a test, by the paired t-test.

    An item's verdict is settled but for noise: two askings of one question differ with the probability d, so one asking
    differs from the settled verdict with f, 2 f (1 - f) = d. The test changes the settled verdict of a share q of
    items, in either direction. The difference of an item's mean scores over r0 and r1 askings then has the variance

        q (1 - 2 d) - change^2 + (1 / r0 + 1 / r1) d / 2

    where q is at least what the change itself takes, |change| / (1 - 2 f).

    Args:
        change: the true difference of the two accuracies.
        items: independent items or clusters, 2 or more.
        discordant: q.
        noise: d, from 0 to 0.5.
        reference: askings r0 of an item under the reference.
        askings: askings r1 under the test.
        alpha: error rate of the test, two-sided.

    Raises:
        ValueError: a number is out of its range.
    """
    stays = _stays(noise)
    if not 0 <= discordant <= 1 or reference < 1 or askings < 1:
        raise ValueError("shares must be between 0 and 1, and every question must be asked at least once")
    between = max(discordant * stays**2, abs(change) * stays) - change**2
    variance = max(between, 0.0) + noise / 2 * (1 / reference + 1 / askings)
    if variance <= _NOISE:
        return 1.0 if change else alpha
    return paired_power(change, variance**0.5, items, alpha=alpha)


def smallest_change(
    items: int,
    *,
    discordant: float,
    noise: float,
    reference: float = 1,
    askings: float = 1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """Return the smallest change of accuracy that a design finds at the target power; None if none is large enough.

    Arguments as `change_power`.
    """
    low, high = 0.0, _stays(noise)

    def found(change: float) -> bool:
        reached = change_power(
            change, items, discordant=discordant, noise=noise, reference=reference, askings=askings, alpha=alpha
        )
        return reached >= power

    if high <= 0 or not found(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def excess_power(
    moved: float,
    items: int,
    *,
    noise: float,
    reference: int = 2,
    askings: int = 1,
    alpha: float = 0.05,
    seed: int = 0,
) -> float:
    """Return the power of `excess_permutation_test` to find that a test moves verdicts more than reruns do.

    Two labels, and the judge of `change_power`: the test changes the settled verdict of a share `moved` of items. 4,000
    studies are drawn as counts of kinds of items. Where a dealt item has only two values (two askings of the reference,
    one or two of the test) the p-value of each is exact, a binomial tail; elsewhere it is the tail of a gamma
    distribution with the dealings' mean, variance and skewness, with a continuity correction.

    Source: Pearson's type III as the distribution of a permutation statistic: Mielke and Berry (2007), Permutation
    Methods, 2nd ed. Not consulted: quoted from memory, and checked against the test itself.

    Args:
        moved: share of items whose settled verdict the test changes, 0 to 1.
        items: independent items or clusters.
        noise: probability that two askings of one question differ, 0 to 0.5.
        reference: askings of an item under the reference, 2 or more.
        askings: askings under the test, 1 or more.
        alpha: error rate of the test.
        seed: the only source of randomness.

    Raises:
        ValueError: a number is out of its range.
    """
    if not 0 <= moved <= 1 or reference <= 1 or askings < 1 or items < 1:
        raise ValueError(
            "the reference must be asked twice or more, a test at least once, and shares must be between 0 and 1"
        )
    kinds = _kinds(reference, askings)
    chance = kinds.chance(moved, (1 - _stays(noise)) / 2)
    counts = np.random.default_rng(seed).multinomial(items, chance / chance.sum(), size=_STUDIES)
    total, variance, third, moving = (counts @ kinds.cumulants).T
    tail = kinds.two_valued_tail(total, moving) if kinds.pair else _tail(total - kinds.span / 2, variance, third)
    return float(((tail <= alpha + _NOISE) & (variance > _NOISE)).mean())


def _tail(total: NDArray[np.float64], variance: NDArray[np.float64], third: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper tail of a gamma distribution with the mean 0 and these cumulants."""
    from scipy.special import gammaincc, ndtr

    spread = np.sqrt(np.maximum(variance, _NOISE))
    z, skewness = total / spread, third / spread**3
    shape = 4 / np.square(np.maximum(skewness, _SYMMETRIC))
    skewed = gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0))
    return np.asarray(np.where(skewness > _SYMMETRIC, skewed, 1 - ndtr(z)))


def items_for_excess_power(
    moved: float,
    *,
    noise: float,
    reference: int = 2,
    askings: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    most: int = 100_000,
) -> int | None:
    """Return about how many items give `excess_power` the target, to 1%; None where `most` are too few.

    Arguments as `excess_power`.
    """

    def reached(items: int) -> bool:
        return excess_power(moved, items, noise=noise, reference=reference, askings=askings, alpha=alpha) >= power

    high = 2
    while not reached(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@frozen(kw_only=True, eq=False)
class _Kinds:
    """What one item can contribute to the summed excess: its answers under both conditions."""

    first: NDArray[np.int64]
    """Answers under the reference that are not the settled label of the reference, per kind."""
    second: NDArray[np.int64]
    """The same of the answers under the test."""
    asked: tuple[int, int]
    cumulants: NDArray[np.float64]
    """Excess, second and third cumulant of its dealings, and whether these differ at all, shape (kinds, 4)."""
    span: float
    """The step of the lattice on which the summed excess lies."""
    pair: tuple[float, float, float] | None
    """The two values a dealt item can have, and the probability of the larger; None if there are more."""

    def two_valued_tail(self, total: NDArray[np.float64], moving: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that so many dealt items sum up to a total or more."""
        from scipy.special import bdtrc

        assert self.pair is not None
        low, high, chance = self.pair
        return np.asarray(bdtrc(np.rint((total - low * moving) / (high - low)) - 1, moving.astype(np.int64), chance))

    def chance(self, moved: float, flips: float) -> NDArray[np.float64]:
        reference = _binomial(self.first, self.asked[0], flips)
        stayed = _binomial(self.second, self.asked[1], flips)
        gone = _binomial(self.second, self.asked[1], 1 - flips)
        return np.asarray(reference * ((1 - moved) * stayed + moved * gone))


def _binomial(hits: NDArray[np.int64], trials: int, chance: float) -> NDArray[np.float64]:
    return np.array([comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in hits.tolist()])


def _hypergeometric(drawn: NDArray[np.int64], everything: int, marked: int, draws: int) -> NDArray[np.float64]:
    ways = comb(everything, draws)
    return np.array([comb(marked, k) * comb(everything - marked, draws - k) / ways for k in drawn.tolist()])


@lru_cache(maxsize=64)
def _kinds(reference: int, askings: int) -> _Kinds:
    grid = np.indices((reference + 1, askings + 1)).reshape(2, -1)
    first, second = (part.astype(np.int64) for part in grid)
    excess = _excess(first, second, reference, askings)
    pooled = first + second
    squares, cubes = np.zeros(len(excess)), np.zeros(len(excess))
    steps: list[int] = []
    dealt: set[tuple[tuple[float, float], ...]] = set()
    scale = 2 * reference * askings * max(reference - 1, 1) * max(askings - 1, 1)
    for total in range(reference + askings + 1):
        same = pooled == total
        weight = _hypergeometric(first[same], reference + askings, total, reference)
        squares[same], cubes[same] = weight @ excess[same] ** 2, weight @ excess[same] ** 3
        if squares[same].max() > _NOISE:
            values = np.unique(excess[same].round(9))
            dealt.add(tuple((float(v), round(float(weight[excess[same].round(9) == v].sum()), 9)) for v in values))
        whole = np.rint(excess[same] * scale).astype(int)
        steps += [int(step) for step in np.abs(whole - whole[0])]
    only = dealt.pop() if len(dealt) == 1 else ()
    moving = (squares > _NOISE).astype(np.float64)
    return _Kinds(
        first=first,
        second=second,
        asked=(reference, askings),
        cumulants=np.stack([excess, squares, cubes, moving], axis=1),
        span=reduce(gcd, steps, 0) / scale,
        pair=(only[0][0], only[1][0], only[1][1]) if len(only) == 2 else None,  # noqa: PLR2004 - two values
    )


def _excess(first: NDArray[np.int64], second: NDArray[np.int64], reference: int, askings: int) -> NDArray[np.float64]:
    """Return the excess disagreement of one item with two labels, as `excess_disagreement` defines it."""
    one, other = first / reference, second / askings
    raw = one * (1 - other) + other * (1 - one)
    own = 2 * first * (reference - first) / (reference * (reference - 1))
    again = 2 * second * (askings - second) / (askings * (askings - 1)) if askings > 1 else own
    return np.asarray(raw - (own + again) / 2)


def _stays(noise: float) -> float:
    """Return 1 - 2 f, with f the probability that one asking differs from the settled verdict."""
    if not 0 <= noise <= 1 / 2:
        raise ValueError("two askings of a question must differ with a probability from 0 to 0.5")
    return float((1 - 2 * noise) ** 0.5)
