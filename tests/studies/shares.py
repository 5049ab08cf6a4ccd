"""Study the interval of a share: coverage, the errors of each end, widths, and false claims about a bar.

`python -m tests.studies.shares [--studies 1000] [--seed 1]` prints a line per world. `below` and `above` count samples
whose interval lies below or above the true share, which is 2.5% for a limit that uses its error rate up. `flagged` has
a flag that forbids decisions. `false yes` counts samples in which a check of "at least the true share, and a thousandth
more" says Yes. Last, the width relative to that of Wilson's interval with the effective number of trials and K - 1
degrees, without a floor, which does not keep its coverage.

Worlds marked `*` were not looked at when the interval was chosen. In the others, Wilson's, Korn and Graubard's and
mid-p intervals with four kinds of degrees of freedom, with and without the floor, were compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import Interval, Measure
from jrh_measuring import unsure
from jrh_stats import clustered_proportion, ratio_variance
from jrh_stats.score_intervals import score_interval, t_quantile
from jrh_testing import flags_by_name
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, NDArray[np.int64]], Floats]
"""Draws the number of right trials of each cluster from their sizes."""


@frozen(kw_only=True)
class World:
    """Clusters of given sizes, and how their trials come out right."""

    name: str
    sizes: tuple[int, ...]
    truth: float
    draw: Draw
    new: bool = False
    """Not looked at when the interval was chosen."""


@frozen(kw_only=True)
class Row:
    """Shares of the studies of a world, and widths."""

    covered: float
    below: float
    above: float
    flagged: float
    false_yes: float
    width: float
    relative: float


def beta_binomial(truth: float, correlation: float) -> Draw:
    """Give every cluster a rate of its own, from a beta distribution."""
    size = (1 - correlation) / correlation
    return lambda random, sizes: random.binomial(sizes, random.beta(truth * size, (1 - truth) * size, len(sizes))) * 1.0


def bad_clusters(truth: float, share: float) -> Draw:
    """Make a share of the errors whole clusters that are all wrong, and scatter the others."""
    wrong = (1 - truth) * share
    rest = truth / (1 - wrong)
    return lambda random, sizes: random.binomial(sizes, np.where(random.random(len(sizes)) < wrong, 0.0, rest)) * 1.0


def logit_normal(truth: float, spread: float) -> Draw:
    """Give every cluster a rate whose logit is normal; centred so that the mean rate is `truth`."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    low, high = -20.0, 20.0
    for _ in range(60):
        centre = (low + high) / 2
        mean = float(weights @ (1 / (1 + np.exp(-(centre + spread * nodes)))) / weights.sum())
        low, high = (centre, high) if mean < truth else (low, centre)

    def draw(random: np.random.Generator, sizes: NDArray[np.int64]) -> Floats:
        rates = 1 / (1 + np.exp(-(centre + spread * random.standard_normal(len(sizes)))))
        return random.binomial(sizes, rates) * 1.0

    return draw


def scattered(truth: float) -> Draw:
    """Make all trials independent."""
    return lambda random, sizes: random.binomial(sizes, truth) * 1.0


def worlds() -> Iterator[World]:
    """Yield the worlds: those that the interval was chosen on, then new ones."""
    uneven = (1, 1, 2, 2, 3, 3, 4, 6, 8, 10, 14, 20)
    for name, sizes in (("5x12", (12,) * 5), ("10x6", (6,) * 10), ("20x3", (3,) * 20), ("60x2", (2,) * 60)):
        for truth in (0.5, 0.8, 0.97):
            yield World(name=f"{name}, alike", sizes=sizes, truth=truth, draw=beta_binomial(truth, 0.3))
        yield World(name=f"{name}, bad clusters", sizes=sizes, truth=0.8, draw=bad_clusters(0.8, 0.9))
    yield World(name="12 uneven", sizes=uneven, truth=0.8, draw=beta_binomial(0.8, 0.3))
    yield World(name="40 uneven", sizes=(1, 2, 5, 20) * 10, truth=0.9, draw=bad_clusters(0.9, 0.3))
    for items in (20, 60, 200):
        for truth in (0.5, 0.8, 0.97):
            new = truth == 0.97
            yield World(name=f"{items} items", sizes=(1,) * items, truth=truth, draw=scattered(truth), new=new)
    for name, sizes in (("8x8", (8,) * 8), ("15x4", (4,) * 15), ("35x4", (4,) * 35), ("80x3", (3,) * 80)):
        for truth in (0.65, 0.85, 0.93):
            yield World(name=f"{name}, logit", sizes=sizes, truth=truth, draw=logit_normal(truth, 1.5), new=True)
    yield World(name="3x20, alike", sizes=(20,) * 3, truth=0.75, draw=beta_binomial(0.75, 0.2), new=True)
    yield World(name="50 geometric", sizes=(1, 1, 2, 3, 8) * 10, truth=0.85, draw=logit_normal(0.85, 1.0), new=True)
    yield World(name="100x5, rare bad", sizes=(5,) * 100, truth=0.98, draw=bad_clusters(0.98, 0.8), new=True)


FLAGS: Final = flags_by_name()


def study(world: World, studies: int, seed: int) -> Row:
    """Draw samples of a world, and count."""
    random, sizes = np.random.default_rng(seed), np.array(world.sizes)
    lows, highs = np.empty(studies), np.empty(studies)
    flagged, usual = np.zeros(studies, dtype=np.bool_), np.empty(studies)
    for place in range(studies):
        tops = world.draw(random, sizes)
        found = clustered_proportion(tops, sizes)
        assert found.low is not None
        assert found.high is not None
        lows[place], highs[place] = found.low, found.high
        flagged[place] = _is_unsure(found.low, found.high, found.method, found.flags)
        usual[place] = _usual_width(tops, sizes)
    return Row(
        covered=float(np.mean((lows <= world.truth) & (world.truth <= highs))),
        below=float(np.mean(highs < world.truth)),
        above=float(np.mean(lows > world.truth)),
        flagged=float(flagged.mean()),
        false_yes=float(np.mean((lows >= world.truth + 0.001) & ~flagged)),
        width=float(np.mean(highs - lows)),
        relative=float(np.mean(highs - lows) / usual.mean()),
    )


def _is_unsure(low: float, high: float, method: str, flags: tuple[str, ...]) -> bool:
    interval = Interval(low=low, high=high, method=method)
    measure = Measure(name="gold-accuracy", judge="j", task="t", estimate=low, interval=interval, flags=flags)
    return bool(unsure(measure, FLAGS))


def _usual_width(tops: Floats, sizes: NDArray[np.int64]) -> float:
    """Return the width of Wilson's interval with the effective number of trials."""
    value, clusters = float(tops.sum() / sizes.sum()), len(sizes)
    variance = ratio_variance(tops, sizes)
    effective = value * (1 - value) / variance if variance > 0 else float(clusters)
    low, high = score_interval(value, effective, t_quantile(0.95, clusters - 1) if max(sizes) > 1 else 1.959964)
    return float(high - low)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{'world':24} {'truth':>5} covered  below  above  flagged  false yes  width  / Wilson")
    for world in worlds():
        row = study(world, asked.studies, asked.seed)
        shares = (row.covered, row.below, row.above, row.flagged, row.false_yes)
        covered, below, above, flagged, yes = (f"{100 * share:.1f}%" for share in shares)
        name = f"{'*' if world.new else ' '} {world.name}"
        print(
            f"{name:24} {world.truth:5} {covered:>7} {below:>6} {above:>6} {flagged:>8} {yes:>10} "
            f"{row.width:6.3f} {row.relative:9.2f}"
        )


if __name__ == "__main__":
    main()
