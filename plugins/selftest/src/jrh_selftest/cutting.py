"""Plant variance components of scores with few levels: normal effects, cut at thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

import numpy as np
from jrh_stats import Estimate, icc, variance_components
from numpy.typing import NDArray

from jrh_selftest.arrays import components_by_name
from jrh_selftest.checks import ArrayCheck

_SHARES: Final = {"item": 0.45, "judge": 0.1, "item:judge": 0.2, "residual": 0.25}
"""Planted variances of the normal scores; they sum to 1."""
_CUTS: Final[Mapping[int, tuple[float, ...]]] = {2: (0.5,), 3: (-0.5, 0.7), 5: (-1.0, -0.3, 0.4, 1.1)}
"""Levels of the scale -> thresholds."""
_JUDGES: Final = 5
_NODES: Final = 64


def cut_checks() -> Iterator[ArrayCheck]:
    """Yield the variance components of scales with 2, 3 and 5 levels, and the ICC of those with 2."""
    for levels in _CUTS:
        planted = components(levels)
        draw = partial(_components, levels=levels, items=200)
        for name, value in planted.items():
            yield ArrayCheck(where=f"{levels} levels, 200 items", name=f"variance of {name}", planted=value, draw=draw)
    for items in (60, 200):
        yield ArrayCheck(
            where=f"2 levels, {items} items", name="ICC(2,1)", planted=_icc(2), draw=partial(_agreement, items=items)
        )


def components(levels: int) -> Mapping[str, float]:
    """Return the variance components of the cut scores: differences of covariances of scores that share effects."""
    item = covariance(levels, _SHARES["item"])
    judge = covariance(levels, _SHARES["judge"])
    cell = covariance(levels, 1 - _SHARES["residual"])
    return {
        "item": item,
        "judge": judge,
        "item:judge": cell - item - judge,
        "residual": variance(levels) - cell,
    }


def covariance(levels: int, correlation: float) -> float:
    """Return the covariance of two cut standard normal scores with a correlation.

    Its derivative in the correlation is the sum of the bivariate normal densities at all pairs of thresholds (Plackett
    1954); it is 0 at 0.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    r = correlation * (nodes + 1) / 2
    cuts = np.array(_CUTS[levels])
    a, b = cuts[:, None, None], cuts[None, :, None]
    density = np.exp(-(a**2 - 2 * r * a * b + b**2) / (2 * (1 - r**2))) / (2 * np.pi * np.sqrt(1 - r**2))
    return float((density.sum(axis=(0, 1)) * weights).sum() * correlation / 2)


def variance(levels: int) -> float:
    """Return the variance of the cut scores."""
    from statistics import NormalDist

    edges = [0.0, *(NormalDist().cdf(cut) for cut in _CUTS[levels]), 1.0]
    shares, codes = np.diff(edges), np.arange(levels)
    return float(shares @ codes**2 - (shares @ codes) ** 2)


def _icc(levels: int) -> float:
    return covariance(levels, _SHARES["item"]) / variance(levels)


def draw_scores(rng: np.random.Generator, *, levels: int, items: int, repeats: int) -> NDArray[np.float64]:
    """Draw cut scores, shape (items, judges, repeats)."""
    shapes = {"item": (items, 1, 1), "judge": (1, _JUDGES, 1), "item:judge": (items, _JUDGES, 1)}
    effects = [np.sqrt(_SHARES[name]) * rng.standard_normal(shape) for name, shape in shapes.items()]
    rest = np.sqrt(_SHARES["residual"]) * rng.standard_normal((items, _JUDGES, repeats))
    return np.asarray(np.digitize(sum(effects, rest), _CUTS[levels]), dtype=np.float64)


def _components(rng: np.random.Generator, *, levels: int, items: int) -> Mapping[str, Estimate]:
    scores = draw_scores(rng, levels=levels, items=items, repeats=2)
    place = np.indices(scores.shape).reshape(3, -1)
    return components_by_name(variance_components(scores.ravel(), {"item": place[0], "judge": place[1]}))


def _agreement(rng: np.random.Generator, *, items: int) -> Estimate:
    return icc(draw_scores(rng, levels=2, items=items, repeats=1)[:, :, 0], "2,1")
