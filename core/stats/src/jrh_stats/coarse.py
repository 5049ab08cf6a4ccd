"""Intervals of variance components of scores with ten values or fewer, or mostly one, which are far from normal.

The mean squares of yes-or-no scores are not chi-squared: their variance follows from how often items are hard, not from
the mean square. It is therefore estimated, from the contributions of items and of the levels of the other facets.
"""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Final

import numpy as np
from attrs import frozen

from jrh_stats.arrays import Floats
from jrh_stats.degrees import FEW, FEW_CLUSTERS, FEW_EVENTS, effective_degrees
from jrh_stats.design import Design
from jrh_stats.score_intervals import t_quantile

FEW_LEVELS: Final = "few-levels"
"""Coarse scores, and few judges, templates or other levels: the interval may cover less often."""
MANY_LEVELS: Final = 10
"""With fewer levels of a facet its share of the variance is hardly known."""
ENOUGH_LEVELS: Final = 30
_LEAST: Final = 3
"""Levels of which one can be left out, and two remain."""
_NOISE: Final = 1e-24


@frozen(kw_only=True)
class CoarsePart:
    """A component's interval."""

    low: float
    high: float
    standard_error: float
    flags: tuple[str, ...]


@frozen(kw_only=True, eq=False)
class _Scores:
    """Balanced scores, the facet with the most levels first."""

    means: Floats
    """Mean of every cell, one axis per facet."""
    within: Floats
    """Sum of squares within every cell, in the same shape."""
    repeats: int


def coarse_parts(design: Design, level: float) -> dict[frozenset[str], CoarsePart]:
    """Compute the intervals of the components that vary over items; the residual has all facets.

    The item is the facet with the most levels. Every component is a mean over items of contributions c_i (the item's
    part of the mean squares, combined as in the analysis of variance), which gives the variance V_0 between items. A
    facet with L levels, such as judges, adds what its draw changes: with pseudo-values L c_i - (L - 1) c_i(-l),

        V_f = max(0, variance over l of their means - what the items' sampling alone makes of it) / L

    The variance is V = V_0 + sum of V_f, its degrees of freedom Satterthwaite's. The lower end is the estimate less
    t sqrt(V), not below 0. The upper end is value * exp(t sqrt(V) / value), because estimates of variances are skewed,
    but at most (e - 1) t sqrt(V) above the estimate, because values near 0 have no logarithm worth the name.

    Source: variances over the levels of crossed factors: Owen (2007), Annals of Applied Statistics 1:386-411, and Owen
    and Eckles (2012), same journal 6:895-927 (not consulted; they resample, this is the jackknife); pseudo-values:
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11; degrees: Satterthwaite (1946), Biometrics
    Bulletin 2:110-114. The correction for the items' sampling is derived in `docs/derivations.md`.
    """
    scores, facets = _read(design)
    whole = _contributions(scores)
    left_out = {
        axis: [_contributions(_without(scores, axis, place)) for place in range(scores.means.shape[axis])]
        for axis in range(1, scores.means.ndim)
        if scores.means.shape[axis] >= _LEAST
    }
    found = {}
    for axes, own in whole.items():
        pseudo = [
            len(each) * own - (len(each) - 1) * np.stack([one[axes] for one in each]) for each in left_out.values()
        ]
        found[frozenset(facets[axis] for axis in axes)] = _part(
            own, pseudo, scores.means.shape[1:], level, coarse=design.coarse
        )
    return found


def _read(design: Design) -> tuple[_Scores, list[str]]:
    shape = tuple(design.levels[facet] for facet in design.facets)
    first = int(np.argmax(shape))
    order = [first, *(axis for axis in range(len(shape)) if axis != first)]
    repeats = int(design.counts[0])
    sums, squares = (part.reshape(shape).transpose(order) for part in (design.sums, design.cell_squares))
    within = np.maximum(squares - np.square(sums) / repeats, 0.0)
    scores = _Scores(means=sums / repeats, within=within, repeats=repeats)
    return scores, [design.facets[axis] for axis in order]


def _without(scores: _Scores, axis: int, place: int) -> _Scores:
    means, within = (np.delete(part, place, axis=axis) for part in (scores.means, scores.within))
    return _Scores(means=means, within=within, repeats=scores.repeats)


def _contributions(scores: _Scores) -> dict[tuple[int, ...], Floats]:
    """Return every item's contribution to the components that vary over items, by the effect's axes; () is the rest."""
    means, items = scores.means, len(scores.means)
    others = range(1, means.ndim)
    effects = [(0, *more) for order in range(means.ndim) for more in combinations(others, order)]
    deviations: dict[tuple[int, ...], Floats] = {}
    squares: dict[tuple[int, ...], Floats] = {}
    for effect in effects:
        part = _deviation(means, effect)
        freedom = prod(means.shape[axis] - 1 for axis in effect)
        size = means.size // part.size * scores.repeats
        squares[effect] = np.square(part).reshape(items, -1).sum(axis=1) * size * items / freedom
        deviations[effect] = part
    finest = effects[-1]
    inner = None
    if scores.repeats > 1:
        inner = scores.within.reshape(items, -1).sum(axis=1) * items / (means.size * (scores.repeats - 1))
    found: dict[tuple[int, ...], Floats] = {}
    for effect in effects:
        if effect == finest and inner is None:
            found[()] = squares[effect]
            continue
        size = means.size // deviations[effect].size * scores.repeats
        total = sum(
            (-1) ** (len(other) - len(effect)) * squares[other] for other in effects if set(effect) <= set(other)
        )
        # The alternating sum leaves the residual of the finest effect only.
        found[effect] = np.asarray(total - inner if effect == finest and inner is not None else total) / size
    if inner is not None:
        found[()] = inner
    return found


def _deviation(means: Floats, effect: tuple[int, ...]) -> Floats:
    """Return the interaction of some axes: the mean over the others, with every axis of the effect centred."""
    away = tuple(axis for axis in range(means.ndim) if axis not in effect)
    part = means.mean(axis=away, keepdims=True)
    for axis in effect:
        part = part - part.mean(axis=axis, keepdims=True)
    return np.asarray(part, dtype=np.float64)


def _part(own: Floats, pseudo: list[Floats], levels: tuple[int, ...], level: float, *, coarse: bool) -> CoarsePart:
    items = len(own)
    value = float(own.mean())
    between = float(own.var(ddof=1)) / items
    drawn = [_drawn(each) for each in pseudo]
    variance = between + sum(drawn)
    known = between**2 / effective_degrees(own) + sum(
        part**2 / (len(each) - 1) for part, each in zip(drawn, pseudo, strict=True)
    )
    degrees = max(variance**2 / known, 1.0) if known > _NOISE else 1.0
    reach = t_quantile(level, degrees) * variance**0.5
    flags = [FEW_EVENTS] if degrees < FEW or items < FEW_CLUSTERS else []
    unsure = any(len(each) < ENOUGH_LEVELS and part > variance / 4 for part, each in zip(drawn, pseudo, strict=True))
    few = any(number < (MANY_LEVELS if coarse else _LEAST) for number in levels)
    # Of more than three values intervals cover as stated with few judges; a flag would pick out those that are wide.
    if few or (coarse and unsure):
        flags.append(FEW_LEVELS)
    share = min(reach / value, 1.0) if value > 0 else 1.0
    stretch = float(np.expm1(share)) / share if share > 0 else 1.0
    return CoarsePart(
        low=max(value - reach, 0.0), high=value + stretch * reach, standard_error=variance**0.5, flags=tuple(flags)
    )


def _drawn(pseudo: Floats) -> float:
    """Estimate what the draw of a facet's levels adds, from pseudo-values of shape (levels, items)."""
    levels, items = pseudo.shape
    means = pseudo.mean(axis=1)
    centred = pseudo - means[:, None]
    own = float(np.square(centred).sum())
    shared = float(np.square(centred.sum(axis=0)).sum()) / levels
    sampling = (own - shared) / ((levels - 1) * (items - 1) * items)
    return float(max(float(means.var(ddof=1)) - sampling, 0.0) / levels)
