"""How often the intervals of `jrh court` hold the true shares, in planted worlds.

`python -m tests.studies.court [--studies 1000] [--seed 1]` prints a table. A world has items with one defensible label
of three, with two, or with none that the rubric decides (it is silent). The label of people is wrong on a share of the
items that have one right label, as is the judge, which in some worlds repeats the label's error. Items come in clusters
of five that share part of the judge's luck, or alone. 60 of 300 items are drawn, half of them disagreements where there
are as many. Referees are right always, or each wrong on 5 of 100 cases. True shares are those of 200,000 items. Nothing
was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Final

import numpy as np
from attrs import frozen
from jrh_court.cases import CourtCase, Docket, Ruling
from jrh_court.docket import draw_docket
from jrh_court.estimates import OUTCOMES, CourtAnswer, weigh_rulings

from tests.studies.command import print_study

ITEMS, CASES, LEVEL = 300, 60, 0.95
LABELS: Final = ("A", "B", "C")
MANY: Final = 200_000
Truth = tuple[str, ...] | None
Random = np.random.Generator


@frozen(kw_only=True)
class World:
    """Items, their labels, a judge and referees."""

    wrong: float
    """Share of wrong labels."""
    judge: float = 0.2
    """Share of wrong verdicts."""
    several: float = 0.0
    silent: float = 0.0
    copied: float = 0.0
    """Share of wrong labels that the judge repeats."""
    shared: int = 1
    """Items of a cluster."""
    referees: int = 1
    errs: float = 0.0
    """Share of cases on which a referee is wrong."""
    items: int = ITEMS

    def draw(self, random: Random, items: int) -> Iterator[tuple[Truth, str, str]]:
        """Yield what is true of each item, the label of people, and the verdict."""
        luck = np.repeat(random.normal(size=-(-items // self.shared)), self.shared)[:items]
        own = random.normal(size=items)
        hard = 0.6 * luck + 0.8 * own if self.shared > 1 else own
        judge_wrong = hard < NormalDist().inv_cdf(self.judge)
        for place in range(items):
            first, second, third = random.permutation(3)
            kind = random.random()
            truth: Truth = (LABELS[first],)
            if kind < self.several:
                truth = (LABELS[first], LABELS[second])
            elif kind < self.several + self.silent:
                truth = None
            label = LABELS[first]
            if truth is None or len(truth) > 1:
                label = LABELS[random.choice([first, second])]
            elif random.random() < self.wrong:
                label = LABELS[second]
            verdict = LABELS[third] if judge_wrong[place] else LABELS[first]
            if truth is not None and label not in truth and random.random() < self.copied:
                verdict = label
            yield truth, label, verdict


def rule(case: CourtCase, truth: Truth) -> Ruling:
    """Return the ruling of a referee who knows what is true."""
    if truth is None:
        return Ruling.SILENT
    right = tuple(label in truth for label in case.shown)
    return {(True, False): Ruling.FIRST, (False, True): Ruling.SECOND, (True, True): Ruling.BOTH}.get(
        right, Ruling.NEITHER
    )


def study(world: World, random: Random, seed: int) -> tuple[CourtAnswer, Docket]:
    """Draw the items of a world and their cases, and let the referees rule."""
    truths: dict[str, Truth] = {}
    decided = []
    for place, (truth, label, verdict) in enumerate(world.draw(random, world.items)):
        name = f"item-{place}"
        truths[name] = truth
        cluster = f"cluster-{place // world.shared}"
        decided.append(
            CourtCase(id="", item=name, cluster=cluster, judge=verdict, label=label, shown=("", ""), content="")
        )
    docket = draw_docket(
        decided, LABELS, cases=CASES, seed=seed, level=LEVEL, run="", run_id="", judge="j", task="t", simulated=True
    )
    rulings: dict[str, Mapping[CourtCase, Ruling]] = {}
    for referee in range(world.referees):
        given = {case: rule(case, truths[case.item]) for case in docket.cases}
        for case in docket.cases:
            if random.random() < world.errs:
                given[case] = list(Ruling)[random.integers(len(Ruling))]
        rulings[f"referee-{referee}"] = given
    return weigh_rulings(docket, rulings), docket


def true_shares(world: World, random: Random) -> list[float]:
    """Return the share of each outcome in the world."""
    counts = np.zeros(len(OUTCOMES))
    for truth, label, verdict in world.draw(random, MANY):
        case = CourtCase(id="", item="", cluster="", judge=verdict, label=label, shown=("", ""), content="")
        # A referee sees two labels: that a third one is right, too, is no ruling on this case.
        shown = {label, verdict if verdict != label else LABELS[(LABELS.index(label) + random.integers(1, 3)) % 3]}
        seen = None if truth is None else tuple(name for name in truth if name in shown)
        counts += [outcome(case, seen) for outcome in OUTCOMES.values()]
    return [float(share) for share in counts / MANY]


WORLDS: Final[Mapping[str, World]] = {
    "5% of labels wrong": World(wrong=0.05),
    "15%": World(wrong=0.15),
    "30%": World(wrong=0.3),
    "15%, half of them repeated by the judge": World(wrong=0.15, copied=0.5),
    "15%, clusters of 5": World(wrong=0.15, shared=5),
    "15%, 20% with two right labels": World(wrong=0.15, several=0.2),
    "15%, 15% silent": World(wrong=0.15, silent=0.15),
    "15%, two referees wrong on 5%": World(wrong=0.15, referees=2, errs=0.05),
    "15%, one referee wrong on 5%": World(wrong=0.15, errs=0.05),
    "0%, judge wrong on 2%": World(wrong=0.0, judge=0.02),
    "15%, 100 items": World(wrong=0.15, items=100),
}


def held(world: World, studies: int, random: Random) -> tuple[list[float], ...]:
    """Return the true shares, how often intervals hold them, mean estimates and widths, and how often 0 is excluded."""
    true = true_shares(world, random)
    hits, values, widths, shown = (np.zeros(len(OUTCOMES)) for _ in range(4))
    for seed in range(studies):
        answer, _ = study(world, random, seed)
        for place, share in enumerate(answer.shares):
            hits[place] += share.low - 1e-12 <= true[place] <= share.high + 1e-12
            values[place] += share.value
            widths[place] += share.high - share.low
            shown[place] += share.low > 0
    return true, *([float(number) for number in array / studies] for array in (hits, values, widths, shown))


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield the lines of the table."""
    random = np.random.default_rng(seed)
    yield f"held in {studies} studies (true, mean estimate, mean width, 0 excluded) | " + " | ".join(OUTCOMES)
    for name, world in WORLDS.items():
        cells = zip(*held(world, studies, random), strict=True)
        yield f"{name} | " + " | ".join(
            f"{hit:.3f} ({true:.3f}, {mean:.3f}, {width:.2f}, {power:.2f})" for true, hit, mean, width, power in cells
        )


if __name__ == "__main__":
    print_study("court", lines, studies=1000, about="jrh court")
