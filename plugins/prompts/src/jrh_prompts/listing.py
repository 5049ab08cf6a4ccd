"""Choose the template pairs that a data set or a file lists, or a balanced sample per item."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from jrh import Item, JrhError, Text, derive_seed
from jrh_measuring import Answers, Mask, all_pairs, template_pairs

from jrh_prompts.options import Which

Names = frozenset[str]
"""The two templates of a pair, in no order."""
_EVERY: Final = ""
"""The item of pairs that are compared on every item."""
_COLUMNS: Final = ("template_a", "template_b")


def select_pairs(pairs: int | Which | Text, answers: Answers, items: Sequence[Item], seed: int) -> Mask | None:
    """Return the pairs that an option asks for, shape (questions, pairs) as in `all_pairs`; None: all of them.

    Raises:
        JrhError: no item lists pairs, or the file does not name two templates in every row.
    """
    if pairs is Which.ALL:
        return None
    if isinstance(pairs, int):
        return sample_pairs(answers, pairs, seed)
    listed = read_pairs(pairs) if isinstance(pairs, Text) else _pairs_of(items)
    first, second = all_pairs(answers)
    names = [frozenset((answers.levels[a], answers.levels[b])) for a, b in zip(first, second, strict=True)]
    everywhere = listed.get(_EVERY, frozenset())
    return np.array(
        [[name in everywhere or name in listed.get(item, ()) for name in names] for item in answers.items],
        dtype=np.bool_,
    ).reshape(len(answers.items), len(names))


def _pairs_of(items: Sequence[Item]) -> Mapping[str, frozenset[Names]]:
    by_item = {item: frozenset(map(frozenset, pairs)) for item, pairs in template_pairs(items).items()}
    if not by_item:
        raise JrhError(
            "pairs: listed: no item lists pairs of templates; the source `paired-prompts` and decision logs do. "
            "Name them with `pairs: {file: pairs.csv}`"
        )
    return by_item


def read_pairs(text: Text) -> Mapping[str, frozenset[Names]]:
    """Read pairs by item; those of every item stand under the empty name.

    Raises:
        JrhError: a column is missing, or a row names no two different templates.
    """
    # Strict: a stray quotation mark is an error, not text.
    rows = csv.DictReader(text.content.splitlines(), strict=True)
    lacking = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if lacking:
        raise JrhError(f"{text.source}:1: the column `{lacking[0]}` is missing; pairs need {' and '.join(_COLUMNS)}")
    by_item: dict[str, set[Names]] = {}
    try:
        for row in rows:
            # A pair has no order, so that a file may list it either way round.
            pair = frozenset((row[name] or "").strip() for name in _COLUMNS)
            if "" in pair or len(pair) < len(_COLUMNS):
                raise JrhError(f"{text.source}:{rows.line_num}: a pair names two different templates")
            by_item.setdefault((row.get("item") or "").strip(), set()).add(pair)
    except csv.Error as error:
        raise JrhError(f"{text.source}:{rows.line_num}: {error}") from error
    if not by_item:
        raise JrhError(f"{text.source}: the file lists no pair")
    return {item: frozenset(pairs) for item, pairs in by_item.items()}


def sample_pairs(answers: Answers, sample: int, seed: int) -> Mask:
    """Choose pairs of every item so that all templates occur in equally many, to within one.

    Args:
        answers: the answers by template.
        sample: pairs per item.
        seed: the run's.

    Returns:
        Shape (items, pairs), in the order of `jrh_measuring.all_pairs`.
    """
    first, second = all_pairs(answers)
    place = {(int(a), int(b)): pair for pair, (a, b) in enumerate(zip(first, second, strict=True))}
    chosen = np.zeros((len(answers.items), len(first)), dtype=np.bool_)
    for row, item in enumerate(answers.items):
        levels = list(range(len(answers.levels)))
        # Drawn by item, so that items added later do not change the pairs of others.
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
        rounds = [_perfect_matching(ring, fixed, turn) for turn in range(len(ring))]
    else:
        rounds = [_every_second(_cycle(ring, fixed, turn)) for turn in range(len(ring) // 2)]
    return [(min(pair), max(pair)) for pairs in rounds for pair in pairs]


def _perfect_matching(ring: list[int], fixed: int, turn: int) -> list[tuple[int, int]]:
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
