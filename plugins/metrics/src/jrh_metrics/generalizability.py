"""Metric `generalizability`: variance components, dependability of one verdict, and the cheapest sufficient design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh_measuring import Basis, Cell, Codes, Floats, Mask, MeasureBuilder, Trials, is_named, tasks_of_all_judges
from jrh_stats import DStudy, Estimate, VarianceComponents, cheapest_design, d_study, variance_components

from jrh_metrics.options import GeneralizabilityOptions

_FACETS: Final = ("item", "judge", "template", "order", "temperature", "seed", "output")
_WHERE_VARIED: Final = ("temperature", "seed", "output")
"""Facets only of tasks in which they vary."""
_REPEAT: Final = "repeat"
_LEVELS: Final = (1, 2, 3, 4, 5, 6, 8, 10)
"""Floats of levels per facet that the search for a design tries."""
_TWO: Final = 2
_ONE: Final = "for one verdict per item; no interval, because the components have their own"
_CONSTANT: Final = "all verdicts have the same score: there is no variance"
_UNORDERED: Final = "unordered labels have no variance; two labels, ordered levels or a pairwise scale are required"
_NOTHING: Final = (
    "no effect is separable from the residual; two items, and two judges, templates or repeats are required"
)


@frozen
class Generalizability:
    """Estimate how much variance comes from items, judges, templates, orders, temperatures, seeds and repeats.

    Verdicts as numbers: the rank on an ordinal scale, 1 for the first of two labels, 1/2 for a tie. Counted are the
    reference condition, and tests that change template, option order, temperature, a fixed seed or output mode and
    expect the same verdict. `jrh_stats.variance_components` has the formulas, and how often its intervals cover: they
    are about the judges and templates at hand, and flagged where those are few. Of a cluster of items the one with the
    most verdicts counts: items of a cluster are neither independent nor repeats of each other.
    """

    options: GeneralizabilityOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `variance` per component, `generalizability`, `dependability` and `cheapest-design`, per task."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        conditions = {
            "template": trials.column("template").codes,
            "order": trials.conditions.order.codes,
            "temperature": trials.temperature.codes,
            "seed": trials.column("seed").codes,
            "output": trials.column("output").codes,
        }
        stated = (*map(trials.column, ("template", "option_order", "seed", "output")), trials.temperature)
        asked_otherwise = np.any([~is_named(column, "") for column in stated], axis=0)
        # Where another verdict is due, a difference is an effect of the test and no noise of the judge.
        counted = trials.reference | (asked_otherwise & is_named(trials.expectation, "same"))
        for cell in tasks_of_all_judges(trials):
            if cell.task in context.tasks:
                rows = cell.rows[counted[cell.rows]]
                yield from self._of_task(builder, cell, rows, conditions, _price(trials.records, rows))

    def _of_task(
        self, builder: MeasureBuilder, cell: Cell, rows: Codes, conditions: dict[str, Codes], price: float | None
    ) -> Iterator[Measure]:
        trials, scale = builder.trials, builder.context.tasks[cell.task].scale
        scores = _scores(trials, scale)
        scored = trials.usable & ~np.isnan(scores)
        rows = _one_of_each_cluster(trials, rows, scored)
        usable = rows[scored[rows]]
        basis = Basis(cell, rows, usable)
        # One item is left of each cluster, so that clusters are the items.
        columns = {"item": trials.cluster.codes, "judge": trials.judge.codes, **conditions}
        # A facet with one level has no variance to estimate.
        for name in _WHERE_VARIED:
            if not len(usable) or not np.ptp(conditions[name][usable]):
                del columns[name]
        facets = {name: column[usable] for name, column in columns.items()}
        context = builder.context
        study = variance_components(
            scores[usable], facets, level=context.level, resamples=context.resamples, seed=builder.seed(cell)
        )
        flags = tuple(flag for flag in study.flags if flag not in ("empty", "single-level"))
        none = _UNORDERED if np.all(np.isnan(scores[rows])) and len(usable) < len(rows) else _NOTHING

        def build(name: str, estimate: Estimate, unit: str, note: str = "", part: str = "") -> Measure:
            text = note if estimate.value is not None else note or none
            about = basis.part({"component": part} if part else {})
            return builder.measure(name, about, estimate, flags=flags, note=text, unit=unit)

        most = _largest_variance(scale)
        for component in study.components:
            # No variance of scores is larger than that of half of them at each end of the scale.
            high = component.high if component.high is None else max(min(component.high, most), component.value)
            estimate = Estimate(
                value=component.value,
                low=component.low,
                high=high,
                method="cluster-bootstrap",
                flags=component.flags,
            )
            yield build("variance", estimate, "squared score", part=component.name)
        # Without a component of items nothing says how far verdicts tell items apart.
        first = next(iter(study.components), None)
        single = d_study(study, {}) if first is not None and "item" in first.facets else None
        for name in ("generalizability", "dependability"):
            estimate = Estimate(value=getattr(single, name) if single else None)
            # Without any variance one design is as good as another, and there is no ratio to tell.
            note = _ONE if estimate.value is not None else _CONSTANT if single else ""
            yield build(name, estimate, "coefficient", note)
        best = _cheapest(study, price, self.options) if single else None
        note = _describe_design(best, price, self.options) if single else ""
        yield build("cheapest-design", Estimate(value=float(best.calls) if best else None), "calls", note)


def _one_of_each_cluster(trials: Trials, rows: Codes, scored: Mask) -> Codes:
    """Return the trials of one item of each cluster: the one with the most verdicts, of equals the first."""
    if trials.cluster is trials.item:
        return rows
    items, first = np.unique(trials.item.codes[rows], return_index=True)
    clusters = trials.cluster.codes[rows[first]]
    verdicts = np.bincount(trials.item.codes[rows], weights=scored[rows])[items]
    order = np.lexsort((items, -verdicts, clusters))
    chosen = items[order][np.unique(clusters[order], return_index=True)[1]]
    return rows[np.isin(trials.item.codes[rows], chosen)]


def _scores(trials: Trials, scale: Scale) -> Floats:
    """Return every verdict as a number; NaN if it has none."""
    numbers = np.full(len(trials.labels) + 1, np.nan)
    for place, label in enumerate(trials.labels):
        if label not in scale:
            continue
        if scale.ordered:
            numbers[place] = scale.rank(label)
        elif len(scale.options) == _TWO:
            # A tie is halfway between the two options.
            numbers[place] = 0.5 if label == scale.tie else float(label == scale.options[0])
    return numbers[trials.label]


def _largest_variance(scale: Scale) -> float:
    """Return the maximum variance of scores on the scale, (greatest - least)^2 / 4 (Popoviciu's inequality)."""
    numbers = [float(scale.rank(label)) for label in scale.labels] if scale.ordered else [0.0, 1.0]
    return float(np.ptp(numbers)) ** 2 / 4


def _price(records: RecordTable, rows: Codes) -> float | None:
    """Return the mean price of the calls of known price; None if there are none."""
    if "cost" not in records.columns:
        return None
    known = records.number("cost")[rows]
    # Sorted: the order of addition must not show in the last digit.
    known = np.sort(known[~np.isnan(known)])
    return float(known.mean()) if len(known) else None


def _cheapest(found: VarianceComponents, price: float | None, wished: GeneralizabilityOptions) -> DStudy | None:
    # Only facets that were varied have a variance that more levels could average out.
    varied = [name for name in _FACETS[1:] if found.levels.get(name, 0) > 1]
    if any(_REPEAT in component.facets for component in found.components):
        varied.append(_REPEAT)
    choices = dict.fromkeys(varied, _LEVELS)
    # Without a price a call costs 1: the cheapest design is the one with the fewest calls.
    if wished.wished_error is not None:
        return cheapest_design(found, choices, price=price or 1.0, standard_error=wished.wished_error)
    return cheapest_design(found, choices, price=price or 1.0, dependability=wished.wished_dependability)


def _describe_design(best: DStudy | None, price: float | None, wished: GeneralizabilityOptions) -> str:
    if best is None:
        goal = f"dependability of {wished.wished_dependability:g}"
        if wished.wished_error is not None:
            goal = f"standard error of {wished.wished_error:g}"
        return f"no design of up to {_LEVELS[-1]} levels of each facet reaches a {goal}"
    design = ", ".join(f"{number} {name}{'s' * (number > 1)}" for name, number in best.design.items()) or "one call"
    cost = f"${best.calls * price:.4g} per item" if price is not None else "price unknown"
    reached = f"dependability {best.dependability or 0.0:.3f}, standard error {best.absolute_error:.3f}"
    return f"{reached} with {design}; {cost}"
