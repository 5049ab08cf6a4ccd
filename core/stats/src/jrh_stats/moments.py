"""Estimate variance components by moments: analysis of variance if balanced, else Henderson's method 1."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen

from jrh_stats.arrays import Codes, Floats
from jrh_stats.design import Design
from jrh_stats.score_intervals import z_quantile

_ZERO: Final = 1e-12


@frozen(kw_only=True)
class Moment:
    """One component of balanced data."""

    estimate: float
    low: float | None
    high: float | None
    standard_error: float
    mean_square: float
    degrees: int


def balanced_components(design: Design, level: float) -> list[Moment]:
    """Estimate the components of balanced data; the residual is last.

    E[MS_a] = sum over effects b that contain a of (n / levels of b) sigma_b^2 + sigma_e^2; the system is triangular.
    """
    z_quantile(level)  # checks the level
    squares, degrees = _mean_squares(design)
    weights = np.linalg.inv(_expected(design))
    estimates = weights @ squares
    errors = np.sqrt((2 * np.square(weights * squares) / (degrees + 2)).sum(axis=1))
    found = []
    for row, estimate, error, square, df in zip(weights, estimates, errors, squares, degrees, strict=True):
        low, high = _large_sample(row, squares, degrees, level)
        found.append(
            Moment(
                estimate=float(estimate),
                low=low,
                high=high,
                standard_error=float(error),
                mean_square=float(square),
                degrees=int(df),
            )
        )
    return found


def _mean_squares(design: Design) -> tuple[Floats, Floats]:
    shape = tuple(design.levels[facet] for facet in design.facets)
    repeats = design.counts[0]
    # Cells come sorted by their codes, which is the order of a table with one axis per facet.
    table = (design.sums / repeats).reshape(shape)
    axes = range(len(shape))
    deviations: dict[tuple[str, ...], Floats] = {}
    total = 0.0
    squares, degrees = [], []
    for effect in [*design.effects, design.facets][: len(design.effects) + (not design.repeated)]:
        away = tuple(axis for axis in axes if design.facets[axis] not in effect)
        part = table.mean(axis=away, keepdims=True) - table.mean()
        for smaller, deviation in deviations.items():
            if set(smaller) < set(effect):
                part = part - deviation
        deviations[effect] = part
        df = int(np.prod([design.levels[facet] - 1 for facet in effect]))
        sum_of_squares = float(np.square(part).sum()) * design.n / part.size
        total += sum_of_squares
        squares.append(sum_of_squares / df)
        degrees.append(df)
    if design.repeated:
        df = design.n - len(design.counts)
        within = design.squares - float(np.square(design.sums).sum()) / float(repeats)
        squares.append(max(within, 0.0) / df)
        degrees.append(df)
    return np.array(squares), np.array(degrees, dtype=np.float64)


def _expected(design: Design) -> Floats:
    size = len(design.effects)
    matrix = np.zeros((size + 1, size + 1))
    matrix[:, -1] = 1.0
    for row, effect in enumerate(design.effects):
        for column, other in enumerate(design.effects):
            if set(effect) <= set(other):
                matrix[row, column] = design.n / design.sizes[column]
    return matrix


def _large_sample(weights: Floats, squares: Floats, degrees: Floats, level: float) -> tuple[float | None, float | None]:
    """Compute the interval of a component, cut at 0; none where no mean square adds to it."""
    if not np.any(weights > _ZERO) or not np.any(squares > 0):
        return None, None
    low, high = combination_interval(weights, squares, degrees, level)
    value = max(float(weights @ squares), 0.0)
    return min(max(low, 0.0), value), max(high, value)


def combination_interval(weights: Floats, squares: Floats, degrees: Floats, level: float) -> tuple[float, float]:
    """Compute the modified large-sample interval of a linear combination of expected mean squares.

    Source: Burdick and Graybill (1992), Confidence Intervals on Variance Components, chapter 3. Not consulted: the
    terms of `_mixed` and `_alike` are from memory, and checked by their coverage alone.

    Args:
        weights: weight of every mean square, of either sign, shape (m,).
        squares: independent mean squares, shape (m,).
        degrees: their degrees of freedom, shape (m,).
        level: coverage.

    Returns:
        Lower and upper end, in the unit of the mean squares.
    """
    parts = weights * squares
    positive, negative = np.flatnonzero(weights > _ZERO), np.flatnonzero(weights < -_ZERO)
    tail = (1 - level) / 2
    estimate = float(parts.sum())
    plus, minus = (parts[positive], degrees[positive]), (-parts[negative], degrees[negative])
    down = np.sqrt(max(_spread(plus, minus, tail, lower=True), 0.0))
    up = np.sqrt(max(_spread(plus, minus, tail, lower=False), 0.0))
    return estimate - float(down), estimate + float(up)


def _spread(plus: tuple[Floats, Floats], minus: tuple[Floats, Floats], tail: float, *, lower: bool) -> float:
    """Compute the variance-like quantity under the root of one end (Burdick and Graybill 1992, chapter 3)."""
    (first, n1), (second, n2) = (plus, minus) if lower else (minus, plus)
    # `first` errs downwards at this end, `second` upwards.
    shrink_first, stretch_second = _shrink(n1, tail), _stretch(n2, tail)
    total = float(np.square(shrink_first * first).sum() + np.square(stretch_second * second).sum())
    total += _mixed(plus, minus, tail, lower=lower)
    return total + _alike(first, n1, shrink_first, tail)


def _shrink(degrees: Floats, tail: float) -> Floats:
    """Return G = 1 - 1 / F(tail; df, infinity)."""
    from scipy.special import chdtri

    return np.asarray(1 - degrees / chdtri(degrees, tail), dtype=np.float64)


def _stretch(degrees: Floats, tail: float) -> Floats:
    """Return H = 1 / F(1 - tail; df, infinity) - 1."""
    from scipy.special import chdtri

    return np.asarray(degrees / chdtri(degrees, 1 - tail) - 1, dtype=np.float64)


def _mixed(plus: tuple[Floats, Floats], minus: tuple[Floats, Floats], tail: float, *, lower: bool) -> float:
    """Add the terms of every pair of a positive and a negative mean square."""
    from scipy.special import fdtri

    (a, n), (b, m) = plus, minus
    if not len(a) or not len(b):
        return 0.0
    grid_n, grid_m = np.meshgrid(n, m, indexing="ij")
    if lower:
        ratio = fdtri(grid_n, grid_m, 1 - tail)
        own, other = _shrink(n, tail)[:, None], _stretch(m, tail)[None, :]
        factor = (np.square(ratio - 1) - np.square(own * ratio) - np.square(other)) / ratio
    else:
        ratio = fdtri(grid_n, grid_m, tail)
        own, other = _stretch(n, tail)[:, None], _shrink(m, tail)[None, :]
        factor = (np.square(1 - ratio) - np.square(own * ratio) - np.square(other)) / ratio
    return float((factor * a[:, None] * b[None, :]).sum())


def _alike(parts: Floats, degrees: Floats, shrink: Floats, tail: float) -> float:
    """Add the terms of every pair of mean squares of the same sign."""
    size = len(parts)
    if size <= 1:
        return 0.0
    first, second = np.triu_indices(size, k=1)
    n, m = degrees[first], degrees[second]
    both = np.square(_shrink(n + m, tail)) * np.square(n + m) / (n * m)
    factor = (both - np.square(shrink[first]) * n / m - np.square(shrink[second]) * m / n) / (size - 1)
    return float((factor * parts[first] * parts[second]).sum())


def henderson(design: Design) -> Floats:
    """Estimate the components of any data by Henderson's method 1; the residual is last.

    With T_a = sum over the levels of a of (sum of scores)^2 / n, E[T_a] is linear in the components:
    n mean^2 + sum_b sigma_b^2 sum_(levels of a) (sum_(levels of b within) n_ab^2) / n_a + (levels of a) sigma_e^2.
    Equating observed and expected T gives unbiased estimates, which may be negative.
    """
    one = np.zeros(len(design.counts), dtype=np.int64)
    partitions = [one, *design.effect_codes]
    size = len(design.effects)
    matrix = np.empty((size + 2, size + 2))
    totals = np.empty(size + 2)
    for row, codes in enumerate(partitions):
        counts = np.bincount(codes, weights=design.counts)
        totals[row] = float((np.square(np.bincount(codes, weights=design.sums)) / counts).sum())
        matrix[row, 0], matrix[row, -1] = design.n, len(counts)
        for column in range(size):
            joint = _joint(design, row - 1, column)
            matrix[row, column + 1] = _overlap(codes, joint, design.counts, np.asarray(counts, dtype=np.float64))
    matrix[-1] = design.n
    totals[-1] = design.squares
    solution, *_ = np.linalg.lstsq(matrix, totals, rcond=None)
    return np.asarray(solution[1:], dtype=np.float64)


def _joint(design: Design, one: int, other: int) -> Codes:
    """Return the levels of two effects together, per cell; `one` is -1 for the mean."""
    if one < 0:
        return design.effect_codes[other]
    together = {*design.effects[one], *design.effects[other]}
    for effect, codes in zip(design.effects, design.effect_codes, strict=True):
        if set(effect) == together:
            return codes
    first, second = design.effect_codes[one], design.effect_codes[other]
    _, joint = np.unique(first * design.sizes[other] + second, return_inverse=True)
    return np.asarray(joint, dtype=np.int64).reshape(-1)


def _overlap(codes: Codes, joint: Codes, counts: Floats, level_counts: Floats) -> float:
    both = np.bincount(joint, weights=counts)
    owner = np.zeros(len(both), dtype=np.int64)
    owner[joint] = codes
    return float((np.square(both) / level_counts[owner]).sum())
