"""Estimate variance components, and from them generalizability coefficients and D-studies.

These say how reliable a design is, and which is the cheapest that suffices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod, sqrt
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import cluster_sums
from jrh_stats.degrees import ENOUGH_LEVELS, FEW_LEVELS, effective_degrees, few_events
from jrh_stats.design import REPEAT, RESIDUAL, Design, read_design
from jrh_stats.proportion import resample_totals
from jrh_stats.score_intervals import t_quantile, z_quantile

_NOISE: Final = 1e-9
"""Variances smaller than this share of the total are rounding error."""
_NO_INTERVAL: Final = "no-interval"
# Each group takes a solution of the equations, and there may be any number of units.
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
        return next((component.value for component in self.components if component.name == name), 0.0)


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
    if not design.effects or levels.get(object_of_measurement) == 1:
        return VarianceComponents(
            components=(), levels=levels, mean=design.mean, n=design.n, flags=("degenerate", *design.flags)
        )
    moments = Moments(design, object_of_measurement)
    raw = moments.estimate(moments.sums.sum(axis=0, keepdims=True))[0]
    # Rounding of a variance that is 0 is not a negative estimate, and gets no flag.
    raw = np.where(np.abs(raw) <= _NOISE * design.variance, 0.0, raw)
    spreads = _spreads(moments, resamples, seed) if object_of_measurement in design.facets else [None] * len(raw)
    parts = tuple(
        _component(name, facets_of, float(value), spread, design, object_of_measurement, level)
        for (name, facets_of), value, spread in zip(_names(design), raw, spreads, strict=True)
    )
    negative = ("negative",) if np.any(raw < 0) else ()
    none = (_NO_INTERVAL,) if all(part.low is None for part in parts) else ()
    return VarianceComponents(
        components=parts, levels=levels, mean=design.mean, n=design.n, flags=(*design.flags, *negative, *none)
    )


def _spreads(moments: Moments, resamples: int, seed: int) -> list[tuple[float, float]]:
    """Resample the units for standard errors, and leave out groups of them for degrees of freedom."""
    units = len(moments.sums)
    # Units drawn whole, with all that belongs to them.
    drawn = moments.estimate(resample_totals(moments.sums, resamples=resamples, seed=seed))
    without = moments.estimate(moments.sums.sum(axis=0) - cluster_sums(np.arange(units) % _GROUPS, *moments.sums.T))
    errors = drawn.std(axis=0, ddof=1) * units / (units - 1)
    return [(float(error), effective_degrees(values)) for error, values in zip(errors, without.T, strict=True)]


def _component(
    name: str,
    facets: tuple[str, ...],
    raw: float,
    spread: tuple[float, float] | None,
    design: Design,
    unit: str,
    level: float,
) -> VarianceComponent:
    value = max(raw, 0.0)
    # Without any spread over resamples, an interval would have no width and claim certainty.
    if spread is None or spread[0] <= _NOISE * design.variance:
        return VarianceComponent(name=name, facets=facets, value=value, raw=raw, flags=(_NO_INTERVAL,))
    reach = t_quantile(level, spread[1]) * spread[0]
    # Estimates of variances are skewed: the upper end reaches further, by at most e - 1.
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
    inside = (*design.facets, REPEAT) if design.has_repeats else design.facets
    return [*((":".join(effect), effect) for effect in design.effects), (RESIDUAL, inside)]


_RANK: Final = 1e-12
"""Equations that are weaker than this, relative to the strongest, say nothing."""


@frozen(kw_only=True, eq=False)
class _Effect:
    """The levels of an effect."""

    levels: Codes
    """Level of every cell, shape (cells,)."""
    own: bool
    """Whether every level belongs to one unit."""

    def cross(self, other: _Effect) -> _Effect:
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
            _Effect(levels=levels, own=unit in effect) for effect, levels in design.effects.items()
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
            expected = [self._ratios(effect, effect.cross(other), design.counts, counts, numbers) for other in effects]
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
        for row, (squares, expected, numbers, of_units) in enumerate(self._terms):
            observed[:, row] = squares.of(totals)
            for column, part in enumerate(expected):
                matrix[:, row, column] = part.of(totals)
            levels = totals[:, numbers]
            # A unit that is drawn twice is two levels; a level of another facet is one, however often its observations
            # come.
            matrix[:, row, size] = (levels if of_units else levels > 0).sum(axis=1)
        matrix[:, size] = totals[:, self._n]
        observed[:, size] = totals[:, self._squares[0]]
        # A resample may lack what tells two effects apart: the pseudo-inverse then divides the sum between them.
        solved = np.linalg.pinv(matrix, rcond=_RANK) @ observed[:, :, None]
        return np.asarray(solved[:, 1:, 0], dtype=np.float64)

    def _ratios(self, outer: _Effect, inner: _Effect, values: Floats, counts: Floats, numbers: Codes) -> _Ratios:
        """Say where (sum of values in a level of `inner`)^2 / (count of its level of `outer`) are, for all levels."""
        first = np.unique(inner.levels, return_index=True)[1]
        above, unit, squares = outer.levels[first], self._unit[first], np.square(np.bincount(inner.levels, values))
        # A level of one unit is drawn with it: its square is summed beforehand, and the columns stay few.
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


@frozen(kw_only=True)
class DStudy:
    """The reliability and cost of a design with given numbers of levels."""

    design: Mapping[str, int]
    """Facet -> levels every object is measured under."""
    generalizability: float | None
    """E rho^2: for ranking objects; None where nothing varies."""
    dependability: float | None
    """Phi: for the score itself; None where nothing varies."""
    relative_error: float
    """Standard error of a difference from the mean, sigma(delta), in the unit of the scores."""
    absolute_error: float
    """Standard error of the score itself, sigma(Delta), in the unit of the scores."""
    calls: int
    """Calls per object: the product of the numbers of levels."""
    cost: float
    """Price of one object."""


def d_study(
    components: VarianceComponents,
    design: Mapping[str, int],
    *,
    object_of_measurement: str = "item",
    price: float = 1.0,
) -> DStudy:
    """Compute the coefficients of a design from variance components.

    With n'_f levels of every facet f, components divided by the product of the n' they vary over:

        universe score variance  tau   = object
        relative error variance  delta = effects of the object and at least one facet
        absolute error variance  Delta = all effects with at least one facet
        E rho^2 = tau / (tau + delta),   Phi = tau / (tau + Delta)

    Source: Brennan (2001), Generalizability Theory, chapters 2 to 5; with one facet E rho^2 is ICC(3,k) and Phi is
    ICC(2,k) of Shrout and Fleiss (1979), Psychological Bulletin 86:420-428.

    Args:
        components: as `variance_components` returns them.
        design: facet -> levels; facets left out have 1. `repeat` is a facet where the data hold repeats.
        object_of_measurement: the facet that is measured.
        price: of one call.

    Raises:
        ValueError: a facet is unknown, a number of levels is below 1, or the object is among the design's facets.
    """
    _check(components, design, object_of_measurement)
    universe = relative = absolute = 0.0
    for part in components.components:
        facets = [facet for facet in part.facets if facet != object_of_measurement]
        share = part.value / prod(design.get(facet, 1) for facet in facets)
        has_object = object_of_measurement in part.facets
        # A component is error where it varies over a facet; the design's levels of all such facets average it out.
        universe += share if has_object and not facets else 0.0
        relative += share if has_object and facets else 0.0
        absolute += share if facets else 0.0
    calls = prod(design.values())
    return DStudy(
        design=dict(design),
        generalizability=_ratio(universe, relative),
        dependability=_ratio(universe, absolute),
        relative_error=sqrt(relative),
        absolute_error=sqrt(absolute),
        calls=calls,
        cost=calls * price,
    )


def cheapest_design(
    components: VarianceComponents,
    choices: Mapping[str, Sequence[int]],
    *,
    object_of_measurement: str = "item",
    price: float = 1.0,
    generalizability: float | None = None,
    dependability: float | None = None,
    standard_error: float | None = None,
) -> DStudy | None:
    """Find the cheapest design that reaches the required reliability or precision.

    Combinations of the choices are tried from the cheapest on. Of designs that cost the same the one with the smaller
    absolute error is returned, then the one with fewer levels of the facets named first.

    Args:
        components: as `variance_components` returns them.
        choices: facet -> numbers of levels to consider.
        object_of_measurement: the facet that is measured.
        price: of one call.
        generalizability: smallest acceptable E rho^2.
        dependability: smallest acceptable Phi.
        standard_error: largest acceptable sigma(Delta), in the unit of the scores.

    Returns:
        The design, or None if none of the choices suffices.

    Raises:
        ValueError: no requirement is given, or as for `d_study`.
    """
    if generalizability is None and dependability is None and standard_error is None:
        raise ValueError("say what the design has to reach: give generalizability, dependability or standard_error")
    best: tuple[tuple[float, ...], DStudy] | None = None
    for numbers in sorted(product(*choices.values()), key=prod):
        # Sorted by calls: all that cost the same are compared, and nothing dearer is.
        if best is not None and prod(numbers) > best[1].calls:
            break
        design = dict(zip(choices, numbers, strict=True))
        study = d_study(components, design, object_of_measurement=object_of_measurement, price=price)
        enough = (
            _reaches(study.generalizability, generalizability)
            and _reaches(study.dependability, dependability)
            and (standard_error is None or study.absolute_error <= standard_error)
        )
        key = (study.absolute_error, *numbers)
        if enough and (best is None or key < best[0]):
            best = (key, study)
    return None if best is None else best[1]


def _reaches(value: float | None, wished: float | None) -> bool:
    return wished is None or (value is not None and value >= wished)


def _ratio(universe: float, error: float) -> float | None:
    return universe / (universe + error) if universe + error > 0 else None


def _check(components: VarianceComponents, design: Mapping[str, int], object_of_measurement: str) -> None:
    known = {*components.levels, *(REPEAT for part in components.components if REPEAT in part.facets)}
    if object_of_measurement not in components.levels:
        raise ValueError(f"the object of measurement '{object_of_measurement}' is not a facet of the components")
    for facet in design:
        if facet not in known or facet == object_of_measurement:
            raise ValueError(f"'{facet}' is not a facet that a design can vary; available: {', '.join(sorted(known))}")
    if any(number < 1 for number in design.values()):
        raise ValueError("a design needs at least one level of every facet")
