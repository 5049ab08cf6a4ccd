"""Estimate variance components of scores in a crossed random-effects design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.clusters import cluster_sums
from jrh_stats.degrees import ENOUGH_LEVELS, FEW_LEVELS, effective_degrees, few_events
from jrh_stats.design import REPEAT, RESIDUAL, Design, read_design
from jrh_stats.moments import Moments
from jrh_stats.proportion import resample_totals
from jrh_stats.score_intervals import t_quantile, z_quantile

METHOD: Final = "cluster-bootstrap"
_NOISE: Final = 1e-9
"""Variances smaller than this share of the total are rounding error."""
_NO_INTERVAL: Final = "no-interval"
_GROUPS: Final = 200


@frozen(kw_only=True)
class VarianceComponent:
    """The variance of one effect, in the squared unit of the scores."""

    name: str
    """The facets joined by `:`, such as `item:judge`; `residual` for what is left."""
    facets: tuple[str, ...]
    """The facets the effect varies over; the residual's are all of them, and `repeat` where cells are repeated."""
    value: float
    """The estimate, 0 where the raw one is negative."""
    raw: float
    """The estimate before negative ones are set to 0."""
    low: float | None = None
    """Lower end of the interval; None where there is none."""
    high: float | None = None
    flags: tuple[str, ...] = ()
    """`few-events`, `few-levels`: coverage of this interval may be off; `no-interval`."""


@frozen(kw_only=True)
class VarianceComponents:
    """All components of one design."""

    components: tuple[VarianceComponent, ...]
    """Main effects, interactions by order, the residual last; empty where nothing can be estimated."""
    levels: Mapping[str, int]
    """Facet -> levels observed."""
    mean: float | None
    """The grand mean of the scores."""
    n: int = 0
    """Observations."""
    flags: tuple[str, ...] = ()
    """`empty`; `degenerate`: no effect can be told from the residual, or there is one object of measurement;
    `negative`: a raw estimate is below 0; `confounded`: no cell is repeated, so the residual holds the highest
    interaction; `no-interval`: no component has an interval; `single-level`: a facet has one level and says nothing."""

    def value(self, name: str) -> float:
        """Return a component by name, 0 where the design has no such effect."""
        return next((each.value for each in self.components if each.name == name), 0.0)


def variance_components(
    scores: ArrayLike,
    facets: Mapping[str, ArrayLike],
    *,
    object_of_measurement: str = "item",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> VarianceComponents:
    """Estimate the variance components of a random-effects design with crossed facets.

    Model: score = mean + sum of one independent random effect for every non-empty subset of the facets + residual.
    Observations that agree in all facets are repeats. Effects that the data cannot tell from another one (a facet with
    one level, a nested facet's interaction with what it is nested in, a highest interaction without repeats) are left
    out.

    The estimates are those of `Moments`: of balanced data the analysis of variance, else Henderson's method 1, unbiased
    both; negative ones are set to 0.

    Intervals: a cluster bootstrap. The levels of the object of measurement (items, which have to be independent) are
    drawn with replacement, as many as there are. With K of them, s the standard deviation of the estimates, t Student's
    quantile with the `effective_degrees` of the estimates without one of 200 groups of levels, and r = t s K / (K - 1),
    the interval goes from max(raw - r, 0) to raw + r (exp(x) - 1) / x, with x = r / raw, at most 1: estimates of
    variances are skewed. Percentiles of the same estimates covered 80 to 92%, BCa 83 to 91% (12 and 30 items).

    Judges, templates and other facets are not drawn: intervals are about those at hand. In simulations (600 studies per
    design, 30 to 200 items, 3 to 5 judges, complete or with a sixth missing) the variance of the judges at hand was
    covered 96 to 99% of the time, that of the population they came from 25 to 66%; of normal or skewed scores the
    components of items were covered 94 to 97%, of their interaction 96 to 98%, the residual 95 to 96%. Where a scale
    has few levels, a strict judge also sees less variance between items, so that the components of items and the
    residual are about the judges at hand, too: for others they were covered 80 to 94% (5 judges). `few-levels` says so:
    of effects without items where another facet has fewer than 30 levels, of all effects where scores have ten values
    or fewer. `few-events` with fewer than 30 items (12 items: 94%).

    Source: expected mean squares and D-studies: Brennan (2001), Generalizability Theory, chapters 3 to 5; method 1:
    Henderson (1953), Biometrics 9:226-252; cluster bootstrap: Davison and Hinkley (1997), Bootstrap Methods and their
    Application, section 3.8 (not consulted).

    Args:
        scores: the scores, shape (n,), finite.
        facets: facet -> level of every score, any sortable numpy values, shape (n,). `repeat` and `residual` are taken.
        object_of_measurement: the facet whose levels are resampled, independent of each other; without it among the
            facets no component has an interval.
        level: coverage.
        resamples: bootstrap samples.
        seed: draws them; the order of rows does not matter.

    Returns:
        The components.

    Raises:
        ValueError: the shapes differ, a score is not finite, there is no facet, or a name is taken.
    """
    z_quantile(level)
    design = read_design(scores, facets)
    levels = dict(design.levels)
    if not design.n:
        return VarianceComponents(components=(), levels=levels, mean=None, flags=("empty",))
    if not design.effects or not design.degrees_left or levels.get(object_of_measurement) == 1:
        return VarianceComponents(
            components=(), levels=levels, mean=design.mean, n=design.n, flags=("degenerate", *design.flags)
        )
    moments = Moments(design, object_of_measurement)
    raw = moments.estimate(moments.sums.sum(axis=0, keepdims=True))[0]
    raw = np.where(np.abs(raw) <= _NOISE * design.variance, 0.0, raw)
    spreads = _spreads(moments, resamples, seed) if object_of_measurement in design.facets else [None] * len(raw)
    parts = tuple(
        _component(name, own, float(value), spread, design, object_of_measurement, level)
        for (name, own), value, spread in zip(_names(design), raw, spreads, strict=True)
    )
    negative = ("negative",) if np.any(raw < 0) else ()
    none = (_NO_INTERVAL,) if all(part.low is None for part in parts) else ()
    return VarianceComponents(
        components=parts, levels=levels, mean=design.mean, n=design.n, flags=(*design.flags, *negative, *none)
    )


@frozen(kw_only=True)
class _Spread:
    """How well a component is known."""

    error: float
    """Standard error."""
    degrees: float


def _spreads(moments: Moments, resamples: int, seed: int) -> list[_Spread]:
    """Resample the units for standard errors, and leave out groups of them for degrees of freedom."""
    units = len(moments.sums)
    drawn = moments.estimate(resample_totals(moments.sums, resamples=resamples, seed=seed))
    without = moments.estimate(moments.sums.sum(axis=0) - cluster_sums(np.arange(units) % _GROUPS, *moments.sums.T))
    errors = drawn.std(axis=0, ddof=1) * units / (units - 1)
    return [
        _Spread(error=float(error), degrees=effective_degrees(estimates))
        for error, estimates in zip(errors, without.T, strict=True)
    ]


def _component(
    name: str, facets: tuple[str, ...], raw: float, spread: _Spread | None, design: Design, unit: str, level: float
) -> VarianceComponent:
    value = max(raw, 0.0)
    if spread is None or spread.error <= _NOISE * design.variance:
        return VarianceComponent(name=name, facets=facets, value=value, raw=raw, flags=(_NO_INTERVAL,))
    reach = t_quantile(level, spread.degrees) * spread.error
    share = min(reach / value, 1.0) if value > 0 else 1.0
    flags = few_events(design.levels[unit], design.levels[unit])
    few = any(design.levels[facet] < ENOUGH_LEVELS for facet in design.facets if facet != unit)
    if few and (design.graded or unit not in facets):
        flags = (*flags, FEW_LEVELS)
    return VarianceComponent(
        name=name,
        facets=facets,
        value=value,
        raw=raw,
        low=max(raw - reach, 0.0),
        high=max(raw + float(np.expm1(share)) / share * reach, 0.0),
        flags=flags,
    )


def _names(design: Design) -> list[tuple[str, tuple[str, ...]]]:
    inside = (*design.facets, REPEAT) if design.repeated else design.facets
    return [*((":".join(effect), effect) for effect in design.effects), (RESIDUAL, inside)]
