"""Is a fair judge accused of a preference? `python -m tests.studies.fair_judges [--studies 1000] [--seed 1]`.

Author E's texts are better by so many standard deviations of quality. Gold and judge read quality with errors of their
own and round to a scale that ends; the judge adds a bonus for E where it is not fair. Printed is how often a report
would warn (alone on its page): the effect at equal gold reaches 5% of the scale and is significant, and is confirmed by
verdict minus gold (the rule before) or by gold at equal verdicts (now). Worlds marked * were not looked at while the
rule was made.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh_stats import Slope, slope_within_strata

_FLOOR = 0.05


@frozen(kw_only=True)
class World:
    """Texts of author E and of others, their gold labels, and one judge."""

    better: float
    """How much better E's texts are, in standard deviations of quality."""
    gold: float
    """Standard deviation of gold's error."""
    judge: float
    """Standard deviation of the judge's error."""
    bonus: float = 0.0
    levels: int = 5
    centre: float = 0.0
    """Mean quality: above 0 texts crowd at the upper end."""
    share: float = 0.2
    unseen: bool = False
    """The world was not looked at while the rule was made."""

    @property
    def name(self) -> str:
        """Describe the world in one line."""
        star = "* " if self.unseen else ""
        return (
            f"{star}bonus {self.bonus:g}, E better by {self.better:g}, errors {self.gold:g} and {self.judge:g}, "
            f"{self.levels} levels, mean {self.centre:g}, {self.share:.0%} by E"
        )

    def warnings(self, rng: np.random.Generator, items: int) -> tuple[bool, bool, bool]:
        """Draw a study; tell whether the effect alone, the rule before and the rule now would warn."""
        own = rng.random(items) < self.share
        quality = rng.normal(size=items) + self.better * own + self.centre
        gold = self._levels(quality + self.gold * rng.normal(size=items))
        given = self._levels(quality + self.bonus * own + self.judge * rng.normal(size=items))
        x, span = own.astype(float), self.levels - 1.0
        effect = slope_within_strata(x, given, gold.astype(int), span=span)
        if effect.p is None or effect.p >= 0.05 or abs(effect.estimate.value or 0.0) < _FLOOR * span:
            return False, False, False
        before = slope_within_strata(x, given - gold, np.zeros(items, dtype=int), span=2 * span)
        now = slope_within_strata(x, gold, given.astype(int), span=span)
        return True, _confirms(effect, before, 1, 0.05), _confirms(effect, now, -1, 0.1)

    def _levels(self, quality: np.ndarray) -> np.ndarray:
        middle = (self.levels - 1) / 2
        return np.clip(np.rint(quality * self.levels / 5 + middle), 0, self.levels - 1)


def _confirms(effect: Slope, other: Slope, sign: int, level: float) -> bool:
    same = (effect.estimate.value or 0.0) * (other.estimate.value or 0.0) * sign > 0
    return same and other.p is not None and other.p < level


FAIR = (
    World(better=0.0, gold=0.5, judge=0.5),
    World(better=0.7, gold=0.5, judge=0.5),
    World(better=0.7, gold=0.8, judge=0.3),
    World(better=0.7, gold=0.8, judge=0.3, centre=1.0),
    World(better=0.7, gold=0.3, judge=0.8, centre=1.0),
    World(better=0.7, gold=1.0, judge=0.2, levels=3, unseen=True),
    World(better=1.0, gold=1.0, judge=0.2, levels=7, share=0.4, unseen=True),
    World(better=-0.7, gold=1.0, judge=0.3, centre=0.5, unseen=True),
    World(better=0.7, gold=1.2, judge=0.6, levels=2, unseen=True),
    World(better=0.5, gold=0.0, judge=1.0, centre=1.5, unseen=True),
)
UNFAIR = (
    World(bonus=0.5, better=0.0, gold=0.5, judge=0.5),
    World(bonus=0.5, better=0.7, gold=0.5, judge=0.5),
    World(bonus=0.5, better=0.7, gold=0.8, judge=0.3),
    World(bonus=0.5, better=0.0, gold=0.3, judge=0.5, centre=1.0, unseen=True),
    World(bonus=1.0, better=0.3, gold=0.5, judge=0.5, levels=3, unseen=True),
)


def table(studies: int, seed: int, sizes: tuple[int, ...] = (100, 200, 800)) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{studies} studies; warnings by the effect alone / the rule before / the rule now, at {sizes} items"
    for place, world in enumerate(FAIR + UNFAIR):
        rates = []
        for items in sizes:
            rng = np.random.default_rng([seed, place, items])
            share = np.mean([world.warnings(rng, items) for _ in range(studies)], axis=0)
            rates.append(" ".join(f"{rate:>6.1%}" for rate in share))
        yield f"{world.name:<88} {'   '.join(rates)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for line in table(options.studies, options.seed):
        print(line, flush=True)
