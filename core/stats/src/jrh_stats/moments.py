"""Estimate variance components by moments, from sums per unit that can be resampled."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from jrh_stats.arrays import Codes, Floats
from jrh_stats.design import Design

_RANK: Final = 1e-12
"""Equations that are weaker than this, relative to the strongest, say nothing."""


@frozen(kw_only=True, eq=False)
class _Effect:
    """The levels of an effect."""

    levels: Codes
    """Level of every cell, shape (cells,)."""
    own: bool
    """Whether every level belongs to one unit."""

    def joined(self, other: _Effect) -> _Effect:
        """Return the levels that two effects have together."""
        _, joint = np.unique(self.levels * (int(other.levels.max()) + 1) + other.levels, return_inverse=True)
        return _Effect(levels=joint.reshape(-1).astype(np.int64), own=self.own or other.own)


@frozen(kw_only=True, eq=False)
class _Ratios:
    """Columns of the sums per unit that give one sum of ratios."""

    tops: Codes
    squared: bool
    """Whether the tops are squares already."""
    below: Codes
    """What each of the tops is divided by; none where they are divided already."""

    def of(self, totals: Floats) -> Floats:
        """Return the sum for every row of totals."""
        tops = totals[:, self.tops] if self.squared else np.square(totals[:, self.tops])
        if len(self.below):
            tops = tops / np.maximum(totals[:, self.below], 1.0)  # a level without observations has a top of 0
        return np.asarray(tops.sum(axis=1), dtype=np.float64)


class Moments:
    """Henderson's method 1, on sums per unit: totals of resampled units give the estimates of a cluster bootstrap.

    With T_a = sum over the levels of effect a of (sum of scores)^2 / n, E[T_a] is linear in the components:

        n mean^2 + sum_b sigma_b^2 sum_(levels of a) (sum_(levels of b within) n_ab^2) / n_a + (levels of a) sigma_e^2

    Equating observed and expected T gives unbiased estimates, which may be negative. Of balanced data they are those of
    the analysis of variance: expected mean squares equated with observed ones. A unit that is drawn twice is two units:
    the levels of effects that it takes part in are its own.

    Source: Henderson (1953), Biometrics 9:226-252; balanced data: Brennan (2001), Generalizability Theory, chapter 3.
    """

    sums: Floats
    """Sums per unit, shape (units, columns)."""

    def __init__(self, design: Design, unit: str) -> None:
        self._unit = design.codes[:, design.facets.index(unit)] if unit in design.facets else design.codes[:, 0] * 0
        self._units = int(self._unit.max()) + 1
        self._tables: list[Floats] = []
        everything = _Effect(levels=self._unit * 0, own=False)
        effects = [everything] + [
            _Effect(levels=levels, own=unit in effect)
            for effect, levels in zip(design.effects, design.effect_codes, strict=True)
        ]
        self._size = len(effects)
        self._terms: list[tuple[_Ratios, list[_Ratios], Codes, bool]] = []
        for effect in effects:
            counts = np.bincount(effect.levels, design.counts).astype(np.float64)
            first = np.unique(effect.levels, return_index=True)[1]
            if effect.own:
                numbers = self._add(self._unit[first], first * 0, np.ones(len(first)), 1)
            else:
                numbers = self._add(self._unit, effect.levels, design.counts, len(counts))
            observed = self._ratios(effect, effect, design.sums, counts, numbers)
            expected = [self._ratios(effect, effect.joined(other), design.counts, counts, numbers) for other in effects]
            self._terms.append((observed, expected, numbers, effect.own))
        self._n = self._add(self._unit, everything.levels, design.counts, 1)
        self._squares = self._add(self._unit, everything.levels, design.squares, 1)
        self.sums = np.concatenate(self._tables, axis=1)

    def estimate(self, totals: Floats) -> Floats:
        """Estimate the components for every row of totals of `sums`, shape (rows, columns).

        Returns:
            Shape (rows, effects + 1), the residual last.
        """
        size = self._size
        matrix, observed = np.empty((len(totals), size + 1, size + 1)), np.empty((len(totals), size + 1))
        for row, (squares, expected, numbers, own) in enumerate(self._terms):
            observed[:, row] = squares.of(totals)
            for column, part in enumerate(expected):
                matrix[:, row, column] = part.of(totals)
            levels = totals[:, numbers]
            matrix[:, row, size] = (levels if own else levels > 0).sum(axis=1)
        matrix[:, size] = totals[:, self._n]
        observed[:, size] = totals[:, self._squares[0]]
        solved = np.linalg.pinv(matrix, rcond=_RANK) @ observed[:, :, None]
        return np.asarray(solved[:, 1:, 0], dtype=np.float64)

    def _ratios(self, outer: _Effect, inner: _Effect, values: Floats, counts: Floats, numbers: Codes) -> _Ratios:
        """Say where (sum of values in a level of `inner`)^2 / (count of its level of `outer`) are, for all levels."""
        first = np.unique(inner.levels, return_index=True)[1]
        above, unit, squares = outer.levels[first], self._unit[first], np.square(np.bincount(inner.levels, values))
        if outer.own:
            return _Ratios(tops=self._add(unit, above * 0, squares / counts[above], 1), squared=True, below=above[:0])
        if inner.own:
            return _Ratios(tops=self._add(unit, above, squares, len(counts)), squared=True, below=numbers)
        tops = self._add(self._unit, inner.levels, values, len(first))
        return _Ratios(tops=tops, squared=False, below=numbers[above])

    def _add(self, unit: Codes, place: Codes, values: Floats, size: int) -> Codes:
        """Add the sums of values per unit and place, and return their columns."""
        start = sum(table.shape[1] for table in self._tables)
        flat = np.bincount(unit * size + place, values, self._units * size)
        self._tables.append(flat.astype(np.float64).reshape(self._units, size))
        return np.arange(start, start + size)
