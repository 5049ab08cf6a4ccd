"""Compute the power of a design: askings under the reference and a test, items, and tests that share the error rate."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from math import comb, gcd, inf
from typing import Final

import numpy as np
from attrs import frozen

from jrh_stats.arrays import Codes, Floats
from jrh_stats.excess_null import item_excess
from jrh_stats.one_sided import binomial_limits
from jrh_stats.score_intervals import t_quantile, z_quantile

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
    # A change of accuracy takes changed verdicts: the share that changes is never below what the change itself implies.
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

    def finds(change: float) -> bool:
        reached = change_power(
            change, items, discordant=discordant, noise=noise, reference=reference, askings=askings, alpha=alpha
        )
        return reached >= power

    if high <= 0 or not finds(high):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high


@lru_cache(maxsize=1024)  # a plan asks the same of every judge and many tests
def excess_power(
    moved: float, items: int, *, noise: float, reference: int = 2, askings: int = 1, alpha: float = 0.05, seed: int = 0
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
    # Studies as counts of kinds of items: 4,000 studies of 100 items are 4,000 draws, not 400,000.
    counts = np.random.default_rng(seed).multinomial(items, chance / chance.sum(), size=_STUDIES)
    total, variance, third, moving = (counts @ kinds.cumulants).T
    # Half a step of the lattice is the continuity correction of a discrete sum.
    tail = kinds.two_valued_tail(total, moving) if kinds.pair else _tail(total - kinds.span / 2, variance, third)
    return float(((tail <= alpha + _NOISE) & (variance > _NOISE)).mean())


def _tail(total: Floats, variance: Floats, third: Floats) -> Floats:
    """Return the upper tail of a gamma distribution with the mean 0 and these cumulants."""
    from jrh_stats.special import gammaincc, ndtr

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

    def suffice(items: int) -> bool:
        return excess_power(moved, items, noise=noise, reference=reference, askings=askings, alpha=alpha) >= power

    # To 1% only: power is simulated, and every number of items that is tried takes 4,000 studies.
    return _fewest(suffice, least=2, most=most, precision=100)


@frozen(kw_only=True, eq=False)
class _Kinds:
    """What one item can contribute to the summed excess: its answers under both conditions."""

    first: Codes
    """Answers under the reference that are not the settled label of the reference, per kind."""
    second: Codes
    """The same of the answers under the test."""
    askings: tuple[int, int]
    cumulants: Floats
    """Excess, second and third cumulant of its dealings, and whether these differ at all, shape (kinds, 4)."""
    span: float
    """The step of the lattice on which the summed excess lies."""
    pair: tuple[float, float, float] | None
    """The two values a dealt item can have, and the probability of the larger; None if there are more."""

    def two_valued_tail(self, total: Floats, moving: Floats) -> Floats:
        """Return the probability that so many dealt items sum up to a total or more."""
        from jrh_stats.special import bdtrc

        assert self.pair is not None
        low, high, chance = self.pair
        return np.asarray(bdtrc(np.rint((total - low * moving) / (high - low)) - 1, moving.astype(np.int64), chance))

    def chance(self, moved: float, flips: float) -> Floats:
        reference = _binomial(self.first, self.askings[0], flips)
        stayed = _binomial(self.second, self.askings[1], flips)
        gone = _binomial(self.second, self.askings[1], 1 - flips)
        return np.asarray(reference * ((1 - moved) * stayed + moved * gone))


def _binomial(hits: Codes, trials: int, chance: float) -> Floats:
    return np.array([comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in hits.tolist()])


def _hypergeometric(drawn: Codes, everything: int, marked: int, draws: int) -> Floats:
    ways = comb(everything, draws)
    return np.array([comb(marked, k) * comb(everything - marked, draws - k) / ways for k in drawn.tolist()])


@lru_cache(maxsize=64)
def _kinds(reference: int, askings: int) -> _Kinds:
    grid = np.indices((reference + 1, askings + 1)).reshape(2, -1)
    first, second = (part.astype(np.int64) for part in grid)
    answers = np.stack([np.stack([reference - first, first], 1), np.stack([askings - second, second], 1)], axis=1)
    excess = item_excess(answers.astype(np.float64))
    pooled = first + second
    squares, cubes = np.zeros(len(excess)), np.zeros(len(excess))
    steps: list[int] = []
    dealt: set[tuple[tuple[float, float], ...]] = set()
    # A common denominator of all parts of the excess: in it they are whole numbers, and `gcd` gives the lattice.
    scale = 2 * reference * askings * max(reference - 1, 1) * max(askings - 1, 1)
    for total in range(reference + askings + 1):
        same = pooled == total
        weight = _hypergeometric(first[same], reference + askings, total, reference)
        squares[same], cubes[same] = weight @ excess[same] ** 2, weight @ excess[same] ** 3
        if squares[same].max() > _NOISE:
            values = np.unique(excess[same].round(9))
            dealt.add(tuple((float(v), round(float(weight[excess[same].round(9) == v].sum()), 9)) for v in values))
        multiples = np.rint(excess[same] * scale).astype(int)
        steps += [int(step) for step in np.abs(multiples - multiples[0])]
    # All items that can move have the same two values: their sum is then binomial.
    only = dealt.pop() if len(dealt) == 1 else ()
    moving = (squares > _NOISE).astype(np.float64)
    return _Kinds(
        first=first,
        second=second,
        askings=(reference, askings),
        cumulants=np.stack([excess, squares, cubes, moving], axis=1),
        span=reduce(gcd, steps, 0) / scale,
        pair=(only[0][0], only[1][0], only[1][1]) if len(only) == 2 else None,  # noqa: PLR2004 - two values
    )


def _stays(noise: float) -> float:
    """Return 1 - 2 f, with f the probability that one asking differs from the settled verdict."""
    if not 0 <= noise <= 1 / 2:
        raise ValueError("two askings of a question must differ with a probability from 0 to 0.5")
    return float((1 - 2 * noise) ** 0.5)


_TAIL: Final = 0.1
_MOST: Final = 10**9
_PRECISION: Final = 1e-12
"""Of a detectable difference, in standard deviations."""


def design_effect(trials_per_item: float, icc: float) -> float:
    """Return the design effect: how many times more trials a clustered design needs, 1 + (m - 1) icc.

    Source: Kish (1965), Survey Sampling, section 5.4.

    Args:
        trials_per_item: trials m of each item, 1 or more.
        icc: correlation of the scores of two trials of one item, 0 to 1.

    Raises:
        ValueError: an argument is out of its range.
    """
    if trials_per_item < 1 or not 0 <= icc <= 1:
        raise ValueError("there must be 1 or more trials per item, and their correlation must be between 0 and 1")
    return 1 + (trials_per_item - 1) * icc


def paired_power(difference: float, sd: float, items: int, *, alpha: float = 0.05) -> float:
    """Return the power of the two-sided paired t-test, by the noncentral t distribution.

    Args:
        difference: the true mean difference.
        sd: standard deviation of the items' differences, > 0.
        items: number of items, 2 or more.
        alpha: error rate of the test.

    Returns:
        The probability that the test finds the difference.

    Raises:
        ValueError: there are fewer than two items, or the standard deviation is not positive.
    """
    from jrh_stats.special import nctdtr

    if items <= 1 or not sd > 0:
        raise ValueError("power needs at least two items and a standard deviation greater than 0")
    shift = abs(difference) / sd * float(np.sqrt(items))
    critical = t_quantile(1 - alpha, items - 1)
    # Far below the shift the distribution function underflows, to NaN.
    below, above = np.nan_to_num([nctdtr(items - 1, shift, end) for end in (-critical, critical)], nan=0.0)
    return float(1 - above + below)


def smallest_detectable_difference(sd: float, items: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the minimum detectable effect of the paired t-test at the target power.

    Args:
        sd: standard deviation of the items' differences, > 0. For paired rates with a share q of discordant items it is
            at most sqrt(q).
        items: number of items, 2 or more.
        alpha: error rate of the test.
        power: probability of finding the difference, above alpha and below 1.

    Returns:
        A difference in the unit of `sd`.

    Raises:
        ValueError: an argument is out of its range.
    """
    if not alpha < power < 1:
        raise ValueError("the power must be between alpha and 1")
    top = sd
    while paired_power(top, sd, items, alpha=alpha) < power:
        top *= 2
    low, high = 0.0, top
    # Halving: power rises with the difference, and SciPy's root finders take 160 ms to import.
    while high - low > _PRECISION * sd:
        middle = (low + high) / 2
        low, high = (low, middle) if paired_power(middle, sd, items, alpha=alpha) >= power else (middle, high)
    return high


def items_for_proportion(
    half_width: float, p: float = 0.5, *, trials_per_item: float = 1, icc: float = 0.0, level: float = 0.95
) -> int:
    """Return the fewest items with which the exact interval of a rate is at most 2 `half_width` wide.

    The effective number of trials is items x `trials_per_item` / `design_effect`.

    Args:
        half_width: target half-width, between 0 and 0.5.
        p: the rate expected; 0.5 needs the most.
        trials_per_item: trials of each item.
        icc: correlation of the scores of two trials of one item.
        level: coverage.

    Raises:
        ValueError: an argument is out of its range, or a thousand million items are too few.
    """
    if not 0 < half_width < 1 / 2 or not 0 <= p <= 1:
        raise ValueError("the precision must be between 0 and 0.5, and the rate between 0 and 1")
    z_quantile(level)
    worth = trials_per_item / design_effect(trials_per_item, icc)

    def narrow(items: int) -> bool:
        low, high = binomial_limits(p * items * worth, items * worth, alpha=(1 - level) / 2)
        return bool(high - low <= 2 * half_width)

    fewest = _fewest(narrow, least=1, most=_MOST)
    if fewest is None:
        raise ValueError("this would need more than a thousand million items")
    return fewest


def items_to_decide(
    items: int,
    half_width: float,
    effect: float,
    *,
    level: float = 0.95,
    power: float = 0.8,
    comparisons: int = 1,
    span: float | None = None,
) -> tuple[int, int]:
    """Return between how many items show an effect with the target power, given the interval of fewer items.

    n' = n (h (z_m + z_p) / (t_l |effect|))^2: the standard error h / t_l of a mean over independent items shrinks with
    the square root of their number, and a difference is found with probability p where it is z_m + z_p standard errors
    from what it is compared with. t_l is Student's quantile of the level (two-sided), z_p the normal one of the power,
    z_m that of the level 1 - (1 - level) / m for one of m comparisons (Bonferroni).

    The effect has to be named beforehand, as a margin is: with the observed one n' has no useful limits (a true need of
    160 items was put at 160 to 3,700 by 80% of runs). The ends are n' at the ends of the 80% interval of the variance
    v = n (h / z_l)^2, v d / chi2(d), and t_l has d degrees, too. Of deviations no larger than the span s the fourth
    moment is at most s^2 v, so that their variance is known with at least d = 2 n v / s^2 degrees
    (`effective_degrees`), and at most n - 1.

    It takes the design (repeats, variants) of today's items for that of the further ones.

    Source: the sample size of a z-test, for example Lehr (1992), Statistics in Medicine 11:1099-1102.

    Args:
        items: independent units that the interval rests on, 1 or more.
        half_width: half the width of its interval, > 0.
        effect: the effect to show, in the unit of the interval, not 0.
        level: coverage of the interval.
        power: probability of showing it, above 0.5.
        comparisons: number of tests that share the error rate.
        span: how far one item can be from the mean; None: not known, and the variance has n - 1 degrees.

    Raises:
        ValueError: an argument is out of its range.
    """
    from jrh_stats.special import chdtri

    if items < 1 or not half_width > 0 or effect == 0 or not 1 / 2 < power < 1 or comparisons < 1:
        raise ValueError(
            "items, half-width and comparisons must be positive, the effect not 0, and the power above 0.5"
        )
    # Bonferroni: the level that every one of m comparisons is tested at.
    tested, wished = z_quantile(1 - (1 - level) / comparisons), z_quantile(2 * power - 1)
    variance = items * (half_width / z_quantile(level)) ** 2
    degrees = max(1.0, min(items - 1, inf if span is None else 2 * items * variance / span**2))
    # The interval of few items reaches as far as Student's t does, that of the many needed does not.
    needed = items * (half_width * (tested + wished) / (t_quantile(level, degrees) * effect)) ** 2
    low, high = (int(np.ceil(needed * degrees / chdtri(degrees, tail))) for tail in (_TAIL, 1 - _TAIL))
    return low, high


def _fewest(enough: Callable[[int], bool], *, least: int, most: int, precision: float = inf) -> int | None:
    """Return the smallest number, from `least` on, for which `enough` holds, as it then does for all larger ones.

    None where it does not hold up to `most`. The number is at most a share of 1 / `precision` too large.
    """
    high = least
    while not enough(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > max(1, high // precision):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
