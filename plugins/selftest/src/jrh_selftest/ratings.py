"""Check agreement coefficients: three judges of one kind rate the same planted worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

import numpy as np
from jrh_stats import Estimate, fleiss_kappa, gwet_ac1, krippendorff_alpha, pabak
from numpy.typing import NDArray

from jrh_selftest.checks import FEW, ArrayCheck
from jrh_selftest.truth import Matrix, kappa
from jrh_selftest.world import World
from jrh_selftest.worlds import DESIGNS, WORLDS

_RATERS: Final = 3
_RATED: Final = ("pointwise", "pairwise", "ordinal", "transcript", "near one")
_DESIGNS: Final = (
    *("rare label", "few items, many trials", "unequal clusters", "ordinal, few items", "ordinal, noisy"),
    *("ordinal, large", "all agree", "rare label, near one", "thirty items"),
)

Ratings = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Ratings per question and label, and the item of every question."""

_ESTIMATORS: Final[Mapping[str, Callable[[NDArray[np.float64], NDArray[np.int64]], Estimate]]] = {
    "Fleiss' kappa": fleiss_kappa,
    "Krippendorff's alpha": lambda counts, items: krippendorff_alpha(counts, clusters=items),
    "ordinal alpha": lambda counts, items: krippendorff_alpha(counts, clusters=items, metric="ordinal"),
    "Gwet's AC1": gwet_ac1,
    "PABAK": pabak,
}


def rating_checks(*, full: bool) -> Iterator[ArrayCheck]:
    """Yield every coefficient of agreement in the worlds of a mode; ordinal alpha only on ordinal scales."""
    names = (*_RATED, *_DESIGNS) if full else _RATED
    for world in (*WORLDS, *DESIGNS):
        if world.name not in names:
            continue
        planted = agreement(world)
        draw = partial(_estimates, world)
        for name in _ESTIMATORS:
            if name in planted:
                yield ArrayCheck(
                    where=f"raters: {world.name}",
                    name=name,
                    planted=planted[name],
                    draw=draw,
                    # A ratio of means has a bias of order 1 / items.
                    biased=world.clusters < FEW,
                )


def _estimates(world: World, generator: np.random.Generator) -> Mapping[str, Estimate]:
    """Draw one study and compute every coefficient of it."""
    ratings = draw_ratings(world, generator)
    ordered = world.scale.ordered
    return {name: find(*ratings) for name, find in _ESTIMATORS.items() if ordered or name != "ordinal alpha"}


def draw_ratings(world: World, generator: np.random.Generator) -> Ratings:
    """Draw new items, and three raters' labels on every question about them."""
    said, items = world.asked(generator, _RATERS)
    counts = np.stack([(said == label).sum(axis=1) for label in range(len(world.scale.labels))], axis=1)
    return counts.astype(np.float64), items


def agreement(world: World) -> Mapping[str, float]:
    """Return the planted coefficients, from the joint distribution of two raters' labels."""
    believed = world.shares @ world.believing()
    saying = world.saying()
    joint = saying.T @ np.diag(believed) @ saying
    shares, size = joint.sum(axis=1), len(joint)
    same, by_chance = float(np.trace(joint)), float((shares * (1 - shares)).sum()) / (size - 1)
    nominal = kappa(joint, squared=False)
    found = {
        "Fleiss' kappa": nominal,
        "Krippendorff's alpha": nominal,
        "Gwet's AC1": (same - by_chance) / (1 - by_chance),
        "PABAK": (size * same - 1) / (size - 1),
    }
    return found | {"ordinal alpha": _ordinal_alpha(joint, shares)} if world.scale.ordered else found


def _ordinal_alpha(joint: Matrix, shares: Matrix) -> float:
    middle = np.cumsum(shares) - shares / 2
    distance = np.square(np.subtract.outer(middle, middle))
    return 1 - float((joint * distance).sum() / (np.outer(shares, shares) * distance).sum())
