"""Check what several judges have in common: agreement coefficients, the best trio, shared errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

import numpy as np
from jrh_stats import Estimate, best_panel, krippendorff_alpha, paired_error_correlation
from numpy.typing import NDArray

from jrh_selftest.checks import FEW, ArrayCheck, subtract_truth
from jrh_selftest.truth import kappa
from jrh_selftest.world import Matrix, World
from jrh_selftest.worlds import DESIGNS, WORLDS

_WORLDS: Final = {
    "trio: six alike, 60 items": (60, (0.75,) * 6),
    "trio: six that differ, 100 items": (100, (0.9, 0.85, 0.8, 0.75, 0.7, 0.65)),
    "trio: six alike, 220 items": (220, (0.75,) * 6),
}


def trio_checks() -> Iterator[ArrayCheck]:
    """Yield the held-out accuracy of the chosen trio, as an error: what the trio truly reaches depends on the study."""
    for where, (items, accuracies) in _WORLDS.items():
        draw = partial(draw_trio_accuracy, items=items, accuracies=accuracies)
        yield ArrayCheck(where=where, name="best trio, held out", planted=0.0, draw=draw, biased=True)


def error_checks() -> Iterator[ArrayCheck]:
    """Yield the correlation of two judges' errors, rare or not, independent or not."""
    for items, rate, planted in ((60, 0.05, 0.0), (200, 0.05, 0.0), (60, 0.3, 0.0), (200, 0.2, 0.3), (200, 0.05, 0.3)):
        draw = partial(draw_error_correlation, items=items, rate=rate, planted=planted)
        where = f"errors: {rate:.0%} of {items} items, correlation {planted}"
        yield ArrayCheck(where=where, name="error correlation", planted=planted, draw=draw, biased=rate * items < FEW)


def draw_error_correlation(rng: np.random.Generator, *, items: int, rate: float, planted: float) -> Estimate:
    """Draw the errors of two judges, equally frequent, and return their correlation.

    Both err with probability rate^2 + planted rate (1 - rate), which is the definition of the phi coefficient.
    """
    both = rate**2 + planted * rate * (1 - rate)
    # Both wrong, only the first, only the second, none.
    cells = rng.choice(4, size=items, p=(both, rate - both, rate - both, 1 - 2 * rate + both))
    return paired_error_correlation(np.isin(cells, (0, 1)), np.isin(cells, (0, 2)))


def majority(accuracies: NDArray[np.float64]) -> float:
    """Return how often two or three of three judges with independent errors are right."""
    a, b, c = accuracies
    return float(a * b + a * c + b * c - 2 * a * b * c)


def draw_trio_accuracy(rng: np.random.Generator, *, items: int, accuracies: tuple[float, ...]) -> Estimate:
    """Draw votes, choose the best trio, and return its held-out accuracy less what this trio truly reaches."""
    truth = rng.integers(0, 2, items)
    right = rng.random((items, len(accuracies))) < accuracies
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    panel = best_panel(votes, truth, n_labels=2, seed=int(rng.integers(2**31)))
    if panel is None:
        raise ValueError("no trio was chosen")
    # Which trio is chosen depends on the study, so the truth does, too.
    return subtract_truth(panel.held_out, majority(np.array(accuracies)[list(panel.judges)]))


_RATERS: Final = 3
_RATED: Final = ("pointwise", "pairwise", "ordinal", "transcript", "near one")
_DESIGNS: Final = (
    *("rare label", "few items, many trials", "unequal clusters", "ordinal, few items", "ordinal, noisy"),
    *("ordinal, large", "all agree", "rare label, near one", "thirty items"),
)

Ratings = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Ratings per question and label, and the item of every question."""

_ESTIMATORS: Final[Mapping[str, Callable[[NDArray[np.float64], NDArray[np.int64]], Estimate]]] = {
    "Krippendorff's alpha": lambda counts, items: krippendorff_alpha(counts, clusters=items),
    "ordinal alpha": lambda counts, items: krippendorff_alpha(counts, clusters=items, metric="ordinal"),
}


def rating_checks(*, full: bool) -> Iterator[ArrayCheck]:
    """Yield every coefficient of agreement in the worlds of a mode; ordinal alpha only on ordinal scales."""
    names = (*_RATED, *_DESIGNS) if full else _RATED
    for world in (world for world in (*WORLDS, *DESIGNS) if world.name in names):
        planted, draw = agreement(world), partial(_estimates, world)
        where, biased = f"raters: {world.name}", world.clusters < FEW  # a ratio of means has a bias of order 1 / items
        for name in (name for name in _ESTIMATORS if name in planted):
            yield ArrayCheck(where=where, name=name, planted=planted[name], draw=draw, biased=biased)


def _estimates(world: World, generator: np.random.Generator) -> Mapping[str, Estimate]:
    """Draw one study and compute every coefficient of it."""
    ratings = draw_ratings(world, generator)
    ordered = world.scale.ordered
    return {name: find(*ratings) for name, find in _ESTIMATORS.items() if ordered or name != "ordinal alpha"}


def draw_ratings(world: World, generator: np.random.Generator) -> Ratings:
    """Draw new items, and three raters' labels on every question about them."""
    answer, items = world.draw_labels(generator, _RATERS)
    counts = np.stack([(answer == label).sum(axis=1) for label in range(len(world.scale.labels))], axis=1)
    return counts.astype(np.float64), items


def agreement(world: World) -> Mapping[str, float]:
    """Return the planted coefficients, from the joint distribution of two raters' labels."""
    answers = world.answer_matrix()
    joint = answers.T @ np.diag(world.shares @ world.belief_matrix()) @ answers
    shares = joint.sum(axis=1)
    coefficients = {"Krippendorff's alpha": kappa(joint, squared=False)}
    return coefficients | {"ordinal alpha": _ordinal_alpha(joint, shares)} if world.scale.ordered else coefficients


def _ordinal_alpha(joint: Matrix, shares: Matrix) -> float:
    # Krippendorff's ordinal metric counts the ranks between two levels, half of each end.
    middle = np.cumsum(shares) - shares / 2
    distance = np.square(np.subtract.outer(middle, middle))
    return 1 - float((joint * distance).sum() / (np.outer(shares, shares) * distance).sum())
