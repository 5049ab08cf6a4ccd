"""Metric `gain-over-commonest`: accuracy beyond always giving one label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Interval, Measure, MetricContext, RecordTable
from jrh_measuring import (
    BOUNDED,
    INFORMATIVE_MISSING,
    UNTESTABLE_MISSING,
    Cell,
    Codes,
    MeasureBuilder,
    MetricOptions,
    Scores,
    against_gold,
    cells_of,
    is_swayed,
    is_untestable,
)
from jrh_stats import gain_over_constant

_LIMITS: Final = (-1.0, 1.0)


@frozen
class GainOverCommonest:
    """Measure gold accuracy minus the share of the most common gold label, paired on the same items.

    The interval allows for the most common label not being known: see `jrh_stats.gain_over_constant`. Where verdicts
    are not missing at random, or nothing can tell, it reaches from the gain with every missing verdict wrong to that
    with every one right. Reported for the reference condition.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `gain-over-commonest` per task and judge."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores = against_gold(builder.trials)
        for cell in cells_of(builder.trials):
            if cell.test == REFERENCE:
                yield _measure_cell(builder, cell, scores)


def _measure_cell(builder: MeasureBuilder, cell: Cell, scores: Scores) -> Measure:
    trials = builder.trials
    basis = builder.basis(cell, scores)
    usable = basis.usable
    gain = gain_over_constant(
        scores.value[usable], trials.gold[usable], trials.cluster.codes[usable], level=builder.context.level
    )
    # Only one gold label: a constant judge is always right, and no judge can be better.
    single = len(np.unique(trials.gold[usable])) == 1
    flags = ("constant-gold",) if single else ()
    note = "" if len(usable) else "no verdict on an item with a gold label"
    measure = builder.measure("gain-over-commonest", basis, gain, flags=flags, note=note, unit="difference")
    return _allow_for_missing(measure, builder, basis.rows, scores)


def _allow_for_missing(measure: Measure, builder: MeasureBuilder, rows: Codes, scores: Scores) -> Measure:
    """Allow for any missing verdicts where they are not, or may not be, missing at random: all wrong, and all right."""
    untestable = INFORMATIVE_MISSING not in measure.flags and is_untestable(builder.trials, rows)
    sides = scores.sides(rows)
    if not (untestable or INFORMATIVE_MISSING in measure.flags) or sides is None:
        return measure
    trials, level = builder.trials, builder.context.level
    # Both by the same estimator: its interval allows for the most common label not being known.
    worst, best = (
        gain_over_constant(side, trials.gold[rows], trials.cluster.codes[rows], level=level) for side in sides
    )
    if worst.value is None or worst.low is None or best.value is None or best.high is None:
        return measure
    interval = Interval(low=worst.low, high=best.high, level=level, method=BOUNDED)
    with_bounds = evolve(measure, bounds=(worst.value, best.value))
    if not untestable:
        return evolve(with_bounds, interval=interval)
    # Where nothing can be tested, lost verdicts that cannot move the gain are not worth a wide interval.
    if not is_swayed(with_bounds, _LIMITS):
        return measure
    return evolve(with_bounds, interval=interval, flags=(*with_bounds.flags, UNTESTABLE_MISSING))
