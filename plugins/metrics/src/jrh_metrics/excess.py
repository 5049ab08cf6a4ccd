"""Metric `noise-excess`: disagreement of a condition with the reference, beyond rerun noise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    INFORMATIVE_MISSING,
    Basis,
    Cell,
    Codes,
    MeasureBuilder,
    ReferenceVerdicts,
    Tested,
    Trials,
    cells_of,
    combine_codes,
    comparable_trials,
    condition_codes,
    p_values,
    reference_verdicts,
    sensitive,
    widen,
)
from jrh_stats import Bounds, excess_bounds, excess_decision, excess_equivalence, excess_limits, parts_of
from numpy.typing import NDArray

from jrh_metrics.changes import equivalence_measures
from jrh_metrics.options import EquivalenceOptions, FullOptions

_NOTHING: Final = "no item has two verdicts in the reference condition and one in the test"
_TEST: Final = (
    "one-sided permutation test within items; alternative: the condition changes verdicts more than reruns do"
)
_FAMILY: Final = "the tests of this judge and task"
_EXCESS: Final = "excess-disagreement"
_LIMITS: Final = (-0.5, 1.0)
_BORROWED: Final = (
    "the test has no repeats; the reference's rerun disagreement is used instead of its own, so half of any noise that "
    "the test adds counts as excess"
)


@frozen
class NoiseExcess:
    """Measure how much more verdicts differ from the reference than reruns differ from each other.

    The excess, and the p-value of a permutation test, as one decision: the interval is above 0 exactly where the
    p-value is below 1 minus its level. With `all` also the raw disagreement and the noise floor over the same items,
    and the p-values adjusted over the tests of a judge by Holm and by Benjamini and Hochberg.
    """

    options: FullOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per task, judge and test other than the reference, and per factor of `by`."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        # p-values are adjusted over the tests of one judge in one task.
        for _, cells in groupby(cells_of(builder.trials, self.options.by), key=lambda cell: (cell.task, cell.judge)):
            family: list[Tested] = []
            for cell in cells:
                if cell.test != REFERENCE:
                    yield from _measure_cell(
                        builder, cell, reference, family, everything=bool(self.options.all or self.options.also)
                    )
            yield from p_values(
                builder, _EXCESS, family, test=_TEST, over=_FAMILY, nothing=_NOTHING, adjusted=self.options.all
            )


@frozen
class ExcessEquivalence:
    """Test whether a test changes verdicts by no more than a declared margin beyond reruns; the answer is in `flags`.

    `equivalent`: it does not; `different`: it changes them by more; `undecided`: the data do not say. The interval has
    the coverage 1 - 2 alpha, and decides.
    """

    options: EquivalenceOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `excess-equivalence` per task, judge and test, and per factor of `by`; its p-value per test."""
        options = self.options
        margin = context.margin if options.margin is None else options.margin
        builder = MeasureBuilder.of(records, context, options).at(1 - 2 * options.alpha)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials, options.by):
            if cell.test == REFERENCE:
                continue
            basis, counts, clusters = _select(builder.trials, cell, reference)
            result = excess_equivalence(counts, clusters, margin=margin, alpha=options.alpha)
            note = f"margin {margin:g}" if len(basis.usable) else _NOTHING
            yield from equivalence_measures(builder, "excess-equivalence", basis, result, margin=margin, note=note)


_Selection: TypeAlias = tuple[Basis, NDArray[np.int32], Codes]
"""The trials, their counts (`_counts`), and the cluster of every question that is counted."""


def _select(trials: Trials, cell: Cell, reference: ReferenceVerdicts) -> _Selection:
    """Return the trials of a cell that are compared, and what is counted of those that an excess can rest on."""
    rows = cell.rows[comparable_trials(trials)[cell.rows]]
    # With one reference verdict of an item nothing tells its noise from a change.
    usable = rows[trials.usable[rows] & reference.at_least(2, rows)]
    clusters = trials.cluster.codes[usable[_first(reference, usable)]]
    return Basis(cell, rows, usable), _counts(trials, reference, usable), clusters


def _measure_cell(
    builder: MeasureBuilder, cell: Cell, reference: ReferenceVerdicts, family: list[Tested], *, everything: bool
) -> Iterator[Measure]:
    """Yield the measures of a cell; the test of a whole test joins the family, that of a part does not."""
    trials, context = builder.trials, builder.context
    basis, counts, clusters = _select(trials, cell, reference)
    decision, test = excess_decision(
        counts, clusters, level=context.level, resamples=context.resamples, seed=builder.seed(cell)
    )
    if context.one_sided:
        # A gate needs limits that hold for any number of clusters.
        decision = evolve(decision, excess=excess_limits(counts, clusters, level=context.level))
    nothing = "" if len(basis.usable) else _NOTHING
    bounds = _bounds(builder, cell, reference, basis.rows)
    components = (("disagreement", decision.raw), ("noise-floor", decision.floor)) if everything else ()
    for name, estimate in (*components, (_EXCESS, decision.excess)):
        # Without repeats of the test its own noise is not known: a reader has to know what it was taken for.
        note = _BORROWED if "reference-floor" in estimate.flags else nothing
        unit = "proportion" if name != _EXCESS else "difference"
        measure = builder.measure(name, basis, estimate, note=note, unit=unit)
        yield measure if name != _EXCESS else sensitive(_within(measure, bounds), _LIMITS)
    # A part of a test repeats the evidence of the whole, and would be a second member of the family for it.
    if cell.levels:
        alone = [Tested(basis=basis, p=test.p)]
        yield from p_values(builder, _EXCESS, alone, test=_TEST, over="", nothing=_NOTHING)
    else:
        family.append(Tested(basis=basis, p=test.p, least=test.least))


def _first(reference: ReferenceVerdicts, usable: Codes) -> Codes:
    """Return the place of the first trial of every question, in the order of the questions."""
    places = np.full(len(reference.counts), -1, dtype=np.int32)
    places[reference.of[usable[::-1]]] = np.arange(len(usable) - 1, -1, -1, dtype=np.int32)  # the first is written last
    return places[places >= 0]


def _counts(trials: Trials, reference: ReferenceVerdicts, usable: Codes) -> NDArray[np.int32]:
    """Count the answers per item, group and label; group 0 is the reference, each other a condition.

    Only reruns are in one group. Several texts of one item under one condition are in several.
    """
    first = _first(reference, usable)
    item = combine_codes(reference.of[usable]).astype(np.int32)
    group = _groups(trials, item, usable).astype(np.int32)
    groups = int(group.max(initial=0)) + 2
    counts = np.zeros((len(first), groups, len(trials.labels)), dtype=np.int32)
    for part in parts_of(len(usable)):
        np.add.at(counts, (item[part], 1 + group[part], trials.label[usable[part]]), 1)
    counts[:, 0, :] = reference.counts[reference.of[usable[first]]]
    # Labels that do not occur cost time and change nothing.
    used = counts.any(axis=(0, 1))
    return counts if used.all() else counts[:, :, used]


def _bounds(builder: MeasureBuilder, cell: Cell, reference: ReferenceVerdicts, rows: Codes) -> Bounds | None:
    """Bound the excess by what the missing verdicts of both sides could have been; None where none is missing."""
    trials = builder.trials
    # An item asked once in the reference has no noise floor, whatever its verdict had been.
    repeated = rows[(reference.trials > 1)[reference.of[rows]]]
    answered = reference.verdict_counts == reference.trials
    if not len(repeated) or (trials.usable[repeated].all() and answered[reference.of[repeated]].all()):
        return None
    items, first, item = np.unique(reference.of[repeated], return_index=True, return_inverse=True)
    group = _groups(trials, item, repeated)
    width, groups = len(trials.labels), int(group.max()) + 2
    place = item * groups + 1 + group
    there = trials.usable[repeated]
    flat = np.bincount(place[there] * width + trials.label[repeated[there]], minlength=len(items) * groups * width)
    counts = flat.reshape(len(items), groups, width)
    missing = np.bincount(place[~there], minlength=len(items) * groups).reshape(len(items), groups)
    counts[:, 0, :] = reference.counts[items]
    missing[:, 0] = (reference.trial_counts - reference.usable)[repeated[first]]
    scale = builder.context.tasks.get(cell.task)
    # A missing verdict could have been any label of the scale, also one that does not occur.
    labels = width if scale is None else max(len(scale.scale.labels), int(counts.any(axis=(0, 1)).sum()))
    clusters = trials.cluster.codes[repeated[first]]
    return excess_bounds(counts, missing, clusters, n_labels=labels, level=builder.context.level)


def _within(measure: Measure, bounds: Bounds | None) -> Measure:
    """Return the excess with its bounds, and with their interval where verdicts are missing for a reason.

    Both are widened to hold the estimate, which rests on the verdicts that are there.
    """
    value = measure.estimate
    if bounds is None or value is None:
        return measure
    # The bounds rest on all planned verdicts and the estimate on the usable ones: it may lie outside of them.
    bounded = evolve(measure, bounds=(min(bounds.low, value), max(bounds.high, value)))
    if INFORMATIVE_MISSING not in measure.flags or bounds.interval is None:
        return bounded
    return widen(bounded, *bounds.interval)


def _groups(trials: Trials, item: Codes, usable: Codes) -> Codes:
    """Number condition and case, where the cases of an item under one condition are counted from 0."""
    condition = condition_codes(trials)[usable]
    question = combine_codes(item, condition)
    of = combine_codes(question, trials.case.codes[usable])
    case = np.zeros(int(of.max(initial=-1)) + 1, dtype=np.int64)
    case[of] = question
    # Sorted by item and condition: the place among the cases that share both.
    place = np.arange(len(case)) - np.searchsorted(case, case)
    return combine_codes(condition, place[of])
