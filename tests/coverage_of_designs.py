"""Coverage in designs drawn at random: `python -m tests.coverage_of_designs [DESIGNS] [STUDIES]`.

The worlds of the self-test were known when the flags were set. These designs were not: items, repeats, accuracy, noise,
flips and balance are drawn, then so many studies of each. Printed is how often an interval covers in the designs in
which most studies have no flag, and in the others. Nothing is asserted; docs/statistics.md has the figures.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from attrs import frozen
from joblib import Parallel, cpu_count, delayed
from jrh import Scale
from jrh_selftest.ratings import agreement, draw_ratings
from jrh_selftest.truth import truths
from jrh_selftest.world import TEST, World, pick
from jrh_stats import (
    Estimate,
    cluster_sums,
    clustered_kappa,
    clustered_proportion,
    krippendorff_alpha,
    paired_difference,
)

LOWEST, HIGHEST = 0.93, 0.97
_ALPHA = "Krippendorff's alpha"
SEED = 20261121


@frozen(kw_only=True)
class Result:
    """One measure in one design."""

    name: str
    world: World
    covered: float
    flagged: float

    @property
    def right(self) -> bool:
        """Tell whether the coverage is what the interval claims, within 2 %."""
        return LOWEST <= self.covered <= HIGHEST


def main(designs: int = 400, studies: int = 2000) -> None:
    """Draw the designs, count, and print a line per measure."""
    seeds = np.random.SeedSequence(SEED).spawn(designs)
    parts = Parallel(n_jobs=cpu_count())(delayed(_of_design)(seed, studies) for seed in seeds)
    found = [result for part in parts for result in part]
    print(f"{designs} designs, {studies} studies of each; coverage from {LOWEST:.0%} to {HIGHEST:.0%} counts as right")
    print(f"{'measure':<18} {'no flag':>8} {'right':>7} {'lowest':>7} {'highest':>8}   {'flagged':>7} {'right':>7}")
    for name in dict.fromkeys(result.name for result in found):
        of_measure = [result for result in found if result.name == name]
        quiet = [result for result in of_measure if result.flagged <= 1 / 2]
        loud = [result for result in of_measure if result.flagged > 1 / 2]
        rates = [result.covered for result in quiet]
        print(
            f"{name:<18} {len(quiet):>8} {_right(quiet):>7} {min(rates):>7.1%} {max(rates):>8.1%}   "
            f"{len(loud):>7} {_right(loud):>7}"
        )
    print("outside, without a flag:")
    for each in found:
        if each.flagged <= 1 / 2 and not each.right:
            print(f"  {each.name} {each.covered:.1%}, flagged {each.flagged:.0%}: {_described(each.world)}")


def _described(world: World) -> str:
    asked = f"asked {'up to ' if world.unequal else ''}{world.repeats} times"
    rates = f"accuracy {world.accuracy:.2f}, noise {world.noise:.3f}, flips {world.flips:.2f}"
    return f"{world.items} items, {asked}, {rates}, balance {world.balance[0]:.2f}"


def _right(results: list[Result]) -> str:
    return f"{sum(result.right for result in results) / len(results):.1%}" if results else "-"


def _of_design(seed: np.random.SeedSequence, studies: int) -> list[Result]:
    rng = np.random.default_rng(seed)
    world = World(
        name="drawn",
        scale=Scale.of_labels("YES", "NO"),
        items=int(np.exp(rng.uniform(np.log(15), np.log(250)))),
        repeats=int(rng.integers(2, 9)),
        unequal=bool(rng.random() < 1 / 2),
        accuracy=float(rng.uniform(0.6, 0.99)),
        noise=float(np.exp(rng.uniform(np.log(0.01), np.log(0.3)))),
        flips=float(rng.uniform(0.0, 0.4)),
        balance=(share := float(rng.uniform(0.5, 0.9)), 1 - share),
    )
    planted = _planted(world)
    covered, flagged = dict.fromkeys(planted, 0), dict.fromkeys(planted, 0)
    for _ in range(studies):
        for name, estimate in _estimates(world, rng).items():
            if estimate.low is not None and estimate.high is not None:
                covered[name] += estimate.low - 1e-9 <= planted[name] <= estimate.high + 1e-9
            flagged[name] += bool({"few-events", "degenerate"} & set(estimate.flags))
    return [
        Result(name=name, world=world, covered=covered[name] / studies, flagged=flagged[name] / studies)
        for name in planted
    ]


def _planted(world: World) -> Mapping[str, float]:
    found = truths(world)
    return {
        "agreement": found["agreement", TEST],
        "gold accuracy": found["gold-accuracy", TEST],
        "accuracy change": found["accuracy-change", TEST],
        "kappa": found["self-kappa", TEST],
        _ALPHA: agreement(world)[_ALPHA],
    }


def _estimates(world: World, rng: np.random.Generator) -> Mapping[str, Estimate]:
    gold = rng.choice(2, size=world.items, p=world.shares)
    belief = pick(rng, world.kernel(1 - world.accuracy)[gold])
    moved = pick(rng, world.kernel(world.flips)[belief])
    times = rng.integers(1, world.repeats + 1, world.items) if world.unequal else world.repeats
    item = np.repeat(np.arange(world.items), times)
    first, second = pick(rng, world.answer_matrix()[belief[item]]), pick(rng, world.answer_matrix()[moved[item]])
    right = (second == gold[item]).astype(float)
    change = paired_difference(right, (first == gold[item]).astype(float), item)
    counts, items = draw_ratings(world, rng)
    return {
        "agreement": _rate(first == second, item, rng),
        "gold accuracy": _rate(right, item, rng),
        "accuracy change": change,
        "kappa": clustered_kappa(first, second, item),
        _ALPHA: krippendorff_alpha(counts, clusters=items),
    }


def _rate(hits: np.ndarray, item: np.ndarray, rng: np.random.Generator) -> Estimate:
    sums = cluster_sums(item, np.asarray(hits, dtype=float), np.ones(len(item)))
    # With the same seed for all studies 200 resamples would err in the same direction in all of them.
    return clustered_proportion(sums[:, 0], sums[:, 1])


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
