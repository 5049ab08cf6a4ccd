"""How often all rank intervals of `jrh rank` hold the true ranks at once, in planted worlds.

Every study has systems of known order, some of them equal, and asks for intervals that all hold in 95 of 100
studies. An interval of equal systems has to hold every rank that they share. `python -m tests.studies.rank
[--studies 1000] [--seed 1]` prints a line per world: studies, those in which all intervals hold, the mean width of an
interval in ranks, and how often the best system alone is shown to be first.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh_decide.ranking import Contests, Ranking, correct_by_labels, rank_systems
from scipy.special import expit

from tests.studies.command import print_study

LEVEL: Final = 0.95
RESAMPLES: Final = 400
SPREAD: Final = (0.9, 0.4, 0.4, 0.0, -0.5)
"""Log strengths, or scores, of five systems, two of them equal."""
NAMES: Final = tuple("abcdefgh")


@frozen(kw_only=True)
class World:
    """Systems and how they are judged."""

    name: str
    strength: tuple[float, ...] = SPREAD
    clusters: int = 300
    shared: int = 1
    """Verdicts of a cluster; more than one share luck: each system has good and bad clusters."""
    compared: bool = True
    every: bool = False
    """Whether each cluster has a score of every system."""
    binary: bool = False
    ties: float = 0.0
    missing: float = 0.0
    """Share of verdicts that are missing, twice as many where the last system takes part, few elsewhere."""
    rare: float = 1.0
    """How often the last system is drawn, of how often others are."""
    labelled: float = 0.0
    """Share of verdicts with a label; the judge favours the last system, and the ranking is corrected."""

    def draw(self, random: np.random.Generator) -> Contests:
        """Draw a study with a verdict about every system: `jrh rank` refuses others."""
        while True:
            contests = self._draw(random)
            there = ~np.isnan(contests.value)
            if len({*contests.first[there].tolist(), *contests.second[there].tolist()}) == len(self.strength):
                return contests

    def _draw(self, random: np.random.Generator) -> Contests:
        size, number = len(self.strength), self.clusters * self.shared
        chance = np.array([1.0] * (size - 1) + [self.rare])
        both = np.argsort(random.exponential(1 / chance, (number, size)), axis=1)[:, :2]
        first, second = both[:, 0], both[:, 1] if self.compared else both[:, 0]
        if self.every:
            first = second = np.tile(np.arange(size), self.clusters)[:number]
        cluster = np.arange(number) // self.shared
        luck = random.normal(0, 0.8 if self.shared > 1 else 0, (self.clusters, size))
        means = np.array(self.strength) + luck
        if self.compared:
            logit = means[cluster, first] - means[cluster, second]
            value = (random.random(number) < expit(logit)).astype(np.float64)
            value[random.random(number) < self.ties] = 0.5
        elif self.binary:
            value = (random.random(number) < expit(means[cluster, first])).astype(np.float64)
        else:
            value = means[cluster, first] + random.standard_exponential(number)
        people = np.where(random.random(number) < self.labelled, value, np.nan)
        last = (first == size - 1) | (second == size - 1)
        if self.labelled:
            # The judge is right on 7 of 10, and says on the others that the last system is good.
            favoured = np.where(self.compared & (second == size - 1), 0.0, np.where(last, 1.0, 0.5))
            value = np.where(random.random(number) < 0.7, value, favoured)
        value[random.random(number) < self.missing * np.where(last, 2.0, 0.5)] = np.nan
        return Contests(
            systems=NAMES[:size], first=first, second=second, value=value, people=people, cluster=cluster,
            item=np.arange(number), test=np.full(number, ""), compared=self.compared,
        )  # fmt: skip

    def study(self, random: np.random.Generator, seed: int) -> Ranking:
        """Rank the systems of one study, corrected where people labelled a part."""
        contests = self.draw(random)
        corrected = correct_by_labels(contests) if self.labelled else contests
        assert corrected is not None
        return rank_systems(corrected, level=LEVEL, resamples=RESAMPLES, seed=seed)

    def holds(self, ranking: Ranking) -> bool:
        """Return whether every interval holds all ranks that its system shares."""
        strength = dict(zip(NAMES, self.strength, strict=False))
        for system in ranking.systems:
            own = strength[system.name]
            best = 1 + sum(other > own for other in strength.values())
            worst = sum(other >= own for other in strength.values())
            if not system.low <= best <= worst <= system.high:
                return False
        return True


EQUAL: Final = (0.0,) * 5
WORLDS: Final = (
    World(name="comparisons"),
    World(name="comparisons, all systems equal", strength=EQUAL),
    World(name="clusters of 5 that share luck", clusters=60, shared=5),
    World(name="the same, all equal", strength=EQUAL, clusters=60, shared=5),
    World(name="12 clusters of 20, all equal", strength=EQUAL, clusters=12, shared=20),
    World(name="30% ties, 20% missing, all equal", strength=EQUAL, ties=0.3, missing=0.2),
    World(name="30% ties, 20% missing", ties=0.3, missing=0.2),
    World(name="one wins nearly all", strength=(6.0, 0.0, 0.0, 0.0, -0.5)),
    World(name="one is hardly ever drawn, all equal", strength=EQUAL, rare=0.05),
    World(name="8 systems, all equal", strength=(0.0,) * 8),
    World(name="scores on the same 60 items", compared=False, every=True, clusters=60, shared=5),
    World(name="the same, all equal", strength=EQUAL, compared=False, every=True, clusters=60, shared=5),
    World(name="labels, 20% missing, all equal", strength=EQUAL, compared=False, binary=True, missing=0.2),
    World(name="skewed scores, one system rare, all equal", strength=EQUAL, compared=False, rare=0.1),
    World(name="corrected by labels of 30%", clusters=200, shared=5, labelled=0.3),
    World(name="the same, all equal", strength=EQUAL, clusters=200, shared=5, labelled=0.3),
    World(name="corrected scores, labels of 20%, all equal", strength=EQUAL, compared=False, binary=True, clusters=800,
          labelled=0.2, missing=0.1),
)  # fmt: skip


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world."""
    yield "world | studies | all intervals hold | mean width | best shown first"
    for at, world in enumerate(WORLDS):
        random = np.random.default_rng([seed, at])
        held, width, alone = 0, 0.0, 0
        for study in range(studies):
            ranking = world.study(random, study)
            held += world.holds(ranking)
            width += float(np.mean([system.high - system.low for system in ranking.systems]))
            alone += any(system.name == NAMES[0] and system.high == 1 for system in ranking.systems)
        yield f"{world.name} | {studies:,} | {held:,} | {width / studies:.2f} | {alone:,}"


if __name__ == "__main__":
    print_study("rank", lines, studies=1000, about="jrh rank")
