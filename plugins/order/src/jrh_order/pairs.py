"""Pairs of option orders on the same item: how often they agree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from attrs import frozen
from jrh_stats import Estimate
from numpy.typing import NDArray

from jrh_order.answers import Answers, Counts, Mask
from jrh_order.measuring import Resampling


@frozen(kw_only=True, eq=False)
class Pairs:
    """Every unordered pair of levels on every item; arrays of shape (items, pairs)."""

    answers: Answers
    first: NDArray[np.int64]
    """The level of each pair that sorts first, shape (pairs,)."""
    second: NDArray[np.int64]
    agreeing: Counts
    """Products of verdicts that agree: sum over labels of n_first n_second."""
    combined: Counts
    """All products of verdicts, N_first N_second."""
    planned: Counts
    """All products of trials, with or without a verdict; 0 where the pair is not looked at."""

    @classmethod
    def of(cls, answers: Answers) -> Pairs:
        """Pair the levels up."""
        levels = range(len(answers.levels))
        pairs = np.array(list(combinations(levels, 2)), dtype=np.int64).reshape(-1, 2)
        first, second = pairs[:, 0], pairs[:, 1]
        counts, answered = answers.counts, answers.answered
        planned = answers.planned[:, first] * answers.planned[:, second]
        looked = planned > 0
        return cls(
            answers=answers,
            first=first,
            second=second,
            agreeing=np.where(looked, (counts[:, first] * counts[:, second]).sum(axis=2), 0.0),
            combined=np.where(looked, answered[:, first] * answered[:, second], 0.0),
            planned=planned,
        )

    @property
    def looked_at(self) -> Mask:
        """Return the pairs of the plan, shape (items, pairs)."""
        return np.asarray(self.planned > 0)

    @property
    def usable(self) -> Mask:
        """Return the pairs with a verdict on both sides, shape (items, pairs)."""
        return np.asarray(self.combined > 0)

    @property
    def scores(self) -> Counts:
        """Return the agreement of every usable pair, 0 to 1; 0 elsewhere.

        The share of agreeing combinations of a verdict of one side with one of the other: with one repeat 0 or 1, with
        several the unbiased estimate of the probability that two askings agree. Every pair weighs the same.
        """
        return np.asarray(self.agreeing / np.maximum(self.combined, 1.0))


def agreement(pairs: Pairs, how: Resampling) -> Estimate:
    """Estimate how often two orders agree on an item; the clusters are items."""
    return how.proportion(pairs.scores.sum(axis=1), pairs.usable.sum(axis=1))


def bounds(pairs: Pairs) -> tuple[float, float] | None:
    """Return the agreement if every missing verdict had disagreed, and if every one had agreed."""
    used = pairs.looked_at
    if not used.any():
        return None
    planned = np.maximum(pairs.planned, 1.0)
    low = pairs.agreeing / planned
    high = (pairs.agreeing + pairs.planned - pairs.combined) / planned
    return float(np.sort(low[used]).mean()), min(float(np.sort(high[used]).mean()), 1.0)
