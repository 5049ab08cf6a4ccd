"""Where the options stand: the names of the places, and orders in which every option visits every place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from jrh_measuring import Answers, Counts
from numpy.typing import NDArray

_NAMES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_EXACT: Final = 1e-9


def place_name(place: int) -> str:
    """Return the name of a place, counted from 0: `first`, `second`, ..., `tenth`, `11th`, ..."""
    number = place + 1
    if place < len(_NAMES):
        return _NAMES[place]
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def moves_all(one: str, other: str) -> bool:
    """Tell whether every option stands in another place."""
    return all(here != there for here, there in zip(one, other, strict=False))


def balancing(answers: Answers, own: str) -> Counts:
    """Return the weights of every item's orders, shape (items, levels), such that every option visits every place.

    All orders with a verdict weigh 1 where that balances them, or some of them 1 and the others 0 (the reverse order
    beside the rotations of three options). Where no weights balance them, all weigh 1.

    Args:
        answers: verdicts by order of the options.
        own: the options in their own order.
    """
    there = answers.answered > 0
    kinds, of = np.unique(there, axis=0, return_inverse=True)
    found = np.zeros(kinds.shape)
    for row, kind in enumerate(kinds):
        if kind.any():
            orders = tuple(name for name, used in zip(answers.levels, kind, strict=True) if used)
            found[row, kind] = _weights(orders, own)
    return np.asarray(found[of.reshape(-1)])


def is_balanced(answers: Answers, own: str, weights: Counts) -> NDArray[np.bool_]:
    """Return per item whether every option visits every place under the weights, shape (items,)."""
    visits = np.stack([_visits(order, own) for order in answers.levels], axis=1)
    total = weights.sum(axis=1, keepdims=True)
    even = np.abs(weights @ visits.T - total / len(own)).max(axis=1) < _EXACT
    return np.asarray(even & (total[:, 0] > 0))


@lru_cache(maxsize=1024)
def _weights(orders: tuple[str, ...], own: str) -> NDArray[np.float64]:
    from scipy.optimize import nnls

    visits = np.stack([_visits(order, own) for order in orders], axis=1)
    target = np.full(len(visits), 1.0 / len(own))
    solved, residual = nnls(visits, target)
    # Equal weights where they do: those of a solver are exact to some digits only.
    for used in (np.ones(len(orders)), (solved > _EXACT).astype(np.float64)):
        if used.any() and np.abs(visits @ used / used.sum() - target).max() < _EXACT:
            return used
    return np.asarray(solved * len(orders)) if residual < _EXACT else np.ones(len(orders))


def _visits(order: Sequence[str], own: str) -> NDArray[np.float64]:
    """Return which option stands in which place, flattened; all zeros for an order of other options."""
    if sorted(order) != sorted(own):
        return np.zeros(len(own) ** 2)
    return np.array([float(option == shown) for shown in order for option in own])
