"""Draw a balanced sample of template pairs per item."""

from __future__ import annotations

import random

import numpy as np
from jrh import derive_seed
from jrh_measuring import Answers, Mask, all_pairs


def sampled_pairs(answers: Answers, sample: int, seed: int) -> Mask:
    """Choose pairs of every item so that all templates occur in equally many, to within one.

    Args:
        answers: the answers by template.
        sample: pairs per item.
        seed: the run's.

    Returns:
        Shape (items, pairs), in the order of `jrh_measuring.all_pairs`.
    """
    first, second = all_pairs(answers)
    place = {(int(one), int(other)): pair for pair, (one, other) in enumerate(zip(first, second, strict=True))}
    chosen = np.zeros((len(answers.items), len(first)), dtype=np.bool_)
    for row, item in enumerate(answers.items):
        levels = list(range(len(answers.levels)))
        random.Random(derive_seed(seed, "template-pairs", item)).shuffle(levels)  # noqa: S311 - a design
        chosen[row, [place[pair] for pair in _round(levels)[:sample]]] = True
    return chosen


def _round(levels: list[int]) -> list[tuple[int, int]]:
    """Return all pairs, ordered so that every prefix uses the levels equally often, to within one.

    For an even number of levels: perfect matchings, one after the other (the circle method). For an odd number: the
    edges of Hamiltonian cycles (Walecki's decomposition), every second edge first.
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
    # The cycle has an odd length: the first pass ends with its closing edge, so it reaches every level.
    return edges[::2] + edges[1::2]
