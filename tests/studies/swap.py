"""How often `jrh swap` is wrong in planted worlds, and how often a translated pass mark holds the true one.

`python -m tests.studies.swap [--studies 1000] [--seed 1]` prints two tables. In the first, an old judge is right on 85
of 100 items and a new one on as many, on as many less the margin, or on 15 points less; both are right or wrong on the
same items more often than chance has it. With clusters four items share part of their luck, and 5 of 100 verdicts are
missing. In the second, the anchors have another mix of labels than the world in which the mark is used: there the true
mark is that of 400,000 items of this world. Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import Scale, Task
from jrh.values import TaskSummary
from jrh_decide.equating import Codes, equate_levels, equate_share
from jrh_decide.swap import Answer, decide_rows, decide_swap, swap_rows
from jrh_measuring.comparing.pairing import Terms
from jrh_measuring.comparing.scoring import GOLD, Case, Trial

from tests.studies.command import print_study

ITEMS: Final = 300
RATE, MARGIN, MISSING, LEVELS = 0.85, 0.05, 0.05, 6
TASK: Final = Task(name="t", scale=Scale.of_labels("Y", "N"))
SUMMARY: Final = TaskSummary(task=TASK, items=ITEMS, labelled=ITEMS, gold={})
REPORT: Any = SimpleNamespace(tasks=(SUMMARY,), tests=("reference",))
Random = np.random.Generator
Three = tuple[Codes, Codes, Codes]


@frozen(kw_only=True)
class World:
    """Two judges."""

    loss: float
    shared: int = 1
    """Items of a cluster."""

    def cases(self, random: Random) -> list[tuple[Case, Case]]:
        """Let both judges answer every item."""
        shared = np.repeat(random.normal(size=ITEMS // self.shared), self.shared)
        within = random.normal(size=(3, ITEMS))
        # Both judges share the difficulty of an item and, in part, that of its cluster.
        hard = 0.5 * shared + 0.6 * within[0] if self.shared > 1 else 0.78 * within[0]
        rest = float(np.sqrt(1 - (0.5**2 + 0.6**2 if self.shared > 1 else 0.78**2)))
        sides = []
        for place, rate in enumerate((RATE, RATE - self.loss)):
            right = hard + rest * within[1 + place] < NormalDist().inv_cdf(rate)
            gone = random.random(ITEMS) < MISSING if self.shared > 1 else np.zeros(ITEMS, dtype=bool)
            sides.append([_case(item, item // self.shared, right[item], gone[item]) for item in range(ITEMS)])
        return list(zip(*sides, strict=True))


def _case(item: int, cluster: int, right: bool, gone: bool) -> Case:
    trial = Trial(
        label=None if gone else "Y" if right else "N",
        status="refused" if gone else "ok",
        cost=None,
        scores={} if gone else {GOLD: float(right)},
    )
    return Case(
        id=f"c{item}", key=(item,), task="t", test="reference", item=f"i{item}", cluster=f"k{cluster}", variant="",
        template="", option_order="", gold="Y", expected="Y", stated=True, about=frozenset({GOLD}), trials=(trial,),
    )  # fmt: skip


def decisions(world: World, studies: int, random: Random) -> Counter[Answer]:
    """Count the answers of some studies."""
    answers: Counter[Answer] = Counter()
    for study in range(studies):
        terms = Terms(level=0.95, margin=MARGIN, seed=study)
        labelled, found, _ = swap_rows(world.cases(random), (REPORT, REPORT), terms, {})
        answers[decide_swap(decide_rows(found, 0.05), labelled=labelled, alpha=0.05)[0]] += 1
    return answers


def draw_levels(random: Random, items: int, base: float, shift: float) -> Three:
    """Draw verdicts of both judges and of people on six levels; four items share part of their quality."""
    quality = base + np.repeat(random.normal(0, 0.8, items // 4), 4) + random.normal(0, 0.9, items)
    said = [quality + move + random.normal(0, 0.5, items) for move in (0.0, shift, 0.0)]
    old, new, truth = (np.clip(np.round(each + 2.5), 0, LEVELS - 1).astype(np.int64) for each in said)
    return old, new, truth


def draw_labels(random: Random, items: int, base: float) -> Three:
    """Draw verdicts of two labels; the judges are right on 85 and 92 of 100 good items, 75 and 85 of bad ones."""
    luck = np.repeat(random.random(items // 4), 4)
    truth = (np.where(random.random(items) < 0.3, luck, random.random(items)) < base).astype(np.int64)
    old, new = (
        (random.random(items) < np.where(truth == 1, good, 1 - bad)).astype(np.int64)
        for good, bad in ((0.85, 0.75), (0.92, 0.85))
    )
    return old, new, truth


def levels_held(studies: int, items: int, shift: float, random: Random) -> list[float]:
    """Return, by mark, the share of intervals that hold the mark equated in the world where it is used."""
    everything = draw_levels(random, 400_000, 0.0, shift)
    passing = [np.array([(each >= mark).mean() for mark in range(1, LEVELS)]) for each in everything[:2]]
    true = 1 + np.abs(passing[0][:, None] - passing[1]).argmin(axis=1)
    held = np.zeros(LEVELS - 1)
    for study in range(studies):
        drawn = draw_levels(random, items, -0.7, shift)
        marks = equate_levels(*drawn, np.arange(items) // 4, (LEVELS, LEVELS), seed=study)
        held += [mark.low <= best <= mark.high for mark, best in zip(marks, true, strict=True)]
    return [float(share) for share in held / studies]


def share_held(studies: int, items: int, random: Random) -> float:
    """Return the share of intervals that hold the true translation of a mark of 0.5."""
    true = 0.15 + (0.5 - 0.25) / (0.85 - 0.25) * (0.92 - 0.15)
    held = 0
    for study in range(studies):
        mark = equate_share(0.5, *draw_labels(random, items, 0.75), np.arange(items) // 4, seed=study)
        held += mark is not None and mark.low <= true <= mark.high
    return held / studies


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield the lines of both tables."""
    random = np.random.default_rng(seed)
    yield f"of {studies} studies of {ITEMS} items | " + " | ".join(answer.value for answer in Answer)
    for loss, shared in ((0.0, 1), (0.0, 4), (MARGIN, 1), (MARGIN, 4)):
        found = decisions(World(loss=loss, shared=shared), studies, random)
        yield f"loss {loss:g}, {shared} per cluster | " + " | ".join(str(found[answer]) for answer in Answer)
    for shift, items in ((1.0, 200), (0.5, 200), (1.0, 60)):
        held = levels_held(studies, items, shift, random)
        yield f"levels, shift {shift:g}, {items} anchors: " + ", ".join(f"{share:.3f}" for share in held)
    for items in (100, 300):
        yield f"share, {items} anchors: {share_held(studies, items, random):.3f}"


if __name__ == "__main__":
    print_study("swap", lines, studies=1000, about="jrh swap")
