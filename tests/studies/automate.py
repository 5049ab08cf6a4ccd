"""How often `jrh automate` issues a threshold that breaks its promise, in planted worlds.

Every study has items with a confidence and a decision that is right or wrong, and asks for at most 10% wrong decisions
with alpha 5%. The true share of wrong decisions above each threshold comes from 400,000 items of the same world.
`python -m tests.studies.automate [--studies 1000] [--seed 1]` prints a line per world: studies, thresholds issued, how
many of these are broken, and the mean share of items decided alone.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh_decide.automate import Measured, search_threshold
from jrh_decide.decisions import Basis, Decisions
from jrh_measuring import Coded, Floats

from tests.studies.command import print_study

ERROR: Final = 0.1
ALPHA: Final = 0.05
TRUTH: Final = 400_000


@frozen(kw_only=True)
class World:
    """How a judge errs."""

    name: str
    items: int = 400
    repeats: int = 0
    """Verdicts per item whose agreement is the confidence; 0: it states one."""
    shared: int = 1
    """Items of a cluster, which share most of their luck."""
    flat: bool = False
    """Whether the judge errs at every confidence just more often than promised: whatever is issued is broken."""
    missing: float = 0.0
    """Share of verdicts that are missing, twice as many where the judge errs often."""
    sly: float = 0.0
    """Share of items on which the judge is sure, and wrong on 3 of 10."""

    def draw(self, items: int, random: np.random.Generator) -> Decisions:
        """Draw items."""
        clusters = np.repeat(np.arange(-(-items // self.shared)), self.shared)[:items]
        luck = random.beta(0.5, 0.5, len(clusters))[clusters]
        # Of items in one cluster, the same luck decides on three of four.
        alike = random.random(items) < (0.75 if self.shared > 1 else 0.0)
        sure = np.where(alike, luck, random.beta(0.5, 0.5, items))
        chance = np.full(items, ERROR + 0.001) if self.flat else 0.35 * (1 - sure)
        sly = random.random(items) < self.sly
        chance[sly], sure[sly] = 0.3, 1.0
        common = random.random(len(clusters))[clusters]
        wrong = np.where(alike, common, random.random(items)) < chance
        if self.repeats:
            # A judge that is not sure gives another verdict now and then.
            agreeing = random.binomial(self.repeats, 0.6 + 0.4 * sure)
            confidence = agreeing / self.repeats
        else:
            confidence = sure
        gone = random.random(items) < self.missing * np.where(chance > ERROR, 1.5, 0.75)
        confidence = np.where(gone, np.nan, confidence)
        return Decisions(
            basis=Basis(judges=("j",), kind="stated"),
            confidence=confidence,
            wrong=np.where(gone, np.nan, wrong.astype(np.float64)),
            cluster=Coded(codes=clusters, names=[str(at) for at in range(items)]),
        )


WORLDS: Final = (
    World(name="stated probability"),
    World(name="five repeats, ties", repeats=5),
    World(name="clusters of 4", shared=4),
    World(name="20% of the verdicts missing", missing=0.2, repeats=5),
    World(name="sure and wrong on a tenth", sly=0.1),
    World(name="10.1% wrong at any confidence", flat=True),
    World(name="10.1% wrong, five repeats, missing", flat=True, repeats=5, missing=0.2),
    World(name="10.1% wrong, clusters of 4", flat=True, shared=4),
    World(name="10.1% wrong, clusters of 8, five repeats", flat=True, shared=8, repeats=5),
    World(name="10.1% wrong, 100 items", flat=True, items=100),
)


def true_errors(world: World, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return confidences, sorted, and the share of wrong decisions from each of them on."""
    everything = world.draw(TRUTH, random)
    there = ~np.isnan(everything.confidence)
    order = np.argsort(everything.confidence[there])
    wrong = everything.wrong[there][order]
    return everything.confidence[there][order], wrong[::-1].cumsum()[::-1] / np.arange(len(wrong), 0, -1)


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world."""
    yield "world | studies | issued | broken | decided alone where issued"
    for at, world in enumerate(WORLDS):
        random = np.random.default_rng([seed, at])
        levels, errors = true_errors(world, random)
        issued, broken, shares = 0, 0, 0.0
        for study in range(studies):
            measured = Measured(decisions=world.draw(world.items, random), alpha=ALPHA)
            grid, _, place = search_threshold(measured, measured.held_out(study), ERROR)
            if place is not None:
                issued += 1
                first = min(int(np.searchsorted(levels, grid[place] - 1e-9)), len(levels) - 1)
                # By the world and not by the sample: where the error is flat, it is known.
                broken += world.flat or errors[first] > ERROR
                shares += float(measured.decided(grid[place]).mean())
        yield f"{world.name} | {studies:,} | {issued:,} | {broken:,} | {100 * shares / max(issued, 1):.0f}%"


if __name__ == "__main__":
    print_study("automate", lines, studies=1000, about="jrh automate")
