"""Metric `interaction`: the effect of perturbations applied together beyond the sum of their single effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh_measuring import (
    Basis,
    Cell,
    Codes,
    Floats,
    MeasureBuilder,
    MetricOptions,
    ReferenceVerdicts,
    Trials,
    cells_of,
    reference_verdicts,
)
from jrh_stats import cluster_sums, clustered_mean

JOINT: Final = "+"
"""Separator of the families of a chain, in a record's `family`."""
_NOTHING: Final = "no item has a verdict under every combination and two in the reference condition"

Families: TypeAlias = tuple[str, ...]
PerItem: TypeAlias = tuple[Codes, Floats]
"""Items, sorted, and a number of each."""


@frozen
class Interaction:
    """Measure how much more (or less) a chain changes verdicts than its parts do one by one.

    Let D(S) be the probability that a verdict under the perturbations S differs from one in the reference condition;
    D of no perturbation is the noise floor. The interaction of a and b is D(ab) - D(a) - D(b) + D(), the difference of
    differences of a 2 x 2 design; of k perturbations it is the sum of (-1)^(k - |S|) D(S) over all subsets S. It is 0
    where effects add up. It is measured for every chain whose parts, and their combinations, are tests as well, over
    the items that have them all.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one measure per task, judge and chain with all its parts."""
        builder = MeasureBuilder.of(records, context, self.options)
        if "family" not in records.columns:
            return
        families = builder.trials.column("family")
        alone: dict[tuple[str, str], list[tuple[Cell, Families]]] = {}
        for cell in cells_of(builder.trials):
            if cell.test != REFERENCE:
                of = tuple(families.names[families.codes[cell.rows[0]]].split(JOINT))
                alone.setdefault((cell.task, cell.judge), []).append((cell, of))
        for tests in alone.values():
            for cell, of in tests:
                # A family that occurs twice in a chain has no effect of its own to subtract twice.
                parts = _parts(cell, of, tests) if len(set(of)) == len(of) > 1 else None
                if parts is not None:
                    yield _measure_chain(builder, cell, parts)


def _parts(cell: Cell, of: Families, tests: Sequence[tuple[Cell, Families]]) -> Mapping[Families, Cell] | None:
    """Find the test of every combination of a chain's families: of the same crossing, or else any."""
    # Tests that one crossing makes share the name before the dot.
    crossing = cell.test.rpartition(".")[0]
    by_families: dict[Families, Cell] = {}
    for other, families in tests:
        if families not in by_families or (crossing and other.test.rpartition(".")[0] == crossing):
            by_families[families] = other
    by_families[of] = cell
    subsets = chain.from_iterable(combinations(of, size) for size in range(1, len(of) + 1))
    wanted = {subset: by_families.get(subset) for subset in subsets}
    return None if None in wanted.values() else {subset: part for subset, part in wanted.items() if part is not None}


def _measure_chain(builder: MeasureBuilder, cell: Cell, parts: Mapping[Families, Cell]) -> Measure:
    trials, reference = builder.trials, reference_verdicts(builder.trials)
    size = max(map(len, parts))
    terms = [((-1) ** (size - len(of)), _change_by_item(trials, reference, part.rows)) for of, part in parts.items()]
    # D of no perturbation: how often two reference verdicts differ.
    terms.append(((-1) ** size, _floor(trials, reference, cell.rows)))
    items = terms[0][1][0]
    for _, (term_items, _values) in terms[1:]:
        # The same items in every term: otherwise items would be compared, and not conditions.
        items = np.intersect1d(items, term_items, assume_unique=True)
    contrast = np.zeros(len(items))
    for sign, (known, values) in terms:
        contrast += sign * values[np.searchsorted(known, items)]
    # Half of the 2^k terms count with each sign, and each lies within 0 and 1.
    widest = float(2 ** (size - 1))
    sums = cluster_sums(trials.clusters_of(items, cell.task), contrast, np.ones(len(items)))
    estimate = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-widest, widest), level=builder.context.level)
    rows = np.concatenate([part.rows for part in parts.values()])
    usable = rows[trials.usable[rows] & np.isin(trials.item.codes[rows], items)]
    note = "" if len(items) else _NOTHING
    return builder.measure("interaction", Basis(cell, rows, usable), estimate, note=note, unit="difference")


def _change_by_item(trials: Trials, reference: ReferenceVerdicts, rows: Codes) -> PerItem:
    """Return per item the share of pairs of a verdict and a reference verdict that differ."""
    # As for the floor, which takes two reference verdicts: all terms are about the same items.
    rows = rows[trials.usable[rows] & (reference.usable[rows] > 1)]
    same = reference.counts[reference.of[rows], trials.label[rows]] / reference.usable[rows]
    return _means(trials.item.codes[rows], 1.0 - same)


def _floor(trials: Trials, reference: ReferenceVerdicts, rows: Codes) -> PerItem:
    """Return per item the share of pairs of reference verdicts that differ."""
    rows = rows[reference.usable[rows] > 1]
    counts = reference.counts[reference.of[rows]]
    answers = reference.usable[rows]
    # Unbiased: no verdict is compared with itself.
    same = (counts * (counts - 1)).sum(axis=1) / (answers * (answers - 1))
    return _means(trials.item.codes[rows], 1.0 - same)


def _means(items: Codes, values: Floats) -> PerItem:
    distinct, inverse = np.unique(items, return_inverse=True)
    return distinct, np.bincount(inverse, weights=values) / np.maximum(np.bincount(inverse), 1)
