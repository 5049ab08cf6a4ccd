"""Pairs of conditions on the same item: how often their verdicts agree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from attrs import evolve, frozen
from jrh_stats import Estimate, clustered_kappa
from numpy.typing import NDArray

from jrh_measuring.answers import Answers, Counts
from jrh_measuring.coded import Codes, Mask


@frozen(kw_only=True, eq=False)
class Pairs:
    """Every unordered pair of levels on every question; arrays of shape (questions, pairs)."""

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
    def of(cls, answers: Answers, chosen: Mask | None = None) -> Pairs:
        """Pair the levels up: all of them, in the order of `all_pairs`, or those chosen, shape (questions, pairs)."""
        first, second = all_pairs(answers)
        counts, answered = answers.counts, answers.answered
        planned = answers.planned[:, first] * answers.planned[:, second]
        if chosen is not None:
            planned = planned * chosen
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
        """Return the pairs of the plan, shape (questions, pairs)."""
        return np.asarray(self.planned > 0)

    @property
    def usable(self) -> Mask:
        """Return the pairs with a verdict on both sides, shape (questions, pairs)."""
        return np.asarray(self.combined > 0)

    @property
    def scores(self) -> Counts:
        """Return the agreement of every usable pair, 0 to 1; 0 elsewhere.

        The share of agreeing combinations of a verdict of one side with one of the other: with one repeat 0 or 1, with
        several the unbiased estimate of the probability that two askings agree. Every pair weighs the same.
        """
        return np.asarray(self.agreeing / np.maximum(self.combined, 1.0))

    @property
    def rows(self) -> Codes:
        """Return the trials that stand in a pair that is looked at, with or without a verdict."""
        return self._rows_of(self.looked_at)

    @property
    def told(self) -> Codes:
        """Return the verdicts that are compared: those that stand in a usable pair."""
        rows = self._rows_of(self.usable)
        return rows[self.answers.said[rows] >= 0]

    def _rows_of(self, chosen: Mask) -> Codes:
        used = np.zeros(self.answers.planned.shape, dtype=np.bool_)
        row, pair = np.nonzero(chosen)
        used[row, self.first[pair]] = True
        used[row, self.second[pair]] = True
        return self.answers.rows_at(used)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the agreement if every missing verdict had disagreed, and if every one had agreed."""
        used = self.looked_at
        if not used.any():
            return None
        planned = np.maximum(self.planned, 1.0)
        low = self.agreeing / planned
        high = (self.agreeing + self.planned - self.combined) / planned
        return float(np.sort(low[used]).mean()), min(float(np.sort(high[used]).mean()), 1.0)

    def select(self, chosen: NDArray[np.int64]) -> Pairs:
        """Return some of the pairs, by their numbers."""
        return evolve(
            self,
            first=self.first[chosen],
            second=self.second[chosen],
            agreeing=self.agreeing[:, chosen],
            combined=self.combined[:, chosen],
            planned=self.planned[:, chosen],
        )

    def name(self, pair: int) -> str:
        """Return a pair's name."""
        levels = self.answers.levels
        return f"{levels[self.first[pair]]} | {levels[self.second[pair]]}"

    def kappa(self, *, level: float) -> Estimate:
        """Compute Cohen's kappa over the pairs, the level that sorts first against the other, by cluster.

        Every pair weighs 1 in total, divided over the combinations of its repeats.
        """
        counts, single = self.answers.counts, self.answers.single
        if single is not None:
            row, column = np.nonzero(self.usable)
            one, other = single[row, self.first[column]], single[row, self.second[column]]
            return clustered_kappa(one, other, self.answers.clusters[row], level=level)
        labels = counts.shape[2]
        joint = np.zeros((len(counts), labels, labels))
        for pair, (one, other) in enumerate(zip(self.first, self.second, strict=True)):
            # Pairs of one item are added up at once: no cluster parts an item, so that only their sums count.
            weight = self.usable[:, pair] / np.maximum(self.combined[:, pair], 1.0)
            joint += counts[:, one, :, None] * counts[:, other, None, :] * weight[:, None, None]
        return joint_kappa(joint, self.answers.clusters, level=level)


def all_pairs(answers: Answers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the first and the second level of every pair."""
    levels = range(len(answers.axes.levels))
    pairs = np.array(list(combinations(levels, 2)), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def joint_kappa(joint: Counts, clusters: Codes, *, level: float) -> Estimate:
    """Compute Cohen's kappa from weights per item, label of one side, and label of the other.

    Args:
        joint: weights, shape (items, labels, labels).
        clusters: the cluster of each item, shape (items,).
        level: coverage.
    """
    item, first, second = np.nonzero(joint)
    return clustered_kappa(
        first, second, clusters[item], case_weights=joint[item, first, second].round(12), level=level
    )
