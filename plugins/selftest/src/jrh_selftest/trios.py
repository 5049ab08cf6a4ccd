"""Plant judges whose errors are independent or come together: the best trio, and the correlation of two."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from attrs import evolve
from jrh_stats import Estimate, best_panel, paired_error_correlation
from numpy.typing import NDArray

from jrh_selftest.checks import FEW, ArrayCheck

_WORLDS: Final = {
    "trio: six alike, 60 items": (60, (0.75,) * 6),
    "trio: six that differ, 100 items": (100, (0.9, 0.85, 0.8, 0.75, 0.7, 0.65)),
    "trio: six alike, 220 items": (220, (0.75,) * 6),
}
"""The third has ten items for each of the twenty trios, and no flag."""


def trio_checks() -> Iterator[ArrayCheck]:
    """Yield the held-out accuracy of the chosen trio, as an error: what the trio truly reaches depends on the study."""
    for where, (items, accuracies) in _WORLDS.items():
        draw = partial(chosen_trio, items=items, accuracies=accuracies)
        yield ArrayCheck(where=where, name="best trio, held out", planted=0.0, draw=draw, biased=True)


def error_checks() -> Iterator[ArrayCheck]:
    """Yield the correlation of two judges' errors, rare or not, independent or not."""
    for items, rate, planted in ((60, 0.05, 0.0), (200, 0.05, 0.0), (60, 0.3, 0.0), (200, 0.2, 0.3), (200, 0.05, 0.3)):
        draw = partial(correlated, items=items, rate=rate, planted=planted)
        where = f"errors: {rate:.0%} of {items} items, correlation {planted}"
        yield ArrayCheck(where=where, name="error correlation", planted=planted, draw=draw, biased=rate * items < FEW)


def correlated(rng: np.random.Generator, *, items: int, rate: float, planted: float) -> Estimate:
    """Draw the errors of two judges, equally frequent, and return their correlation.

    Both err with probability rate^2 + planted rate (1 - rate), which is the definition of the phi coefficient.
    """
    both = rate**2 + planted * rate * (1 - rate)
    cells = rng.choice(4, size=items, p=(both, rate - both, rate - both, 1 - 2 * rate + both))
    return paired_error_correlation(np.isin(cells, (0, 1)), np.isin(cells, (0, 2)))


def majority(accuracies: NDArray[np.float64]) -> float:
    """Return how often two or three of three judges with independent errors are right."""
    a, b, c = accuracies
    return float(a * b + a * c + b * c - 2 * a * b * c)


def chosen_trio(rng: np.random.Generator, *, items: int, accuracies: tuple[float, ...]) -> Estimate:
    """Draw votes, choose the best trio, and return its held-out accuracy less what this trio truly reaches."""
    truth = rng.integers(0, 2, items)
    right = rng.random((items, len(accuracies))) < accuracies
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    found = best_panel(votes, truth, n_labels=2, seed=int(rng.integers(2**31)))
    if found is None:
        raise ValueError("no trio was chosen")
    held, reached = found.held_out, majority(np.array(accuracies)[list(found.best.judges)])
    if held.value is None or held.low is None or held.high is None:
        return held
    return evolve(held, value=held.value - reached, low=held.low - reached, high=held.high - reached)
