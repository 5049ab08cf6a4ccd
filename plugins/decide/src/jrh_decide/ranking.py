"""Rank systems by scores or comparisons, with intervals of all ranks that hold together.

Whether one system is better is tested for every pair at once, and a rank interval counts who is shown to be better or
worse: Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91:476-518 (not consulted). A test flips
the signs of whole clusters' scores with the two systems held equal: the score version of the wild cluster bootstrap,
Kline and Santos (2012), Journal of Econometric Methods 1:23-41 (not consulted). So it needs no variance of a strength,
which is infinite where a system wins all.
"""

from __future__ import annotations

from math import ceil
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh_measuring import Codes, Floats, Mask
from jrh_stats import parts_of
from jrh_stats.special import expit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import poisson

_STEPS: Final = 100
_EXACT: Final = 1e-9
_RIDGE: Final = 1e-3
"""Weight of a penalty that keeps the strength of a system finite that wins or loses everything."""
_ABSENT: Final = 1e-6
"""What the whole sample weighs in a resample: a system that is not drawn keeps its estimate."""
_MOST_NUMBERS: Final = 4_000_000
_LABELLED: Final = 2
_POISSON: Final = poisson.ppf((np.arange(2**16) + 0.5) / 2**16, 1).astype(np.float32)
"""How often a cluster is drawn, by a random number of 16 bits."""


@frozen(kw_only=True, eq=False)
class Contests:
    """Verdicts about systems; arrays have shape (verdicts,)."""

    systems: tuple[str, ...]
    first: Codes
    second: Codes
    """The other system; the same as `first` where verdicts are scores."""
    value: Floats
    """The score, or 1 where `first` wins, 0 where it loses, 0.5 for a tie; NaN without a verdict."""
    people: Floats
    """The label of people in the unit of a verdict, NaN without one."""
    cluster: Codes
    item: Codes
    test: NDArray[np.str_]
    """The test; empty for the unchanged question."""
    compared: bool
    """Whether verdicts are comparisons."""

    @property
    def cell(self) -> Codes:
        """Return the number of the two systems of each verdict."""
        return self.first.astype(np.int64) * len(self.systems) + self.second

    def take(self, rows: Mask | Codes) -> Contests:
        """Return some verdicts."""
        arrays = ("first", "second", "value", "people", "cluster", "item", "test")
        return evolve(self, **{name: getattr(self, name)[rows] for name in arrays})


@frozen(kw_only=True)
class System:
    """A system in a ranking."""

    name: str
    rank: int
    """1 + how many have a higher score."""
    low: int
    """Best rank that is not excluded."""
    high: int
    score: float
    """Mean; in comparisons the mean Bradley-Terry probability of a win against each other system."""
    verdicts: int
    total: float
    """Sum of the scores; in comparisons, the wins."""
    ties: int
    missing: int
    first_share: float
    """Share of the bootstrap samples of clusters in which it is first."""


@frozen(kw_only=True)
class Ranking:
    """Systems, the best first."""

    systems: tuple[System, ...]
    shown: tuple[tuple[str, str], ...]
    """Pairs of which the first is shown to be better, all together at the level."""
    clusters: int


def bradley_terry(wins: Floats) -> Floats:
    """Return the log strength of every system, with mean 0.

    The logit of the probability that i beats j is the difference of their strengths. Ties count half a win for each.
    Newton's method on the likelihood, with a small ridge penalty. Source: Bradley and Terry (1952), Biometrika
    39:324-345.

    Args:
        wins: how often the row's system beats the column's, shape (..., K, K).

    Returns:
        Shape (..., K).
    """
    games = wins + np.swapaxes(wins, -1, -2)
    strength = np.zeros(wins.shape[:-1])
    for _ in range(_STEPS):
        chance, laplacian = _chances(games, strength)
        gradient = (wins - games * chance).sum(axis=-1) - _RIDGE * strength
        step = np.linalg.solve(laplacian + _RIDGE * np.eye(wins.shape[-1]), gradient[..., None])[..., 0]
        # A full step may overshoot where hardly any game is open.
        strength += step / np.maximum(1, np.abs(step).max(axis=-1, keepdims=True))
        if np.abs(step).max(initial=0) < _EXACT:
            break
    return strength


def _chances(games: Floats, strength: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities that the row's system wins, and the information about the strengths."""
    chance = expit(strength[..., :, None] - strength[..., None, :])
    weight = games * chance * (1 - chance)
    return chance, weight.sum(axis=-1)[..., None] * np.eye(games.shape[-1]) - weight


def rank_systems(contests: Contests, *, level: float, resamples: int, seed: int) -> Ranking:
    """Rank all systems; each needs a verdict, and comparisons have to link them all."""
    random, size = np.random.default_rng(seed), len(contests.systems)
    there = contests.take(~np.isnan(contests.value))
    cluster = np.unique(there.cluster, return_inverse=True)[1]
    scores, pairs = _null_scores(there, cluster)
    better, worse = np.split(_rejected(scores, level, resamples, random), 2)
    shown = np.zeros((size, size), dtype=np.bool_)
    shown[tuple(pairs[better].T)] = shown[tuple(pairs[worse].T[::-1])] = True
    score, *drawn = _bootstrap(there, cluster, resamples, random)
    first = drawn >= np.max(drawn, axis=1, keepdims=True) - _EXACT
    shares = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    sides = [(contests.first, contests.value)]
    if contests.compared:
        sides.append((contests.second, 1 - contests.value))
        score = (expit(score[:, None] - score).sum(axis=1) - 0.5) / (size - 1)
    found = []
    for at, name in enumerate(contests.systems):
        values = np.concatenate([value[system == at] for system, value in sides])
        # A tie is neither won nor lost.
        tied = contests.compared & (np.abs(values - 0.5) < _EXACT)
        found.append(
            System(
                name=name, rank=1 + int((score > score[at] + _EXACT).sum()), low=1 + int(shown[:, at].sum()),
                high=size - int(shown[at].sum()), score=float(score[at]), verdicts=int((~np.isnan(values)).sum()),
                total=float(np.nansum(values[~tied])), ties=int(tied.sum()), missing=int(np.isnan(values).sum()),
                first_share=float(shares[at]),
            )
        )  # fmt: skip
    return Ranking(
        systems=tuple(sorted(found, key=lambda system: (system.rank, system.low, system.high))),
        shown=tuple((contests.systems[i], contests.systems[j]) for i, j in np.argwhere(shown)),
        clusters=len(scores),
    )


def _null_scores(contests: Contests, cluster: Codes) -> tuple[NDArray[np.float32], Codes]:
    """Return, by cluster and pair of systems, what tells the two apart, as if they were equal; and the pairs.

    In comparisons the score of the difference of strengths, less what the other strengths explain of it.
    """
    size, cell = len(contests.systems), contests.cell
    pairs = np.argwhere(np.triu(np.ones((size, size)), 1))
    rows = np.ones(len(cell)), contests.value
    counts, sums = (np.bincount(cell, part, size * size).reshape(size, size) for part in rows)
    unit = np.eye(size)
    apart = unit[pairs[:, 0]] - unit[pairs[:, 1]]
    if contests.compared:
        wins = sums + (counts - sums).T
        # The second system of a pair takes the strength of the first.
        merge = unit + unit[pairs[:, 1]][:, :, None] * apart[:, None, :]
        turned = np.swapaxes(merge, 1, 2)
        strength = np.einsum("pij,pj->pi", merge, bradley_terry(turned @ wins @ merge))
        expected, information = _chances(wins + wins.T, strength)
        nuisance = turned @ information @ merge + _RIDGE * unit
        explained = np.linalg.solve(nuisance, turned @ information @ apart[:, :, None])
        weight = apart - (merge @ explained)[:, :, 0]
        tables = weight[:, :, None] - weight[:, None, :], expected
    else:
        number, both = np.diagonal(counts), np.abs(apart)
        mean = (both @ np.diagonal(sums)) / (both @ number)
        tables = (apart / number)[:, :, None] * unit, mean[:, None, None] * np.ones((size, size))
    weights, means = (table.reshape(len(pairs), -1) for table in tables)
    scores = np.empty((int(cluster.max()) + 1, len(pairs)), dtype=np.float32)
    for at in range(len(pairs)):
        scores[:, at] = np.bincount(cluster, weights[at][cell] * (contests.value - means[at][cell]))
    return scores, pairs


def _rejected(scores: NDArray[np.float32], level: float, resamples: int, random: np.random.Generator) -> Mask:
    """Return which one-sided hypotheses are rejected: first not better, then second not better, shape (2 pairs,).

    Step-down: Romano and Wolf (2005), Journal of the American Statistical Association 100:94-108.
    """
    spread = np.sqrt((scores.astype(np.float64) ** 2).sum(axis=0))
    scaled = np.divide(scores, spread, out=np.zeros_like(scores), where=spread > _EXACT)
    drawn = np.empty((resamples, scores.shape[1]))
    for some in parts_of(resamples, max(1, _MOST_NUMBERS // len(scores))):
        bits = np.frombuffer(random.bytes((some.stop - some.start) * -(-len(scores) // 8)), dtype=np.uint8)
        heads = np.unpackbits(bits.reshape(some.stop - some.start, -1), axis=1, count=len(scores))
        drawn[some] = 2 * (heads.astype(np.float32) @ scaled) - scaled.sum(axis=0)
    observed = scaled.sum(axis=0, dtype=np.float64)
    observed, drawn = np.hstack([observed, -observed]), np.hstack([drawn, -drawn])
    still = np.ones(len(observed), dtype=np.bool_)
    while True:
        # The sample itself is one of the draws; rounding is no difference.
        highest = np.sort(np.append(drawn[:, still].max(axis=1), np.inf))
        new = still & (observed > highest[ceil(level * len(highest)) - 1] + 1e-4)
        if not new.any():
            return ~still
        still &= ~new


def _bootstrap(contests: Contests, cluster: Codes, resamples: int, random: np.random.Generator) -> Floats:
    """Return the log strengths, or means, of bootstrap samples of clusters, shape (1 + resamples, K).

    Every cluster is drawn a Poisson number of times (Oza and Russell 2001), which takes no table of draws to count.
    """
    size, cell, number = len(contests.systems), contests.cell, int(cluster.max()) + 1
    entries, places = np.concatenate([np.ones(len(cell)), contests.value]), np.concatenate([cell, cell + size * size])
    # In single precision, in which halves add exactly.
    pairs = entries.astype(np.float32), (places, np.tile(cluster, 2))
    sums_by_cluster = csr_array(pairs, shape=(2 * size * size, number))
    whole: Floats = np.bincount(places, entries, 2 * size * size).astype(np.float64)
    # The sample itself is the first row.
    totals = np.tile(whole, (resamples + 1, 1))
    for some in parts_of(resamples, max(1, _MOST_NUMBERS // number)):
        weights = _POISSON[random.integers(0, len(_POISSON), (number, some.stop - some.start), dtype=np.uint16)]
        totals[1 + some.start : 1 + some.stop] = (sums_by_cluster @ weights).T + _ABSENT * whole
    counts, sums = (totals.reshape(-1, 2, size, size)[:, at] for at in (0, 1))
    if contests.compared:
        return bradley_terry(sums + np.swapaxes(counts - sums, 1, 2))
    return np.diagonal(sums, axis1=-2, axis2=-1) / np.diagonal(counts, axis1=-2, axis2=-1)


def correct_by_labels(contests: Contests) -> Contests | None:
    """Return verdicts whose means are those of people's labels, where the labelled ones are a random part.

    A verdict becomes w f + [labelled] N / n (y - w f), with N verdicts and n labels of its two systems: the
    prediction-powered estimate (`jrh_stats.prediction_powered_mean`) is the mean of these. A missing verdict takes the
    mean of its systems. w is tuned for all systems together.

    Returns:
        None where two systems that met (of scores: a system) have fewer than two labels, or no verdict.
    """
    cell, people = np.unique(contests.cell, return_inverse=True)[1], contests.people
    labelled, there = ~np.isnan(people), ~np.isnan(contests.value)
    asked, labels, given = (np.bincount(cell, part) for part in (np.ones(len(cell)), labelled, there))
    if labels.min() < _LABELLED or not given.all():
        return None
    mean = np.bincount(cell[there], contests.value[there]) / given
    judged = np.where(there, contests.value, mean[cell])
    # Deviations within a cell: differences between systems do not show how well the judge tells responses apart.
    at = cell[labelled]
    y, f = (part - (np.bincount(at, part) / labels)[at] for part in (people[labelled], judged[labelled]))
    spread = float(((judged - mean[cell]) ** 2).mean())
    weight = min(max(float((y * f).mean()) / spread, 0.0), 1.0) if spread > _EXACT else 0.0
    change = np.where(labelled, (asked / labels)[cell] * (np.nan_to_num(people) - weight * judged), 0.0)
    return evolve(contests, value=weight * judged + change)
