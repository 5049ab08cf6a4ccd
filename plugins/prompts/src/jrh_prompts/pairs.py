"""Pairs of templates on the same item: how often they agree."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
from attrs import evolve, frozen
from jrh import derive_seed
from jrh_stats import Estimate, clustered_kappa
from numpy.typing import NDArray

from jrh_prompts.answers import Answers, Counts, Mask
from jrh_prompts.measuring import Resampling


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
    def of(cls, answers: Answers, *, sample: int | None = None, seed: int = 0) -> Pairs:
        """Pair the levels up; `sample` keeps so many pairs per item, balanced over the levels and drawn by the seed."""
        levels = range(len(answers.levels))
        pairs = np.array(list(combinations(levels, 2)), dtype=np.int64).reshape(-1, 2)
        first, second = pairs[:, 0], pairs[:, 1]
        counts, answered = answers.counts, answers.answered
        planned = answers.planned[:, first] * answers.planned[:, second]
        if sample is not None:
            planned = planned * _sampled(answers, first, second, sample, seed)
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

    def of_levels(self) -> Answers:
        """Return the answers that stand in a pair that is looked at; what stands in none counts as nothing."""
        answers = self.answers
        levels, place = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        first, second = np.split(place, 2)
        used = np.zeros((len(answers.items), len(levels)), dtype=np.bool_)
        row, pair = np.nonzero(self.looked_at)
        used[row, first[pair]] = True
        used[row, second[pair]] = True
        return evolve(
            answers,
            levels=tuple(answers.levels[level] for level in levels),
            counts=np.where(used[:, :, None], answers.counts[:, levels], 0.0),
            planned=np.where(used, answers.planned[:, levels], 0.0),
            missing={status: np.where(used, found[:, levels], 0.0) for status, found in answers.missing.items()},
        )

    def name(self, pair: int) -> str:
        """Return a pair's name."""
        levels = self.answers.levels
        return f"{levels[self.first[pair]]} | {levels[self.second[pair]]}"


def agreement(pairs: Pairs, how: Resampling) -> Estimate:
    """Estimate how often two templates agree on an item: JSS; the clusters are items."""
    return how.proportion(pairs.scores.sum(axis=1), pairs.usable.sum(axis=1))


def agreement_with_excluded(pairs: Pairs, how: Resampling) -> Estimate:
    """Estimate the same with every excluded pair counted as a flip; nothing where no pair has a verdict."""
    if not pairs.usable.any():
        return Estimate(value=None, flags=("empty",))
    return how.proportion(pairs.scores.sum(axis=1), pairs.looked_at.sum(axis=1))


def bounds(pairs: Pairs) -> tuple[float, float] | None:
    """Return the agreement if every missing verdict had disagreed, and if every one had agreed."""
    used = pairs.looked_at
    if not used.any():
        return None
    planned = np.maximum(pairs.planned, 1.0)
    low = pairs.agreeing / planned
    high = (pairs.agreeing + pairs.planned - pairs.combined) / planned
    return float(np.sort(low[used]).mean()), min(float(np.sort(high[used]).mean()), 1.0)


def kappa(pairs: Pairs, *, level: float) -> Estimate:
    """Compute Cohen's kappa over the pairs, the template that sorts first against the other; clusters are items.

    Every pair weighs 1 in total, divided over the combinations of its repeats.
    """
    counts, labels = pairs.answers.counts, len(pairs.answers.labels)
    single = pairs.answers.single
    if single is not None:
        row, column = np.nonzero(pairs.usable)
        one, other = single[row, pairs.first[column]], single[row, pairs.second[column]]
        return clustered_kappa(one, other, row, level=level)
    joint = np.zeros((len(pairs.answers.items), labels, labels))
    for pair, (one, other) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        # Pairs of one item are added up at once: clusters are items, so that only their sums count.
        weight = pairs.usable[:, pair] / np.maximum(pairs.combined[:, pair], 1.0)
        joint += counts[:, one, :, None] * counts[:, other, None, :] * weight[:, None, None]
    item, first, second = np.nonzero(joint)
    return clustered_kappa(first, second, item, case_weights=joint[item, first, second].round(12), level=level)


def excluded(pairs: Pairs, status: str | None, how: Resampling) -> Estimate:
    """Estimate the share of pairs that have no verdict on one side, or those where it is for this status."""
    lost = pairs.looked_at & ~pairs.usable
    if status is not None:
        gone = (pairs.answers.missing[status] > 0) & (pairs.answers.answered == 0)
        lost = lost & (gone[:, pairs.first] | gone[:, pairs.second])
    return how.proportion(lost.sum(axis=1), pairs.looked_at.sum(axis=1))


def _sampled(answers: Answers, first: NDArray[np.int64], second: NDArray[np.int64], sample: int, seed: int) -> Counts:
    """Choose so many pairs of every item that all levels stand in equally many, as nearly as their number allows."""
    place = {(int(one), int(other)): pair for pair, (one, other) in enumerate(zip(first, second, strict=True))}
    chosen = np.zeros((len(answers.items), len(first)))
    for row, item in enumerate(answers.items):
        levels = list(range(len(answers.levels)))
        random.Random(derive_seed(seed, "template-pairs", item)).shuffle(levels)  # noqa: S311 - a design
        chosen[row, [place[pair] for pair in _round(levels)[:sample]]] = 1.0
    return chosen


def _round(levels: list[int]) -> list[tuple[int, int]]:
    """Return all pairs in an order of which every beginning uses the levels equally often, to within one.

    Of an even number: matchings, one after the other (the circle method). Of an odd number: the edges of Hamiltonian
    cycles (Walecki's decomposition), every second one first.
    """
    *ring, fixed = levels
    if len(levels) % 2 == 0:
        rounds = [_matching(ring, fixed, turn) for turn in range(len(ring))]
    else:
        rounds = [_every_second(_cycle(ring, fixed, turn)) for turn in range(len(ring) // 2)]
    return [(min(pair), max(pair)) for found in rounds for pair in found]


def _matching(ring: list[int], fixed: int, turn: int) -> list[tuple[int, int]]:
    size = len(ring)
    mirrored = [(ring[(turn + step) % size], ring[turn - step]) for step in range(1, size // 2 + 1)]
    return [(fixed, ring[turn]), *mirrored]


def _cycle(ring: list[int], fixed: int, turn: int) -> list[int]:
    """Return a Hamiltonian cycle: the fixed level, then a zigzag across the ring."""
    size = len(ring)
    zigzag = [(place + 1) // 2 if place % 2 else -(place // 2) for place in range(size)]
    return [fixed, *(ring[(turn + step) % size] for step in zigzag)]


def _every_second(cycle: list[int]) -> list[tuple[int, int]]:
    edges = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    # Of an odd cycle the last edge of the first pass closes it, so that no level is left behind.
    return edges[::2] + edges[1::2]
