"""Disagreement of a condition with the reference in excess of rerun noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh.stats import excess_disagreement, excess_permutation_test
from numpy.typing import NDArray

from jrh_metrics.cells import Cell, cells_of
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.options import MetricOptions
from jrh_metrics.reference import ReferenceVerdicts, reference_verdicts
from jrh_metrics.trials import Codes, Trials

_NOTHING: Final = "no item has two verdicts in the reference condition and one in the test"
_TWO: Final = 2
_BORROWED: Final = "the test asks once: its own rerun disagreement is taken to be the reference's"


@frozen
class NoiseExcess:
    """How much more verdicts differ from the reference than reruns differ from each other.

    Raw disagreement, noise floor and excess side by side, over the same items, and the p-value of a permutation test.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the four measures per task, judge and test other than the reference, and per variant."""
        builder = MeasureBuilder.of(records, context, self.options)
        reference = reference_verdicts(builder.trials)
        for cell in cells_of(builder.trials):
            if cell.test != REFERENCE:
                yield from _measured(builder, cell, reference)


def _measured(builder: MeasureBuilder, cell: Cell, reference: ReferenceVerdicts) -> Iterator[Measure]:
    trials, context = builder.trials, builder.context
    rows = cell.rows
    usable = rows[trials.usable[rows] & (reference.usable[rows] >= _TWO)]
    counts = _counts(trials, reference, usable)
    found = excess_disagreement(counts, level=context.level)
    flags = builder.flags(cell, rows, usable)
    note = "" if len(usable) else _NOTHING
    missing = rows[~trials.usable[rows]]
    for name, estimate in (
        ("disagreement", found.raw),
        ("noise-floor", found.floor),
        ("excess-disagreement", found.excess),
    ):
        own = tuple(flag for flag in estimate.flags if flag != "empty")
        yield builder.measure(
            name,
            cell,
            estimate,
            rows=np.concatenate([usable, missing]),
            usable=usable,
            flags=(*own, *flags),
            note=_BORROWED if "reference-floor" in own else note,
            unit="proportion" if name != "excess-disagreement" else "difference",
        )
    test = excess_permutation_test(counts, resamples=context.resamples, seed=cell.seed(context))
    yield builder.p_value(
        "excess-disagreement-p",
        cell,
        test.p,
        usable=usable,
        note=note or "one-sided permutation test within items: the condition moves verdicts more than reruns do",
    )


def _counts(trials: Trials, reference: ReferenceVerdicts, usable: Codes) -> NDArray[np.float64]:
    """Count the answers per item, group and label; group 0 is the reference, each other a variant."""
    items, first, item = np.unique(trials.item.codes[usable], return_index=True, return_inverse=True)
    variants, variant = np.unique(trials.variant.codes[usable], return_inverse=True)
    width = len(trials.labels)
    groups = max(len(variants), 1) + 1
    flat = (item * groups + 1 + variant) * width + trials.label[usable]
    counts = np.bincount(flat, minlength=len(items) * groups * width).reshape(len(items), groups, width)
    counts[:, 0, :] = reference.counts[reference.of[usable[first]]]
    used = counts.any(axis=(0, 1))
    return counts[:, :, used].astype(np.float64)
