"""How often `jrh automate --cascade` issues thresholds that break their promise, in planted worlds.

Every study has 400 items that a cheap judge and a dear one decide, with their confidence, and asks for at most 10%
wrong decisions with alpha 5%. The true share of wrong decisions comes from 400,000 items of the same world.
`python -m tests.studies.cascade [--studies 1000] [--seed 1]` prints a line per world: studies, cascades issued, how
many of these are broken, and the mean shares of items that the cheap judge, the dear one and people decide.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh_decide.cascade import any_decision, combine, search_cascade
from jrh_decide.decisions import Decisions

from tests.studies.automate import ALPHA, ERROR, TRUTH, World
from tests.studies.command import print_study

STATED: Final = World(name="stated probability")
FIVE: Final = World(name="five repeats", repeats=5)


@frozen(kw_only=True)
class Pair:
    """A cheap judge and a dear one."""

    name: str
    cheap: World
    """Both are the same world: clusters and luck are shared."""
    better: float = 0.4
    """Share of the cheap judge's errors that the dear one does not make; the rest are the same items."""
    lost: float = 0.0
    """Share of the dear judge's verdicts that are missing."""
    noise: float = 0.0
    """Share of the dear judge's decisions that are a coin's."""

    def draw(self, items: int, random: np.random.Generator) -> Sequence[Decisions]:
        """Draw items as both judges decide them."""
        cheap = self.cheap.draw(items, random)
        dear = evolve(cheap, wrong=np.where(random.random(items) < self.better, cheap.wrong * 0, cheap.wrong))
        # The dear judge has a verdict also where the cheap one has none; there it is wrong as often as elsewhere.
        errs = np.nanmean(dear.wrong)
        own = (random.random(items) < errs).astype(np.float64)
        wrong = np.where(np.isnan(dear.wrong), own, dear.wrong)
        wrong = np.where(random.random(items) < self.noise, random.random(items) < 0.5, wrong).astype(np.float64)
        gone = random.random(items) < self.lost
        confidence = np.where(np.isnan(cheap.confidence), 0.7, cheap.confidence)
        dear = evolve(
            dear, wrong=np.where(gone, np.nan, wrong), confidence=np.where(gone, np.nan, confidence)
        )  # fmt: skip
        return cheap, dear


WORLDS: Final = (
    Pair(name="stated probability", cheap=STATED),
    Pair(name="five repeats, ties", cheap=FIVE),
    Pair(name="five repeats, 20% and 10% missing", cheap=evolve(FIVE, missing=0.2), lost=0.1),
    Pair(name="the dear judge is a coin on a tenth", cheap=FIVE, noise=0.1),
    Pair(name="clusters of 4", cheap=evolve(STATED, shared=4)),
    Pair(name="sure and wrong on a tenth", cheap=evolve(STATED, sly=0.1)),
    Pair(name="10.1% wrong, whoever decides", cheap=evolve(STATED, flat=True), better=0.0),
    Pair(name="10.1% wrong, five repeats, 10% missing", cheap=evolve(FIVE, flat=True), better=0.0, lost=0.1),
    Pair(name="10.1% wrong, clusters of 4", cheap=evolve(STATED, flat=True, shared=4), better=0.0),
    Pair(name="10.1% wrong, 100 items", cheap=evolve(STATED, flat=True, items=100), better=0.0),
)


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world."""
    yield "world | studies | issued | broken | cheap | dear | people"
    for at, world in enumerate(WORLDS):
        random = np.random.default_rng([seed, at])
        everything = world.draw(TRUTH, random)
        issued, broken, shares = 0, 0, np.zeros(3)
        for study in range(studies):
            stages = world.draw(world.cheap.items, random)
            tested = any_decision(stages, ALPHA).held_out(study)
            row, place = search_cascade(stages, tested, error=ERROR, alpha=ALPHA)
            if place is not None:
                issued += 1
                # By the world and not by the sample: where the error is flat, it is known.
                broken += world.cheap.flat or np.nanmean(combine(everything, row[place])[0].wrong) > ERROR
                decider = combine(stages, row[place])[1]
                shares += [float((decider == who).mean()) for who in (0, 1, -1)]
        means = " | ".join(f"{100 * share / max(issued, 1):.0f}%" for share in shares)
        yield f"{world.name} | {studies:,} | {issued:,} | {broken:,} | {means}"


if __name__ == "__main__":
    print_study("cascade", lines, studies=1000, about="jrh automate --cascade")
