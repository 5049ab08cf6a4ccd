"""Compute generalizability coefficients and D-studies: how reliable a design is, and the cheapest that suffices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod, sqrt

from attrs import frozen

from jrh_stats.components import VarianceComponents
from jrh_stats.design import REPEAT


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
