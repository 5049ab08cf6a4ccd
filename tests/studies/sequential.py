"""How often the limits of `allocate: stop` are ever wrong, and how often a race ever drops a judge that is not worse.

`python -m tests.studies.sequential [--studies 1000] [--seed 1]` prints three tables. Every cluster is a look: a study
counts as wrong if it is so at any of them. In the first table, one judge has a rule; next to it is the usual 95%
interval, cluster-robust and normal, taken at every tenth cluster. In the second, four judges race. In the third, the
best of eight equal judges is reported, by the usual interval and by that of the race.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import derive_seed
from jrh.plugins import Role
from jrh_measuring import Floats, parse_rule
from jrh_sequential.betting import log_capital, lower_limit
from jrh_sequential.deciding import ConfidenceSequence, better_judges
from jrh_sequential.options import Target
from jrh_sequential.totals import Totals

from tests.studies.command import print_study

ALPHA: Final = 0.05
RATE: Final = 0.85
"""Of the judge with a rule, and of the best judges of a race, before sizes of clusters tell about verdicts."""
CLUSTERS: Final = 300
LARGEST: Final = 8
Random = np.random.Generator


@frozen(kw_only=True)
class World:
    """Clusters of trials."""

    name: str
    unequal: bool = False
    """Whether clusters have 1 to 8 trials instead of one."""
    telling: bool = False
    """Whether hard clusters are the large ones."""
    shared: float = 0.3
    """Chance that a trial shares the luck of its cluster, which is that of all judges."""
    reruns: int = 1
    """Trials of each of the equal clusters."""
    missing: float = 0.0
    informative: bool = False
    """Whether wrong verdicts go missing four times as often."""
    file_order: bool = False
    """Whether clusters come sorted by difficulty, instead of drawn."""
    ordered: bool = False
    """Whether the file is sorted by difficulty."""

    def draw(self, random: Random, studies: int, rates: tuple[float, ...]) -> tuple[Floats, Floats, Floats]:
        """Return totals at worst and at best, shape (judges, studies, clusters), and sizes, (studies, clusters)."""
        luck = random.random((studies, CLUSTERS))
        if self.ordered:
            luck = np.sort(luck, axis=1)
            if not self.file_order:
                keys = [
                    [derive_seed(seed, "stop", f"n{place}") for place in range(CLUSTERS)] for seed in range(studies)
                ]
                luck = np.take_along_axis(luck, np.argsort(keys, axis=1), axis=1)
        sizes = np.full(luck.shape, self.reruns)
        if self.unequal:
            large = luck > 0.7 if self.telling else random.random(luck.shape) > 0.7
            sizes = np.where(large, LARGEST, random.integers(1, 4, luck.shape))
        there = np.arange(LARGEST) < sizes[..., None]
        low, high = [], []
        for rate in rates:
            own = random.random(there.shape)
            right = np.where(random.random(there.shape) < self.shared, luck[..., None], own) < rate
            gone = self.missing * (np.where(right, 0.7, 2.8) if self.informative else 1.0)
            lost = random.random(there.shape) < gone
            low.append((right & ~lost & there).sum(axis=2))
            high.append(((right | lost) & there).sum(axis=2))
        return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64), sizes.astype(np.float64)

    def truth(self, rate: float) -> float:
        """Return the mean over trials in the population."""
        if not self.telling:
            return rate
        low, _, sizes = evolve(self, missing=0.0).draw(np.random.default_rng(0), 1000, (rate,))
        return float(low.sum() / sizes.sum())


WORLDS: Final = (
    World(name="300 items"),
    World(name="three reruns of each item", reruns=3, shared=0.8),
    World(name="clusters of 1 to 8, strong ICC", unequal=True, shared=0.9),
    World(name="the same, hard clusters are large", unequal=True, shared=0.9, telling=True),
    World(name="10% missing", missing=0.1),
    World(name="10% missing, wrong ones more often, clusters", missing=0.1, informative=True, unequal=True, shared=0.9),
    World(name="sorted file, drawn clusters", ordered=True, shared=0.9),
    World(name="sorted file in its order (before the mend)", ordered=True, shared=0.9, file_order=True),
)


def decisions(low: Floats, high: Floats, sizes: Floats, p: float, target: float) -> tuple[Floats, Floats]:
    """Return the cluster at which a mean above `p`, and one below it, is shown; infinite if never."""
    sides = (low, p, target), (sizes - high, 1 - p, 1 - target)
    shown = [log_capital(sums, sizes, mean, aim, ALPHA / 2) >= np.log(2 / ALPHA) for sums, mean, aim in sides]
    above, below = (np.where(each.any(axis=-1), each.argmax(axis=-1) + 1, np.inf) for each in shown)
    return above, below


def usual_limits(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the cluster-robust 95% interval after every tenth cluster."""
    number, total = np.arange(1, sums.shape[-1] + 1), np.maximum(sizes.cumsum(axis=-1), 1)
    mean = sums.cumsum(axis=-1) / total
    squares = (sums**2).cumsum(axis=-1) - 2 * mean * (sums * sizes).cumsum(axis=-1)
    squares += mean**2 * (sizes**2).cumsum(axis=-1)
    half = 1.96 * np.sqrt(np.maximum(squares, 0) * number / np.maximum(number - 1, 1)) / total
    looks = slice(29, None, 10)
    return (mean - half)[..., looks], (mean + half)[..., looks]


def rule_lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world about one judge and its rule."""
    yield (
        f"one judge | limits ever wrong, of {studies:,} | wrong decision at the threshold itself | usual interval ever "
        "wrong | decided, threshold 0.1 lower | after clusters, mean | decided, 0.1 higher | after clusters, mean"
    )
    for place, world in enumerate(WORLDS):
        lows, highs, sizes = world.draw(np.random.default_rng([seed, place]), studies, (RATE,))
        low, high, truth = lows[0], highs[0], world.truth(RATE)
        limits = np.isfinite(decisions(low, high, sizes, truth, truth - 0.1)).any(axis=0)
        wrong = np.isfinite(decisions(low, high, sizes, truth, truth)).any(axis=0)
        left, right = usual_limits(low, sizes - (high - low))  # of the verdicts that are there
        usual = ((left > truth) | (right < truth)).any(axis=1)
        parts = [limits.sum(), wrong.sum(), usual.sum()]
        for p, side in ((truth - 0.1, 0), (min(truth + 0.1, 0.99), 1)):
            first = decisions(low, high, sizes, p, p)[side]
            parts += [np.isfinite(first).sum(), round(np.minimum(first, CLUSTERS).mean())]
        yield " | ".join([world.name, *map(str, parts)])


def race_of(low: Floats, high: Floats, sizes: Floats) -> dict[str, ConfidenceSequence]:
    """Return the judges of one study as a race."""
    target = Target(rule=parse_rule("share >= 0.5"), role=Role.AGREEMENT.value)
    totals = [Totals(*sums, sizes, None) for sums in zip(low, high, strict=True)]
    return {
        str(judge): ConfidenceSequence(str(judge), None, target, own, ALPHA / len(totals))
        for judge, own in enumerate(totals)
    }


def race_lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world about races of four judges, the best two of which are equal, or all."""
    yield (
        f"four judges | all equal: any dropped, of {studies:,} | two best: one of them dropped | 0.15 worse: dropped | "
        "after clusters, mean | trials saved"
    )
    for place, world in enumerate(world for world in WORLDS if not world.file_order):
        random = np.random.default_rng([seed, 100 + place])
        dropped = []
        for rates in ((RATE,) * 4, (RATE, RATE, RATE - 0.15, RATE - 0.3)):
            low, high, sizes = world.draw(random, studies, rates)
            dropped.append(
                [
                    set(better_judges(race_of(low[:, study], high[:, study], sizes[study]), ALPHA))
                    for study in range(studies)
                ]
            )
        # When the third is dropped, by either of the best.
        needed, first = np.log(12 / ALPHA), np.full((4, studies), CLUSTERS)
        for worse in (2, 3):
            for best in (0, 1):
                sums = (low[best] - high[worse] + sizes) / 2
                shown = log_capital(sums, sizes, 0.5, 0.5, ALPHA / 12) >= needed
                when = np.where(shown.any(axis=1), shown.argmax(axis=1) + 1, CLUSTERS)
                first[worse] = np.minimum(first[worse], when)
        parts = [
            sum(bool(each) for each in dropped[0]),
            sum(bool(each & {"0", "1"}) for each in dropped[1]),
            sum("2" in each for each in dropped[1]),
            round(first[2].mean()),
            f"{1 - first.mean() / CLUSTERS:.0%}",
        ]
        yield " | ".join([world.name, *map(str, parts)])


def curse_lines(studies: int, seed: int) -> Iterator[str]:
    """Yield the line of the winner's curse: the best of eight equal judges after all clusters."""
    yield f"best of eight equal judges | usual interval misses its rate, of {studies:,} | interval of the race misses"
    for place, world in enumerate((WORLDS[0], WORLDS[2])):
        low, _, sizes = world.draw(np.random.default_rng([seed, 200 + place]), studies, (RATE,) * 8)
        best = low.sum(axis=2).argmax(axis=0)
        mine = low[best, np.arange(studies)]
        left, right = (limit[:, -1] for limit in usual_limits(mine, sizes))
        race = [
            (lower_limit(own, size, 0.5, ALPHA / 16), 1 - lower_limit(size - own, size, 0.5, ALPHA / 16))
            for own, size in zip(mine, sizes, strict=True)
        ]
        missed = sum(not lower <= RATE <= upper for lower, upper in race)
        yield f"{world.name} | {((left > RATE) | (right < RATE)).sum()} | {missed}"


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield the lines of all tables."""
    yield from rule_lines(studies, seed)
    yield from race_lines(studies, seed)
    yield from curse_lines(studies, seed)


if __name__ == "__main__":
    print_study("sequential", lines, studies=1000, about="rules and races that stop early")
