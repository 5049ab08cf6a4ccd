"""How many items a report advises: `python -m tests.studies.advice [--studies 1000] [--seed 1]`.

A pilot of few items leaves a question open; the report says how many items have 80% power for a named effect. Printed
are, per world, the true need, the quantiles of the advised number by the rule before (the distance of the observed
effect from 0 or from the margin, whichever is larger) and by the rule now (the middle of the range), how often the
range holds the need, and how often runs of the advised number show a true effect of the named size, or equivalence
where there is none.

The pilot's true effect is half of the named one. Every item is asked once or several times under two conditions; its
difference is the mean of the answers. Worlds marked * were not looked at while the rule was made.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from attrs import evolve, frozen
from jrh_stats import Estimate, items_to_decide, paired_difference
from numpy.typing import NDArray

POWER = 0.8
_GRID = np.geomspace(0.1, 20, 12)
_FOLLOWING = 300


@frozen(kw_only=True)
class World:
    """Items whose verdicts a test changes."""

    name: str
    items: int
    effect: float
    """The named effect: the margin."""
    change: float
    """The true change of the mean."""
    moved: float
    """Share of items of which the test changes the settled verdict, in either direction."""
    noise: float = 0.0
    """Chance that an answer is not the settled one."""
    askings: int = 1
    cluster: int = 1
    """Items that change together."""
    comparisons: int = 1
    levels: float = 1.0
    """What a change is worth."""

    def draw(self, rng: np.random.Generator, items: int) -> Estimate:
        """Draw a study of so many items; return the change with its interval."""
        groups = max(items // self.cluster, 2)
        # A change of c levels with a share q of moved items: up in (q + c) / 2, down in (q - c) / 2.
        # Noise makes the mean move less than the settled verdicts do.
        shift = self.change / self.levels / (1 - 2 * self.noise)
        up, down = (self.moved + shift) / 2, (self.moved - shift) / 2
        steps = rng.choice([1, -1, 0], size=groups, p=[up, down, 1 - up - down])
        own = np.repeat(steps, self.cluster)
        start = np.where(own == 0, rng.random(len(own)) < 1 / 2, own < 0)
        answers = [self._answers(rng, settled.astype(bool)) for settled in (start, start + own)]
        second, first = (self.levels * part for part in (answers[1], answers[0]))
        return paired_difference(second, first, np.arange(len(own)) // self.cluster, span=self.levels)

    def _answers(self, rng: np.random.Generator, settled: NDArray[np.bool_]) -> NDArray[np.float64]:
        wrong = rng.random((len(settled), self.askings)) < self.noise
        return np.asarray((settled[:, None] != wrong).mean(axis=1), dtype=np.float64)


WORLDS = (
    World(name="margin 0.10, 20% move", items=60, effect=0.1, change=0.05, moved=0.2),
    World(name="margin 0.10, 12% move", items=40, effect=0.1, change=0.05, moved=0.12),
    World(name="margin 0.05, 10% move", items=100, effect=0.05, change=0.025, moved=0.1),
    World(name="* margin 0.05, 6% move", items=200, effect=0.05, change=0.025, moved=0.06),
    World(name="* noise 10%, 3 askings", items=60, effect=0.1, change=0.05, moved=0.15, noise=0.1, askings=3),
    World(name="* clusters of 3", items=120, effect=0.1, change=0.05, moved=0.2, cluster=3),
    World(name="* 12 tests", items=100, effect=0.1, change=0.05, moved=0.2, comparisons=12),
    World(name="* 4 levels, margin 0.2", items=60, effect=0.2, change=0.1, moved=0.1, levels=4.0),
)


@frozen(kw_only=True)
class Row:
    """What the advice of one world is worth."""

    world: World
    need: float
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    held: float
    shown: float
    equivalent: float

    @property
    def text(self) -> str:
        """Return a line of the table."""
        before, after = (
            ", ".join(f"{n:,.0f}" for n in np.quantile(part, (0.1, 0.5, 0.9))) for part in (self.before, self.after)
        )
        shares = " ".join(f"{share:>7.1%}" for share in (self.held, self.shown, self.equivalent))
        return f"{self.world.name:<26} {self.need:>6,.0f}  {before:>22}  {after:>22}  {shares}"


def study(world: World, studies: int, seed: int) -> Row:
    """Draw pilots, take the advice of each, and look up how often runs of that size decide."""
    rng = np.random.default_rng([seed, world.items])
    before: list[int] = []
    ranges: list[tuple[int, int]] = []
    while len(ranges) < studies:
        found = world.draw(rng, world.items)
        if found.low is None or found.high is None or found.value is None or found.low > 0 or found.high < 0:
            continue
        half, effect = (found.high - found.low) / 2, max(abs(found.value), world.effect - abs(found.value))
        shared = {"comparisons": world.comparisons}
        before.append(max(_single(found.clusters, half, effect, **shared), 2 * found.clusters))
        ranges.append(items_to_decide(found.clusters, half, world.effect, span=world.levels, **shared))
    low, high = np.array(ranges, dtype=float).T * world.cluster
    planned, other = np.sqrt(low * high), np.array(before, dtype=float) * world.cluster
    sizes, shown, equivalent = _power(world, float(np.median(planned)), rng)
    need = float(np.exp(np.interp(POWER, shown, np.log(sizes))))
    return Row(
        world=world,
        need=need,
        before=other,
        after=planned,
        held=float(((low <= need) & (need <= high)).mean()),
        shown=float(np.interp(np.log(planned), np.log(sizes), shown).mean()),
        equivalent=float(np.interp(np.log(planned), np.log(sizes), equivalent).mean()),
    )


def _single(items: int, half: float, effect: float, *, comparisons: int) -> int:
    """Return the number that the rule before advised: the formula without a range."""
    from scipy.stats import norm

    quantiles = norm.isf(0.025 / comparisons) + norm.isf(1 - POWER)
    return int(np.ceil(items * (half * quantiles / (norm.isf(0.025) * effect)) ** 2))


def _power(world: World, around: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], ...]:
    """Return numbers of items, how often they show the named effect, and how often equivalence where there is none."""
    sizes = np.unique(np.maximum(np.rint(around * _GRID / world.cluster), 4)) * world.cluster
    sizes = sizes[sizes <= 20 * around]
    full, none = evolve(world, change=world.effect), evolve(world, change=0.0)
    rows = [(_share(full, int(n), rng, _differs), _share(none, int(n), rng, _is_equivalent)) for n in sizes]
    shown, equivalent = np.maximum.accumulate(np.array(rows), axis=0).T
    return sizes, shown, equivalent


def _share(world: World, items: int, rng: np.random.Generator, holds: object) -> float:
    assert callable(holds)
    return float(np.mean([holds(world.draw(rng, items), world) for _ in range(_FOLLOWING)]))


def _ends(found: Estimate, world: World, quantile: float) -> tuple[float, float]:
    """Return the interval at the corrected level, its half-width being proportional to the quantile."""
    from scipy.stats import norm

    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    factor = quantile / norm.isf(0.025)
    return found.value - factor * (found.value - found.low), found.value + factor * (found.high - found.value)


def _differs(found: Estimate, world: World) -> bool:
    from scipy.stats import norm

    return _ends(found, world, norm.isf(0.025 / world.comparisons))[0] > 0


def _is_equivalent(found: Estimate, world: World) -> bool:
    from scipy.stats import norm

    low, high = _ends(found, world, norm.isf(0.05 / world.comparisons))
    return -world.effect < low and high < world.effect


def table(studies: int, seed: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{studies} studies a world; numbers of items: 10, 50 and 90% quantiles"
    yield f"{'world':<26} {'need':>6}  {'before':>22}  {'now':>22}  {'in range':>7} {'shown':>7} {'same':>7}"
    for world in WORLDS:
        yield study(world, studies, seed).text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for line in table(options.studies, options.seed):
        print(line, flush=True)
