"""A test martingale of whether a judge still answers as it did, over all looks at the same items.

If nothing changes, the looks of a cluster can be exchanged with each other, and those of one cluster apart from those
of another. Given what each cluster ever answered, its latest answer is any of these with equal probability. The
p-value of a look is the place of a statistic of the latest answers among draws of one look per cluster; ties are
broken at random. Such p-values are uniform and independent of each other although every look is compared with the
same earlier ones (online compression models: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World,
2nd ed. 2022, chapters 8 and 11; not consulted). Bets against them multiply to a test martingale, which reaches
1 / alpha with probability alpha at most (Ville's inequality), however long it goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from jrh_measuring import Codes, Floats
from jrh_stats.special import ndtr, ndtri

DRAWS: Final = 9_999
LEAST_P: Final = 0.5 / (DRAWS + 1)
"""Smaller ones are raised to it: how small is a matter of the tie-break alone."""
HORIZON: Final = 12
"""Looks that a simulated future has."""
_SHIFTS: Final = np.array([0.5, 1.0, 2.0, 4.0])
"""Bets: how many standard deviations a change may move the statistic."""
_MOST_CELLS: Final = 2_000_000
_MOST_SIMULATED: Final = 2_000_000
"""Verdicts in all simulated futures together."""
_CEILING: Final = 1e100
"""Capital above it is not counted, which keeps the promise and the number finite."""
_TIE: Final = 1e-9


def differing_scores(codes: Codes, labels: int) -> Floats:
    """Return, by verdict, the share of all verdicts on its item that are another; NaN without a verdict.

    Args:
        codes: positions of labels, -1 without a verdict, shape (looks, items, repeats).
        labels: how many labels there are.
    """
    counts = np.stack([(codes == label).sum(axis=(0, 2)) for label in range(labels)], axis=1)
    same = counts[np.arange(codes.shape[1])[None, :, None], codes]
    return np.where(codes >= 0, 1 - same / np.maximum(counts.sum(axis=1), 1)[None, :, None], np.nan)


def sum_by_cluster(scores: Floats, clusters: Codes) -> Floats:
    """Return what every look adds to the statistic in every cluster, shape (looks, clusters).

    Scores are centred by item over all looks, so that one that is missing adds what the item adds on average: nothing.

    Args:
        scores: NaN where missing, shape (looks, items, repeats).
        clusters: number of the cluster of every item.
    """
    there = ~np.isnan(scores)
    known = np.where(there, scores, 0.0)
    means = known.sum(axis=(0, 2)) / np.maximum(there.sum(axis=(0, 2)), 1)
    centred = np.where(there, known - means[None, :, None], 0.0).mean(axis=2)
    return np.stack([np.bincount(clusters, row) for row in centred])


def look_p_values(streams: Sequence[Floats], random: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Return the p-value of the last look in every stream: uniform, if the looks of a cluster can be exchanged.

    Args:
        streams: of shape (looks, clusters), from `sum_by_cluster`; small p-values mean that the last sum is large.
            Axes between the two are several monitors, which share the draws.
        random: draws the looks and breaks ties.
        draws: looks that are drawn for every cluster.
    """
    looks, clusters = streams[0].shape[0], streams[0].shape[-1]
    last = np.array([values[-1].sum(axis=-1) for values in streams])
    above, equal = np.zeros(last.shape), np.ones(last.shape)
    size = max(1, _MOST_CELLS // streams[0][0].size)
    for start in range(0, draws, size):
        # All streams see the same draws; their p-values are never multiplied with each other.
        drawn = random.integers(0, looks, size=(min(size, draws - start), clusters))
        for place, values in enumerate(streams):
            difference = values[drawn, ..., np.arange(clusters)].sum(axis=1) - last[place]
            above[place] += (difference > _TIE).sum(axis=0)
            equal[place] += (abs(difference) <= _TIE).sum(axis=0)
    return np.asarray((above + random.uniform(0, equal)) / (draws + 1))


def normal_p_values(values: Floats) -> Floats:
    """Return the p-values of the normal distribution with the moments of the draws, which take no time.

    Args:
        values: as one stream of `look_p_values`.
    """
    deviation = np.sqrt(values.var(axis=0).sum(axis=-1))
    z = np.where(deviation > _TIE, values[-1].sum(axis=-1) / np.maximum(deviation, _TIE), 0.0)
    return np.asarray(np.maximum(ndtr(-z), LEAST_P))


def both_sides(p: Floats) -> Floats:
    """Return p-values that are small where the others are near 0 or 1."""
    return 2 * np.minimum(p, 1 - p)


def bet(p: Floats, active: Floats, number: int) -> Floats:
    """Return what bets have made after a p-value, by shift in the last axis.

    A change may come at any look: the bets that begin with the n-th p-value have 1 / (n (n + 1)) of the capital, and
    those still to begin 1 / (n + 1).
    """
    z = -ndtri(np.clip(p, 1e-300, 1.0 - _TIE))[..., None]
    gains = np.exp(_SHIFTS * z - _SHIFTS**2 / 2)
    return np.asarray(np.minimum((active + 1 / (number * (number + 1))) * gains, _CEILING))


def capital_of(p_values: Floats) -> tuple[Floats, Floats]:
    """Return the capital after every p-value, which begins with 1, and what the active bets have in the end.

    Args:
        p_values: of shape (..., looks); any number of monitors, each along the last axis.
    """
    active = np.zeros((*p_values.shape[:-1], len(_SHIFTS)))
    capital = np.empty(p_values.shape)
    for place in range(p_values.shape[-1]):
        active = bet(p_values[..., place], active, place + 1)
        capital[..., place] = active.mean(axis=-1) + 1 / (place + 2)
    return capital, active


def likely_start(p_values: Floats) -> int:
    """Return the place of the p-value with which the bets began that have won most."""
    number = np.arange(1, len(p_values) + 1)
    z = -ndtri(np.clip(p_values, 1e-300, 1.0 - _TIE))[:, None]
    gains = np.cumsum((_SHIFTS * z - _SHIFTS**2 / 2)[::-1], axis=0)[::-1]
    return int((gains - np.log(number * (number + 1.0))[:, None]).max(axis=1).argmax())


def simulate_delays(
    codes: Codes, labels: int, clusters: Codes, p_values: Floats, *, shift: float, needed: float, seed: int
) -> Floats:
    """Return after how many further looks simulated futures raise an alarm; infinite: not within `HORIZON` looks.

    In each future the verdicts of some clusters are others from now on, and always the same others. The looks of a
    cluster are drawn from those it had, the earlier ones, too: else no look would be new against them. The p-values
    of further looks are those of the normal distribution with the moments of the draws.

    Args:
        codes: verdicts, as for `differing_scores`.
        labels: how many there are.
        clusters: number of the cluster of every item.
        p_values: of the stream of verdicts so far.
        shift: share of the verdicts that change.
        needed: capital that is an alarm.
        seed: of the simulation.
    """
    random = np.random.default_rng(seed)
    past, number, repeats = codes.shape
    size, items = int(clusters.max()) + 1, np.arange(number)
    futures = int(np.clip(_MOST_SIMULATED / ((past + HORIZON) * number * repeats), 20, 200))

    def draw_looks(*looks: int) -> Codes:
        drawn = random.integers(0, past, (*looks, futures, size))[..., clusters]
        return np.asarray(codes[drawn, items])

    moved = (random.random((futures, size)).argsort(axis=1) < max(1, round(shift * size)))[:, clusters, None]
    everywhere = (np.arange(futures)[:, None] * size + clusters).ravel()
    capital = np.tile(capital_of(p_values)[1], (futures, 1))
    verdicts, delays = draw_looks(past), np.full(futures, np.inf)
    for step in range(HORIZON):
        look = draw_looks()
        look = np.where(moved & (look >= 0), (look + 1) % labels, look)
        verdicts = np.concatenate([verdicts, look[None]])
        scores = differing_scores(verdicts.reshape(len(verdicts), -1, repeats), labels)
        values = sum_by_cluster(scores, everywhere).reshape(len(verdicts), futures, size)
        capital = bet(normal_p_values(values), capital, past + step)
        delays[(capital.mean(axis=1) >= needed) & np.isinf(delays)] = step + 1
    return delays
