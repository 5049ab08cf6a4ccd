"""Study coefficients and covariate tests where data are few, skewed or unequally repeated.

`python -m tests.studies.coefficients [--studies 1000] [--seed 1]` prints the coverage of 95% intervals and how many
have a flag that forbids decisions; `unflagged wrong` counts studies, of all, that miss the truth without one. Of
covariate tests it prints how often p is below 0.05 where the covariate has no effect.

Worlds marked `*` were not looked at while the rules were written.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from jrh_stats import Estimate, clustered_kappa, pearson, phi_coefficient
from jrh_stats.degrees import FEW_EVENTS
from jrh_stats.strata import slope_within_strata
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Drawn: TypeAlias = tuple[Floats, Floats, NDArray[np.int64]]
"""Both sides, and the cluster of every pair."""
Draw: TypeAlias = Callable[[np.random.Generator, int], Drawn]
"""Draws so many items."""
_LARGE: Final = 400_000


def skewed_levels(shares: tuple[float, ...], right: float, far: float) -> Draw:
    """Draw levels, given so often, and verdicts that are right, far off (any level), or one level off."""

    def draw(random: np.random.Generator, items: int) -> Drawn:
        gold = random.choice(len(shares), items, p=shares)
        kind = random.random(items)
        near = np.clip(gold + random.choice([-1, 1], items), 0, len(shares) - 1)
        said = np.where(
            kind < right, gold, np.where(kind < right + far, random.integers(len(shares), size=items), near)
        )
        return said * 1.0, gold * 1.0, np.arange(items)

    return draw


def latent_levels(cuts: tuple[float, ...], noise: float) -> Draw:
    """Draw normal qualities that people and the judge see with noise, cut into levels."""

    def draw(random: np.random.Generator, items: int) -> Drawn:
        quality = random.standard_normal(items)
        said, gold = (np.searchsorted(cuts, quality + noise * random.standard_normal(items)) for _ in range(2))
        return said * 1.0, gold * 1.0, np.arange(items)

    return draw


def unequal_reruns(rate: float, noise: float) -> Draw:
    """Draw two judges' yes-or-no verdicts on items asked once to eight times; a share of the answers is noise."""

    def draw(random: np.random.Generator, items: int) -> Drawn:
        asked = random.choice([1, 2, 4, 8], items)
        of = np.repeat(np.arange(items), asked)
        belief = random.random(items) < rate
        sides = [np.where(random.random(len(of)) < noise, random.random(len(of)) < rate, belief[of]) for _ in range(2)]
        return sides[0] * 1.0, sides[1] * 1.0, of

    return draw


def quadratic_kappa(said: Floats, gold: Floats, of: NDArray[np.int64]) -> Estimate:
    """Estimate the quadratic kappa of six levels."""
    return clustered_kappa(said.astype(np.int64), gold.astype(np.int64), of, weighting="quadratic")


LEVELS: Final = {
    "  latent, 60 items": (latent_levels((0.6, 1.2, 1.8, 2.4), 0.6), 60),
    "  latent, 100 items": (latent_levels((0.6, 1.2, 1.8, 2.4), 0.6), 100),
    "* latent, 150 items": (latent_levels((0.8, 1.1, 1.6), 0.4), 150),
    "  skewed, 100 items": (skewed_levels((0.7, 0.15, 0.07, 0.04, 0.03, 0.01), 0.7, 0.05), 100),
    "* skewed, 300 items": (skewed_levels((0.7, 0.15, 0.07, 0.04, 0.03, 0.01), 0.8, 0.02), 300),
    "* even, 60 items": (skewed_levels((1 / 6,) * 6, 0.7, 0.05), 60),
}
REPEATED: Final = {
    "  60 items, half yes": (unequal_reruns(0.5, 0.3), 60),
    "  60 items, 20% yes": (unequal_reruns(0.2, 0.3), 60),
    "* 40 items, 30% yes": (unequal_reruns(0.3, 0.1), 40),
    "* 200 items, 20% yes": (unequal_reruns(0.2, 0.3), 200),
}


def study(estimate: Callable[..., Estimate], draw: Draw, items: int, studies: int, seed: int) -> str:
    """Count covered, flagged, and wrong without a flag."""
    random = np.random.default_rng(seed)
    truth = _truth(estimate, draw)
    covered = flagged = wrong = 0
    for _ in range(studies):
        found = estimate(*draw(random, items))
        if found.low is None or found.high is None:
            flagged += 1
            continue
        inside, doubted = found.low <= truth <= found.high, FEW_EVENTS in found.flags
        covered += inside
        flagged += doubted
        wrong += not inside and not doubted
    return f"{100 * covered / studies:7.1f}% {100 * flagged / studies:8.1f}% {100 * wrong / studies:10.1f}%"


def _truth(estimate: Callable[..., Estimate], draw: Draw) -> float:
    """Return the coefficient of very many items, weighted as the trials of a study are."""
    random = np.random.default_rng(0)
    value = estimate(*draw(random, _LARGE)).value
    assert value is not None
    return value


def covariate_rejections(clusters: int, size: int, correlation: float, studies: int, seed: int) -> float:
    """Return how often a covariate without effect has p < 0.05; outcomes of a cluster are correlated."""
    random, rejected = np.random.default_rng(seed), 0
    spread = (1 - correlation) / correlation
    for _ in range(studies):
        of = np.repeat(np.arange(clusters), size)
        x, strata = random.standard_normal(clusters * size), random.integers(0, 2, clusters * size)
        rates = random.beta(0.8 * spread, 0.2 * spread, clusters)
        y = (random.random(clusters * size) < rates[of]) * 1.0
        p = slope_within_strata(x, y, strata, of).p
        rejected += p is not None and p < 0.05
    return rejected / studies


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{'':42} covered  flagged  unflagged wrong")
    groups = (("Pearson", pearson, LEVELS), ("quadratic kappa", quadratic_kappa, LEVELS))
    for name, estimate, worlds in (*groups, ("phi", phi_coefficient, REPEATED)):
        for world, (draw, items) in worlds.items():
            print(f"{name:18} {world:23} {study(estimate, draw, items, asked.studies, asked.seed)}", flush=True)
    for clusters, size in ((4, 15), (5, 12), (6, 10), (10, 6), (20, 3)):
        share = covariate_rejections(clusters, size, 0.2, asked.studies, asked.seed)
        print(f"covariate test     {clusters} clusters of {size:<10} p < 0.05 in {100 * share:.1f}%", flush=True)


if __name__ == "__main__":
    main()
