"""Read a crossed design as integer codes: which effects the data can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import row_numbers

REPEAT: Final = "repeat"
"""The name of the facet that repeats of one cell vary over."""
RESIDUAL: Final = "residual"
"""The name of what is left."""
_GRADES: Final = 10
"""Scores with so many values or fewer are grades."""


@frozen(kw_only=True, eq=False)
class Design:
    """Observations gathered into cells: the combinations of levels that occur."""

    facets: tuple[str, ...]
    """The facets with two levels or more."""
    levels: Mapping[str, int]
    """Facet -> levels, those with one level included."""
    codes: Codes
    """Level of every cell on every facet of `facets`, shape (cells, facets)."""
    counts: Floats
    """Observations of every cell, shape (cells,)."""
    sums: Floats
    """Sum of the centred scores of every cell, shape (cells,)."""
    squares: Floats
    """Sum of the squared centred scores of every cell, shape (cells,)."""
    graded: bool
    """Whether the scores have ten values or fewer: variances between items then depend on how strict a judge is."""
    mean: float | None
    effects: Mapping[tuple[str, ...], Codes]
    """The effects that can be estimated, the residual aside, each with its level in every cell, shape (cells,)."""
    flags: tuple[str, ...]

    @property
    def n(self) -> int:
        """Return the number of observations."""
        return int(self.counts.sum())

    @property
    def variance(self) -> float:
        """Return the mean squared deviation from the grand mean."""
        return float(self.squares.sum()) / max(self.n, 1)

    @property
    def has_repeats(self) -> bool:
        """Tell whether any cell holds more than one observation."""
        return bool(np.any(self.counts > 1))


def read_design(scores: ArrayLike, facets: Mapping[str, ArrayLike]) -> Design:
    """Gather scores into cells; see `variance_components` for the arguments and errors."""
    values = np.asarray(scores, dtype=np.float64)
    _check(values, facets)
    coded = {name: np.unique(np.asarray(column), return_inverse=True) for name, column in facets.items()}
    levels = {name: len(labels) for name, (labels, _) in coded.items()}
    varying = tuple(name for name, number in levels.items() if number > 1)
    # Sorted before it is summed, so that the order of rows does not show in the last digit.
    mean = float(np.sort(values).sum() / len(values)) if len(values) else None
    centred = values - (mean or 0.0)
    columns = [coded[name][1].reshape(-1) for name in varying]
    cells, inverse = _cells(np.array(columns, dtype=np.int64).reshape(len(varying), len(values)).T)
    counts = np.bincount(inverse, minlength=len(cells)).astype(np.float64)
    repeated = bool(np.any(counts > 1))
    flags = ("single-level",) * (len(varying) < len(facets)) + ("confounded",) * (not repeated and bool(varying))
    return Design(
        facets=varying,
        levels=levels,
        codes=cells,
        counts=counts,
        # Rounded, so that the order of rows does not show in the last digit.
        sums=np.asarray(np.bincount(inverse, weights=centred, minlength=len(cells)), dtype=np.float64).round(12),
        squares=np.asarray(
            np.bincount(inverse, weights=np.square(centred), minlength=len(cells)), dtype=np.float64
        ).round(12),
        graded=len(np.unique(values)) <= _GRADES,
        mean=mean,
        effects=_effects(varying, cells, len(values)),
        flags=flags,
    )


def _cells(rows: Codes) -> tuple[Codes, Codes]:
    """Return the combinations of levels that occur, sorted, shape (cells, facets), and the cell of every row."""
    # One number per row sorts much faster than a row of numbers.
    _, first, inverse = np.unique(row_numbers(rows), return_index=True, return_inverse=True)
    return rows[first], inverse.reshape(-1)


def _check(values: Floats, facets: Mapping[str, ArrayLike]) -> None:
    if values.ndim != 1 or not facets:
        raise ValueError("variance components need scores of shape (n,) and at least one facet")
    if not np.all(np.isfinite(values)):
        raise ValueError("scores must be finite; leave out trials without a verdict")
    for name, column in facets.items():
        if name in (REPEAT, RESIDUAL):
            raise ValueError(f"the facet name '{name}' is taken: repeats are the observations of one cell")
        if np.shape(column) != values.shape:
            raise ValueError(f"the facet '{name}' has the shape {np.shape(column)}, but the scores have {values.shape}")


def _effects(facets: tuple[str, ...], cells: Codes, n: int) -> dict[tuple[str, ...], Codes]:
    """Find the effects that have fewer levels than observations and are no other effect under another name."""
    effects: dict[tuple[str, ...], Codes] = {}
    sizes: dict[tuple[str, ...], int] = {}
    for order in range(1, len(facets) + 1):
        for members in combinations(range(len(facets)), order):
            _, codes = _cells(cells[:, members])
            size = int(codes.max(initial=-1)) + 1
            names = tuple(facets[member] for member in members)
            # An effect refines those of its subsets, so an equal number of levels means the same partition.
            aliased = any(number == size and set(effect) < set(names) for effect, number in sizes.items())
            if size < n and not aliased:
                effects[names], sizes[names] = codes, size
    return effects
