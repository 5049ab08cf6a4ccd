"""What a plan says of the looks: how soon they decide if the truth is this or that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Final

import numpy as np
from jrh_measuring import Floats, parse_rule

from jrh_sequential.betting import log_capital
from jrh_sequential.options import RaceOptions, StopOptions

_STUDIES: Final = 60
_MOST_CLUSTERS: Final = 5_000
_DISCORDANT: Final = 0.2
"""Share of items on which two judges are assumed to differ, besides the items that make one better."""


def stopping(options: StopOptions, clusters: Mapping[str, Sequence[int]], judges: int) -> Iterator[str]:
    """Yield after how many items each rule is decided, on average over simulated runs, by the true rate.

    Args:
        options: the rules.
        clusters: by task, how many items each cluster has.
        judges: how many there are.
    """
    alpha = options.alpha / (len(options.when) * judges * len(clusters))
    for rule in map(parse_rule, options.when):
        for task, sizes in clusters.items():
            p, parts = rule.threshold, list[str]()
            # Within 0 and 1, also for a threshold that is near to either.
            steps = -min(0.2, p * 0.75), -min(0.1, p / 2), min(0.1, (1 - p) / 2), min(0.2, (1 - p) * 0.75)
            for truth in (p + step for step in steps):
                goal = p if truth > p else 1 - p
                scores, drawn = _simulate(sizes, truth if truth > p else 1 - truth)
                capital = log_capital(scores, drawn, goal, goal, alpha / 2)
                parts.append(f"{_items(capital, log(2 / alpha), drawn, options.check_every)} at {truth:.4g}")
            yield f"Rule `{rule.text}` on '{task}' stops after about {', '.join(parts)} (simulated true rates)"


def racing(options: RaceOptions, clusters: Mapping[str, Sequence[int]], judges: int) -> Iterator[str]:
    """Yield after how many items a judge is dropped, by how much worse it is than the best one."""
    needed = log(max(judges * (judges - 1), 1) / options.alpha)
    sizes, parts = [size for task in clusters.values() for size in task], list[str]()
    for better in (0.05, 0.1, 0.2):
        ahead, drawn = _simulate(sizes, _DISCORDANT / 2 + better)
        behind, _ = _simulate(sizes, _DISCORDANT / 2, seed=1)
        capital = log_capital((ahead - behind + drawn) / 2, drawn, 0.5, 0.5, np.exp(-needed))
        parts.append(f"{_items(capital, needed, drawn, options.check_every)} at {better:g}")
    yield f"A worse judge is dropped after about {', '.join(parts)} below the best (simulated, a trial per item)"


def _simulate(sizes: Sequence[int], rate: float, seed: int = 0) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    # In a random order, as clusters are drawn; of very many the first show as much.
    drawn = np.random.default_rng(2).permuted(np.tile(sizes, (_STUDIES, 1)), axis=1)[:, :_MOST_CLUSTERS]
    return random.binomial(drawn, rate).astype(np.float64), drawn.astype(np.float64)


def _items(capital: Floats, needed: float, drawn: Floats, batch: int) -> str:
    """Return the mean number of items, in whole batches; runs that do not decide ask all."""
    whole, won = drawn.sum(axis=1), capital >= needed
    asked = np.take_along_axis(drawn.cumsum(axis=1), won.argmax(axis=1)[:, None], axis=1)[:, 0]
    most = np.minimum(np.ceil(asked / batch) * batch, whole)
    share = np.where(won.any(axis=1), most, whole).mean() / whole.mean()
    return f"{share * whole.mean():,.0f} items ({1 - share:.0%} saved)"
