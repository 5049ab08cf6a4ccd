"""Metrics that set a judge's tests, tasks or levels against each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, JrhError, Measure, MetricContext, RecordTable
from jrh_measuring import (
    Basis,
    Cell,
    Codes,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Trials,
    against_reference,
    agreement_scores,
    cells_of,
    combine_codes,
    complement,
    condition_codes,
    reference_verdicts,
    right_label,
)
from jrh_stats import Estimate

from jrh_metrics.options import LevelOptions, PairOptions
from jrh_metrics.panel_by_test import mean_rate, right_scores

_NO_LEVEL: Final = "no trial with a right label"


@frozen
class TestComparison:
    """Measure how much more often a judge is right in one test than in another, and in one task than in another.

    Tasks are compared over the tests that they share, each with the same weight; over the reference condition where
    they share no other. The interval is by cluster: it counts that tests share items.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `accuracy-between-tests` and `accuracy-between-tasks` of every judge and pair (`cell`: against)."""
        builder = MeasureBuilder.of(records, context, self.options)
        cells: dict[str, dict[tuple[str, str], Cell]] = {}
        for cell in cells_of(builder.trials, ()):
            cells.setdefault(cell.judge, {})[cell.task, cell.test] = cell
        for of_judge in cells.values():
            tests: dict[str, list[str]] = {}
            for task, test in of_judge:
                tests.setdefault(task, []).append(test)
            for task, names in tests.items():
                for first, second in combinations([name for name in names if name != REFERENCE], 2):
                    yield _difference(
                        builder, "accuracy-between-tests", second, [of_judge[task, first]], [of_judge[task, second]]
                    )
            for one, other in combinations(tests, 2):
                shared = [name for name in tests[one] if name in tests[other]]
                shared = [name for name in shared if name != REFERENCE] or shared
                if shared:
                    sides = ([of_judge[task, name] for name in shared] for task in (one, other))
                    yield _difference(builder, "accuracy-between-tasks", other, *sides)


def _difference(
    builder: MeasureBuilder, name: str, against: str, first: list[Cell], second: list[Cell], **levels: str
) -> Measure:
    """Measure how much more often the first cells are right; of two variants, over items with a verdict under both."""
    trials = builder.trials
    right, eligible = right_scores(trials)
    minus = np.concatenate([cell.rows for cell in second])
    # Half the sum of being right here and wrong there is a mean of rates, and the difference follows from it.
    scores = right.copy()
    scores[minus] = 1 - scores[minus]
    rows = np.sort(np.concatenate([*(cell.rows for cell in first), minus]))
    rows = rows[eligible[rows]]
    usable = rows[~np.isnan(scores[rows])]
    if levels:
        # Rates over other items would differ without any difference between the variants.
        asked, is_second = combine_codes(trials.item.codes, trials.repeat)[usable], np.isin(usable, minus)
        usable = usable[np.isin(asked, np.intersect1d(asked[is_second], asked[~is_second]))]
    # Two variants may be of one test.
    over = combine_codes(trials.task.codes, trials.test.codes, np.isin(np.arange(len(scores)), minus).astype(np.int64))
    mean = mean_rate(scores, trials.cluster.codes, over, usable, builder.context.level)
    if len(np.unique(over[usable])) < len(first) + len(second):
        mean = Estimate(value=None)
    value, low, high = (None if end is None else 2 * end - 1 for end in (mean.value, mean.low, mean.high))
    found = evolve(mean, value=value, low=low, high=high)
    test = "" if name == "accuracy-between-tasks" else first[0].test
    cell = Cell(task=first[0].task, judge=first[0].judge, test=test, levels={**levels, "against": against}, rows=rows)
    # Verdicts without a counterpart are counted with the missing ones.
    alone = "no_pair" if levels else ""
    return builder.measure(name, Basis(cell, rows, usable), found, unit="difference", unscored=alone)


@frozen
class VariantPairs:
    """Measure how often a judge says the same under two named variants of the same item, and how accuracy differs."""

    options: PairOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `pair-agreement` and `pair-accuracy-difference` of every judge and named pair (`cell`: against).

        Raises:
            JrhError: no task has trials of a variant that a pair names.
        """
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        known: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in cells_of(trials, ()):
            named = known.setdefault((cell.task, cell.judge), {})
            named[cell.test] = cell
            codes = trials.variant.codes[cell.rows]
            for code in np.unique(codes):
                named[f"{cell.test}[{trials.variant.names[code]}]"] = evolve(cell, rows=cell.rows[codes == code])
        names = {name for named in known.values() for name in named}
        for side in (side for pair in self.options.pairs for side in pair if side not in names):
            raise JrhError(f"variant-pairs: no trial of '{side}'; give one of {', '.join(sorted(names))}")
        for named in known.values():
            variants = [name for name, cell in named.items() if name != cell.test]
            within = [pair for pair in combinations(variants, 2) if named[pair[0]].test == named[pair[1]].test]
            for first, second in self.options.pairs or within:
                if first in named and second in named:
                    levels = {"variant": first, "against": second}
                    yield self._agreement(builder, named[first].part(levels), named[second])
                    sides = [named[first]], [named[second]]
                    yield _difference(builder, "pair-accuracy-difference", second, *sides, variant=first)

    def _agreement(self, builder: MeasureBuilder, first: Cell, second: Cell) -> Measure:
        # The verdicts of one variant take the place of the reference's: the rest is what a flip rate is made of. It is
        # that with fewer conditions, since each trial is compared with the nearest one: all strengths count.
        conditions = condition_codes(builder.trials)
        if len(np.unique(conditions[first.rows])) < len(np.unique(conditions[second.rows])):
            first, second = evolve(first, rows=second.rows), first
        rows = np.arange(len(builder.trials.reference))
        trials = evolve(builder.trials, reference=np.isin(rows, second.rows))
        other = reference_verdicts(trials)
        scores = against_reference(trials, other, other.count_matches(trials.label), np.isin(rows, first.rows))
        return builder.rate("pair-agreement", first, scores, nothing="no item was asked under both variants")


@frozen
class BinaryLevels:
    """Measure ordinal verdicts made binary: a level from the stated one on is positive, one below it is not."""

    options: LevelOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `binary-accuracy`, its error rates and `binary-flip-rate` per test of the tasks with this level."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        cut = _lowest_positive(trials, self.options.level)

        def positive(labels: Codes) -> Codes:
            ranks = trials.rank[trials.task.codes, labels]
            return np.where(labels < 0, -1, ranks >= cut[trials.task.codes]).astype(labels.dtype)

        binary = evolve(trials, label=positive(trials.label), labels=("below", "from"))
        truth, said = positive(right_label(trials)), binary.label
        note = f"positive: {self.options.level} and above" if self.options.level else "positive: the scale's upper half"
        with_levels = [cell for cell in cells_of(trials, ()) if cut[trials.task.codes[cell.rows[0]]] > 0]
        same = agreement_scores(binary)
        for cell in with_levels:
            for name, eligible, hit in (
                ("binary-accuracy", truth >= 0, said == truth),
                ("binary-false-positive-rate", truth == 0, said == 1),
                ("binary-false-negative-rate", truth == 1, said == 0),
            ):
                yield builder.rate(name, cell, Scores.of(trials, hit, eligible), nothing=_NO_LEVEL, note=note)
            if cell.test != REFERENCE:
                agreed = builder.rate("binary-flip-rate", cell, same, nothing=_NO_LEVEL, note=note)
                yield complement(agreed, "binary-flip-rate")


def _lowest_positive(trials: Trials, level: str) -> Codes:
    """Return the rank from which on a level is positive, shape (tasks,); 0 or less where the task has no such level."""
    if not level:
        return np.where((trials.rank >= 0).any(axis=1), (trials.levels + 1) // 2, 0)
    known = level in trials.labels
    return trials.rank[:, trials.labels.index(level)] if known else np.zeros(len(trials.rank), dtype=np.int64)
