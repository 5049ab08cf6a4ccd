"""Intervals computed again from records, by the formulas that the docstrings of jrh_stats state, and by nothing of jrh.

Wilson's and the exact interval come from statsmodels, quantiles from SciPy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import atanh, sqrt, tanh
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Scored: TypeAlias = "Iterable[tuple[str, float]]"
"""Cluster and score of every trial."""
UNEVEN = 1.5
NOTHING = 1e-12
_ROUNDING = 1e-7


class Ends(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float

    def fits(self, low: str, high: str) -> bool:
        """Tell whether two cells of a table hold these ends."""
        return abs(float(low) - self.low) <= _ROUNDING and abs(float(high) - self.high) <= _ROUNDING

    def mirrored(self) -> Ends:
        """Return the interval of 1 minus the share."""
        return Ends(1 - self.high, 1 - self.low)


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval by statsmodels."""
    from scipy.stats import norm
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share * n, n, alpha=2 * norm.sf(quantile), method="wilson")
    return min(float(low), share), max(float(high), share)


def exact(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval by statsmodels."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share * n, n, alpha=1 - level, method="beta")
    # statsmodels has no number there.
    return (0.0 if share <= 0 else float(low)), (1.0 if share >= 1 else float(high))


def korn_graubard(share: float, variance: float, degrees: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval with the effective number of trials that a variance implies."""
    from scipy.stats import norm, t

    z, quantile = (float(way.ppf(0.5 + level / 2)) for way in (norm, t(degrees)))
    return exact(share, share * (1 - share) / variance * (z / quantile) ** 2, level)


def floored(ends: tuple[float, float], shares: Numbers, many: int, level: float = 0.95) -> Ends:
    """Return ends that, while fewer than five clusters deviate from all or none, are no narrower than without any."""
    low, high = ends
    none = exact(1.0, many, level)[0]
    if np.any(shares < 1 - NOTHING, axis=1).sum() < 5:
        low = min(low, none)
    if np.any(shares > NOTHING, axis=1).sum() < 5:
        high = max(high, 1 - none)
    return Ends(low, high)


def by_cluster(scored: Scored) -> tuple[Numbers, Numbers]:
    """Return the sum of scores and the number of trials of every cluster."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for cluster, score in scored:
        sums[cluster][0] += score
        sums[cluster][1] += 1
    table = np.array(list(sums.values()), dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def of_share(scored: Scored, level: float = 0.95) -> Ends:
    """Return the interval of a proportion of clustered trials."""
    return of_ratio(*by_cluster(scored), level=level)


def of_ratio(tops: Numbers, sizes: Numbers, level: float = 0.95) -> Ends:
    """Return the interval of sum(tops) / sum(sizes), a proportion, from one entry per cluster."""

    value, many = float(tops.sum() / sizes.sum()), len(tops)
    shares = tops / sizes
    outright = bool(np.all((shares < NOTHING) | (shares > 1 - NOTHING))) and np.ptp(sizes) < NOTHING
    if outright or np.ptp(shares) < NOTHING:
        return Ends(*exact(value, many, level))
    deviations = (tops - value * sizes) * many / sizes.sum()
    variance = float(np.square(deviations).sum()) / (many * (many - 1))
    degrees = min(of_design(deviations, value), many - 1)
    if kurtosis(sizes) > UNEVEN:
        degrees = min(degrees, of_variance(deviations, sizes))
    return floored(korn_graubard(value, variance, degrees, level), shares[:, None], many, level)


def of_mean(scored: Scored, least: float, most: float, *, squares: bool = False) -> Ends:
    """Return the interval of a mean score between two bounds."""
    from scipy.stats import norm, t

    tops, sizes = by_cluster(scored)
    value, many, width = float(tops.sum() / sizes.sum()), len(tops), most - least
    deviations = (tops - value * sizes) * many / sizes.sum()
    variance = float(np.square(deviations).sum()) / (many * (many - 1))
    if variance <= NOTHING * width**2:
        rare = wilson(0.0, many, float(norm.ppf(0.975)))[1]
        return Ends(value - rare * (value - least), value + rare * (most - value))
    share = (value - least) / width
    known = of_variance(deviations, sizes)
    degrees = known if squares else of_design(deviations / width, share)
    if kurtosis(sizes) > UNEVEN:
        degrees = min(degrees, known)
    low, high = wilson(share, share * (1 - share) * width**2 / variance, float(t.ppf(0.975, degrees)))
    return Ends(least + width * low, least + width * high)


def of_mean_rate(rates: Sequence[Sequence[tuple[str, float]]]) -> Ends:
    """Return the interval of the unweighted mean of rates that share clusters."""

    named = sorted({cluster for rate in rates for cluster, _ in rate})
    influence, values = dict.fromkeys(named, 0.0), []
    for rate in rates:
        value = sum(score for _, score in rate) / len(rate)
        values.append(value)
        for cluster, score in rate:
            influence[cluster] += (score - value) / (len(rates) * len(rate))
    value, many = float(np.mean(values)), len(named)
    if not NOTHING < value < 1 - NOTHING:
        return of_share([each for rate in rates for each in rate])
    moves = np.array(list(influence.values()))
    variance = many / (many - 1) * float(np.square(moves).sum())
    degrees = min(of_design(moves * many, value), many - 1)
    shares = np.array([[np.mean([s for c, s in rate if c == name] or [np.nan]) for rate in rates] for name in named])
    return floored(korn_graubard(value, variance, degrees), shares, many)


def kurtosis(values: Numbers) -> float:
    """Return the mean fourth power relative to the squared mean square."""
    square = float(np.mean(values**2))
    return float(np.mean(values**4)) / square**2 if square > NOTHING**2 else 0.0


def of_variance(deviations: Numbers, sizes: Numbers | None = None) -> float:
    """Return the degrees of freedom of a variance between clusters (docstring of `effective_degrees`)."""
    many = len(deviations)
    if many <= 2:
        return 1.0
    g = kurtosis(deviations - deviations.mean())
    if sizes is not None:
        g = max(g, kurtosis(sizes) * kurtosis(deviations / sizes))
    excess = g - (many - 3) / (many - 1)
    return min(max(2 * many / excess, 1.0), many - 1.0) if excess > 0 else many - 1.0


def of_design(deviations: Numbers, share: float) -> float:
    """Return the degrees of freedom of a design effect (docstring of `design_degrees`)."""
    many, centred = len(deviations), deviations - deviations.mean()
    square = float(np.mean(centred**2))
    if many <= 2:
        return of_variance(deviations)
    errors = centred**2 / square - 1 - centred * (1 - 2 * share) / (share * (1 - share))
    relative = float(np.mean(errors**2))
    return max(2 * (many - 1) / max(relative, 2e-6 * many), of_variance(deviations))


Pair: TypeAlias = "tuple[str, float, float]"
"""Cluster, and what stands on either side."""
Coefficient: TypeAlias = "Callable[[Numbers, Numbers, Numbers], float]"
"""Both sides and the weights of the pairs; NaN where it is not defined."""


def concordance(x: Numbers, y: Numbers, w: Numbers) -> float:
    """Return Lin's coefficient."""
    (mx, my), (vx, vy, vxy) = _moments(x, y, w)
    below = vx + vy + (mx - my) ** 2
    return 2 * vxy / below if below > NOTHING else float("nan")


def pearson(x: Numbers, y: Numbers, w: Numbers) -> float:
    """Return Pearson's correlation."""
    _, (vx, vy, vxy) = _moments(x, y, w)
    return vxy / sqrt(vx * vy) if min(vx, vy) > NOTHING else float("nan")


def spearman(x: Numbers, y: Numbers, w: Numbers) -> float:
    """Return Pearson's correlation of the mid-ranks."""
    from scipy.stats import rankdata

    if np.ptp(w) < NOTHING:
        return pearson(rankdata(x), rankdata(y), w)
    ranks = [(((side[:, None] > side).astype(float) + 0.5 * (side[:, None] == side)) @ w) for side in (x, y)]
    return pearson(*ranks, w)


def _moments(x: Numbers, y: Numbers, w: Numbers) -> tuple[tuple[float, float], tuple[float, float, float]]:
    w = w / w.sum()
    mx, my = float(w @ x), float(w @ y)
    return (mx, my), (float(w @ (x - mx) ** 2), float(w @ (y - my) ** 2), float(w @ ((x - mx) * (y - my))))


def left_out(pairs: Sequence[Pair], coefficient: Coefficient, weights: Sequence[float] | None = None) -> Numbers:
    """Return a coefficient without each cluster in turn; where it is not defined there, of all."""
    clusters = np.array([each[0] for each in pairs])
    x, y = (np.array([each[side] for each in pairs], dtype=float) for side in (1, 2))
    w = np.ones(len(pairs)) if weights is None else np.array(weights)
    whole = coefficient(x, y, w)
    found = []
    for cluster in dict.fromkeys(clusters.tolist()):
        rest = clusters != cluster
        without = coefficient(x[rest], y[rest], w[rest])
        found.append(whole if np.isnan(without) else without)
    return np.array(found)


def spread(values: Numbers) -> float:
    """Return the jackknife's variance."""
    return float(np.square(values - values.mean()).sum()) * (len(values) - 1) / len(values)


def of_correlation(pairs: Sequence[Pair], coefficient: Coefficient, *, ranks: bool = False) -> Ends:
    """Return the interval of a correlation: the jackknife of Fisher's z, or what unseen clusters could change."""
    from scipy.stats import t

    x, y = (np.array([each[side] for each in pairs], dtype=float) for side in (1, 2))
    value = coefficient(x, y, np.ones(len(pairs)))
    without = left_out(pairs, coefficient)
    if spread(without) <= NOTHING or 1 - abs(value) <= NOTHING:
        return _unseen(x, y, len(without), coefficient, ranks=ranks)
    finite = bool(np.all(1 - np.abs(without) > NOTHING))
    scores = np.arctanh(without) if finite else without / (1 - value**2)
    reach = float(t.ppf(0.975, of_variance(scores))) * sqrt(spread(scores))
    return Ends(tanh(atanh(value) - reach), tanh(atanh(value) + reach))


def _unseen(x: Numbers, y: Numbers, many: int, coefficient: Coefficient, *, ranks: bool) -> Ends:
    """Return the extremes over mixtures with a share of clusters as different as the levels that occur allow."""
    from scipy.stats import norm

    rare = wilson(0.0, many, float(norm.ppf(0.975)))[1]
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    steps = (low, high) if ranks else (low, (low + high) / 2, high)
    corners = [(one, other) for one in steps for other in steps]
    mixed = [{place: 1.0} for place in range(len(corners))]
    for one, other in combinations(range(len(corners)), 2):
        mixed += [{one: step / 10, other: 1 - step / 10} for step in range(1, 10)]
    (table, counts), found = np.unique(np.stack([x, y]), axis=1, return_counts=True), []
    for mixture in mixed:
        at = np.array([corners[place] for place in mixture]).T
        w = np.concatenate([(1 - rare) * counts / len(x), rare * np.array(list(mixture.values()))])
        found.append(coefficient(np.concatenate([table[0], at[0]]), np.concatenate([table[1], at[1]]), w))
    return Ends(float(np.nanmin(found)), float(np.nanmax(found)))


def of_kappa(pairs: Sequence[Pair], weights: Sequence[float]) -> Ends:
    """Return the interval of unweighted kappa: Wilson's of (1 - kappa) / 2 with the jackknife's variance."""

    from scipy.stats import norm, t

    def chance(x: Numbers, y: Numbers, w: Numbers) -> float:
        labels, total = np.union1d(x, y), w.sum()
        return 1 - sum(float(w[x == each].sum() * w[y == each].sum()) for each in labels) / total**2

    def kappa(x: Numbers, y: Numbers, w: Numbers) -> float:
        by_chance = chance(x, y, w)
        return 1 - float(w[x != y].sum() / w.sum()) / by_chance if by_chance > NOTHING else float("nan")

    x, y = (np.array([each[side] for each in pairs], dtype=float) for side in (1, 2))
    w = np.array(weights)
    value, without = kappa(x, y, w), left_out(pairs, kappa, weights)
    many, z = len(without), float(norm.ppf(0.975))
    if value >= 1 - NOTHING:
        return Ends(max(1 - wilson(0.0, many, z)[1] / chance(x, y, w), -1.0), value)
    share = (1 - value) / 2
    if spread(without) <= NOTHING:
        low, high = wilson(share, many, z)
    else:
        degrees = of_design((many - 1) / 2 * without, share)
        low, high = wilson(share, share * (1 - share) / (spread(without) / 4), float(t.ppf(0.975, degrees)))
    return Ends(1 - 2 * high, 1 - 2 * low)


def of_bounds(worst: Scored, best: Scored) -> Ends:
    """Return Imbens and Manski's interval of a rate between its values with missing verdicts at worst and at best."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    sides = [by_cluster(worst), by_cluster(best)]
    values = [float(tops.sum() / sizes.sum()) for tops, sizes in sides]
    errors = []
    for (tops, sizes), value in zip(sides, values, strict=True):
        many = len(tops)
        errors.append(sqrt(many / (many - 1) * float(np.square(tops - value * sizes).sum())) / sizes.sum())
    wide = (values[1] - values[0]) / max(errors)
    reach = brentq(lambda c: norm.cdf(c + wide) - norm.cdf(-c) - 0.95, 1.6, 2.0)
    level = float(2 * norm.cdf(reach) - 1)
    low, high = (of_ratio(*side, level=level) for side in sides)
    return Ends(low.low, high.high)


def half_splits(right: Numbers, happened: Numbers, counted: Numbers, clusters: Sequence[str]) -> list[float]:
    """Choose panels on one half of the clusters and score them on the other; return the rate of each of 400 splits.

    Args:
        right: whether a panel is right, shape (ballots, panels).
        happened: what it is scored by, likewise.
        counted: whether a ballot counts, shape (ballots,).
        clusters: the cluster of every ballot.
    """
    names, place = np.unique(clusters, return_inverse=True)
    rng, rates = np.random.default_rng(6), []
    for _ in range(400):
        half = (rng.permutation(len(names)) % 2)[place]
        best = np.array([right[half != own].sum(axis=0).argmax() for own in (0, 1)])[half]
        rates.append(float(happened[np.arange(len(half)), best] @ counted / counted.sum()))
    return rates
