"""Metric `covariate-effect`: whether verdicts depend on length, author or another column at equal gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable, ScaleKind, Task
from jrh_measuring import (
    Basis,
    Cell,
    Codes,
    Covariate,
    Floats,
    MeasureBuilder,
    Standard,
    cells_of,
    columns_of,
    covariates_of_items,
    gold_standard,
    item_verdicts,
    peers_standard,
    strata_of,
)
from jrh_stats import Slope, slope_within_strata

from jrh_metrics.options import CovariateOptions

_NAME: Final = "covariate-effect"
_PEERS: Final = "peer-"
_GIVEN: Final = {"": "at equal gold", _PEERS: "at equal verdicts of the other judges"}
_AGAINST: Final = {"": "gold label", _PEERS: "mean verdict of the other judges"}


@frozen
class CovariateEffect:
    """Measure how verdicts move with covariates: length, author, and the columns that data or import name.

    `covariate-effect` is the slope of the verdict on the covariate within gold labels
    (`jrh_stats.slope_within_strata`): levels of an ordinal scale, P(positive label), or in a comparison P(chosen), per
    standard deviation of a number, or for a level of a text column against all others. `covariate-effect-p` tests it.
    `covariate-reverse` exchanges the two: the slope of gold on the covariate within verdicts.

    At equal gold a fair judge seems to prefer whatever goes with quality, since a coarse or noisy label does not hold
    quality constant. For the same reason gold then rises with the covariate at equal verdicts. A judge that favours a
    covariate gives the same verdict to worse items that have it: there gold falls. Only where the two have opposite
    signs is an effect reported as a finding. For a fair judge they have the same sign if verdict and gold depend on
    the covariate through quality alone, however noisy they are and wherever the scale ends. (Verdict minus gold, which
    was used before, is moved by the ends of a scale: noisier labels regress more.) Both are associations: what goes
    with the covariate and is in neither verdict nor gold is not ruled out.

    Source: direct and reverse regression: Goldberger (1984), Journal of Human Resources 19:293-318. Not consulted.

    Where a task has no gold labels, `peer-covariate-effect` and its relatives hold a judge against the mean verdict of
    the other judges. Reported for the reference condition.
    """

    options: CovariateOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures per task, judge and covariate, the levels of a text column one by one."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in cells_of(builder.trials):
            task = context.tasks.get(cell.task)
            if cell.test == REFERENCE and task is not None:
                yield from self._of_cell(builder, cell, task)

    def _of_cell(self, builder: MeasureBuilder, cell: Cell, task: Task) -> Iterator[Measure]:
        trials = builder.trials
        items = np.unique(trials.item.codes[cell.rows])
        covariates = list(covariates_of_items(trials, cell.rows, items, task, self.options.few_of_level))
        if not covariates:
            return
        gold = gold_standard(trials, cell.rows, items, task)
        # Gold decides wherever there is any: the other judges may share what is measured.
        kind = "" if np.any(gold.stratum >= 0) else _PEERS
        standard = peers_standard(trials, cell, items, task) if kind else gold
        if not np.any(standard.stratum >= 0):
            return
        verdicts = item_verdicts(trials, cell.rows, items, task)
        for covariate in covariates:
            yield from _Effect(
                builder=builder,
                cell=cell,
                task=task,
                kind=kind,
                items=items,
                verdicts=verdicts,
                standard=standard,
                covariate=covariate,
            ).measures()


@frozen(kw_only=True, eq=False)
class _Effect:
    """One covariate of one cell."""

    builder: MeasureBuilder
    cell: Cell
    task: Task
    kind: str
    """Prefix of the measures' names."""
    items: Codes
    verdicts: Floats
    standard: Standard
    covariate: Covariate

    def measures(self) -> Iterator[Measure]:
        trials, cell = self.builder.trials, self.cell
        eligible = self.covariate.known & (self.standard.stratum >= 0)
        place = np.searchsorted(self.items, trials.item.codes[cell.rows])
        rows = cell.rows[eligible[place]]
        basis = Basis(cell.part({"covariate": self.covariate.name}), rows, rows[trials.usable[rows]])
        taken = np.flatnonzero(eligible & ~np.isnan(self.verdicts[:, 0]))
        slopes = list(self._slopes(taken))
        # Two levels mirror each other: they are one comparison.
        compared = max(len(self.covariate.levels) - (len(self.covariate.levels) == 2), 1)  # noqa: PLR2004
        compared *= max(len({levels.get("label") for levels, _, _ in slopes}), 1)
        tested = [within.p for _, within, _ in slopes if within.p is not None]
        unit = "difference in levels" if self.task.scale.ordered else "difference"
        missing = "no item has covariate, verdict and label" if not len(taken) else "the covariate is constant"
        for levels, within, reverse in slopes:
            part = basis.part({"covariate": self.covariate.name, **levels})
            for name, slope, note in (
                (_NAME, within, f"{_GIVEN[self.kind]}{self._unit()}; an association; other differences may explain it"),
                ("covariate-reverse", reverse, f"{_AGAINST[self.kind]} at equal verdicts{self._unit()}"),
            ):
                text = note if slope.estimate.value is not None else missing
                yield self.builder.measure(f"{self.kind}{name}", part, slope.estimate, note=text, unit=unit)
        # A covariate has an effect if any of its levels has one: Bonferroni over all of them.
        p = min(min(tested) * compared, 1.0) if tested else None
        times = f", times {compared} comparisons (Bonferroni)" if compared > 1 else ""
        yield self.builder.p_value(f"{self.kind}{_NAME}-p", basis, p, note=f"cluster-robust t test{times}")

    def _unit(self) -> str:
        return f", per {self.covariate.unit}" if self.covariate.unit else ", against all others"

    def _slopes(self, taken: Codes) -> Iterator[tuple[Mapping[str, str], Slope, Slope]]:
        """Yield levels, the slope of verdicts at equal gold, and its reverse, for every column of x and of y."""
        labels = columns_of(self.task)
        pairwise = self.task.scale.kind is ScaleKind.PAIRWISE
        for column in range(self.covariate.values.shape[1]):
            # One column at a time: each level against all others.
            of_level = {"level": self.covariate.levels[column]} if self.covariate.levels else {}
            x = self.covariate.values[taken, column]
            # The options of an item are chosen at each other's expense: they go into one regression.
            if pairwise:
                yield of_level, *self._slope(x, self.verdicts[taken], self.standard.values[taken], taken)
                continue
            for place, label in enumerate(labels):
                of_label = {"label": label} if len(labels) > 1 else {}
                y, standard = (values[taken][:, [place]] for values in (self.verdicts, self.standard.values))
                yield of_level | of_label, *self._slope(x, y, standard, taken)

    def _slope(self, x: Floats, y: Floats, standard: Floats, taken: Codes) -> tuple[Slope, Slope]:
        """Return both slopes; a comparison has one observation per item and option, in strata of both."""
        options = x.shape[1]
        option = np.tile(np.arange(options), len(taken))
        given, judged = (
            np.repeat(stratum[taken], options) * options + option
            for stratum in (self.standard.stratum, strata_of(self.verdicts, self.task))
        )
        cluster = np.repeat(self.builder.trials.clusters_of(self.items[taken], self.cell.task), options)
        span = float(len(self.task.scale.labels) - 1 if self.task.scale.ordered else 1)
        level = self.builder.context.level
        within = slope_within_strata(x.ravel(), y.ravel(), given, cluster, level=level, span=span)
        reverse = slope_within_strata(x.ravel(), standard.ravel(), judged, cluster, level=level, span=span)
        return within, reverse
