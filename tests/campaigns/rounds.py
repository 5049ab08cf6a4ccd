"""What all campaigns share: rounds with a seed, whose directory stays where something failed."""

from __future__ import annotations

import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from attrs import Factory, define, field


@define
class Round:
    """One round of a campaign: a directory, random numbers of its own, and what was found."""

    campaign: str
    seed: int
    place: Path
    dice: random.Random = field(init=False)
    counted: Counter[str] = Factory(Counter)
    """What happened, for the summary: kills, signals, pages ..."""
    problems: list[str] = Factory(list)

    def __attrs_post_init__(self) -> None:
        """Draw from the seed and the campaign's name, so that a seed repeats its round."""
        self.dice = random.Random(f"{self.campaign} {self.seed}")

    def check(self, held: object, problem: str) -> None:
        """Note a problem unless this held."""
        if not held:
            self.problems.append(problem)


Campaign: TypeAlias = Callable[[Round], None]


def rounds(name: str, campaign: Campaign, place: Path, seeds: Iterable[int]) -> Iterator[Round]:
    """Play a round for every seed; delete the directories that passed."""
    for seed in seeds:
        played = Round(name, seed, place / f"{name}-{seed}")
        played.place.mkdir(parents=True)
        try:
            campaign(played)
        except Exception:
            played.problems.append(traceback.format_exc())
        if not played.problems:
            shutil.rmtree(played.place)
        yield played
