"""The metric `criteria-score`: the weighted score of a response, and how far it is from that of the gold labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable, Task
from jrh.values import linked
from jrh_measuring import (
    Basis,
    Cell,
    Coded,
    Codes,
    Floats,
    Mask,
    MeasureBuilder,
    ResponseFacts,
    ResponseScores,
    Scores,
    cells_of,
    is_named,
    numbered,
    response_facts,
    response_scores,
)
from jrh_stats import Estimate, cluster_sums, clustered_mean, icc, spearman

from jrh_criteria.options import ScoreOptions

REFERENCE: Final = "reference"
_INCOMPLETE: Final = "no response has a verdict on every criterion that applies"
_NO_GOLD: Final = "no response has a gold label on every criterion"


@frozen(kw_only=True, eq=False)
class _Table:
    """What the cells of one score share, made once: going through all trials for each of them would be quadratic."""

    facts: ResponseFacts
    apart: Scores
    met: Scores
    """How often criteria are called met that do not apply."""
    levels: Mapping[str, Mapping[str, list[int]]]
    """Judge -> response -> its levels in the holistic task."""
    optional: bool
    """Whether some criterion may not apply."""


@frozen
class CriteriaScore:
    """Measure the weighted score by response, with intervals by cluster.

    The score is the sum of weight x credit over the criteria that apply, divided by the sum of the positive weights
    among them: 1 at best, below 0 where negative criteria outweigh. A response without a verdict on some criterion has
    no score; the bounds take missing verdicts, and criteria that do not apply, both ways. Whatever does not apply never
    counts as met: `not-applicable-effect` is the score minus what it would be if these criteria counted as not met.
    """

    options: ScoreOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every score, judge, test and variant."""
        builder = MeasureBuilder.of(records, context, self.options)
        scores: defaultdict[str, list[Task]] = defaultdict(list)
        for task in context.tasks.values():
            if task.criteria is not None and context.items.get(task.name):
                scores[task.criteria.name].append(task)
        for name, tasks in scores.items():
            facts = response_facts(builder.trials, context.items, tasks)
            joined = _joined(builder, facts)
            table = _Table(
                facts=facts,
                apart=Scores.of(joined.trials, facts.apart, facts.inside),
                met=Scores.of(joined.trials, facts.credit > 0, facts.gold_apart),
                levels=_levels(joined, self.options.holistic),
                optional=any(task.criteria and task.criteria.not_applicable for task in tasks),
            )
            for cell in _cells(joined, tasks, name if name in context.tasks else tasks[0].name):
                yield from self._of_cell(joined, cell, table)

    def _of_cell(self, builder: MeasureBuilder, cell: Cell, table: _Table) -> Iterator[Measure]:
        found = response_scores(builder.trials, cell.rows, table.facts)
        if not len(found.score) or not np.isfinite(found.low).any():
            return
        lowest = float(np.nanmin([np.nanmin(found.low), np.nanmin(np.append(found.score, 0.0)), 0.0]))
        bounds = float(np.nanmean(found.low)), float(np.nanmean(found.high))
        yield _mean(builder, cell, "weighted-score", found, found.score, (lowest, 1.0), bounds)
        error = found.score - found.gold
        span = 1.0 - lowest
        if np.isfinite(found.gold).any():
            yield _mean(builder, cell, "score-error", found, np.abs(error), (0.0, span))
            yield _mean(builder, cell, "score-bias", found, error, (-span, span))
            yield from _agreement(builder, cell, found)
        if table.optional:
            effect = found.score - found.unmet
            yield _mean(builder, cell, "not-applicable-effect", found, effect, (-span, span))
            yield from _not_applicable(builder, cell, table)
        if self.options.holistic and cell.test == REFERENCE:
            yield from self._holistic(builder, cell, found, table)

    def _holistic(self, builder: MeasureBuilder, cell: Cell, found: ResponseScores, table: _Table) -> Iterator[Measure]:
        """Correlate the scores with the verdicts on the responses as a whole, of the same judge."""
        level_of = table.levels.get(cell.judge, {})
        names = (table.facts.names[place] for place in found.responses)
        given = np.array([np.mean(level_of[name]) if name in level_of else np.nan for name in names])
        there = np.isfinite(found.score) & np.isfinite(given)
        estimate = Estimate(value=None)
        if there.any():
            level = builder.context.level
            estimate = spearman(found.score[there], given[there], found.clusters[there], level=level)
        nothing = f"no response has a score and a verdict of task '{self.options.holistic}'"
        yield _measure(builder, cell, "holistic-correlation", found, there, estimate, nothing)


def _measure(
    builder: MeasureBuilder,
    cell: Cell,
    name: str,
    found: ResponseScores,
    there: Mask,
    estimate: Estimate,
    nothing: str,
    *,
    unit: str = "coefficient",
    bounds: tuple[float, float] | None = None,
) -> Measure:
    """Put a measure of responses together; `there` are those that it rests on, `nothing` says why there is none."""
    basis, note = Basis(cell, cell.rows, cell.rows[there[found.of]]), "" if there.any() else nothing
    return builder.measure(name, basis, estimate, bounds=bounds, note=note, unit=unit)


def _mean(
    builder: MeasureBuilder,
    cell: Cell,
    name: str,
    found: ResponseScores,
    values: Floats,
    limits: tuple[float, float],
    bounds: tuple[float, float] | None = None,
) -> Measure:
    there = np.isfinite(values)
    sums = cluster_sums(found.clusters[there], values[there], np.ones(int(there.sum())))
    estimate = clustered_mean(sums[:, 0].round(12), sums[:, 1], bounds=limits, level=builder.context.level)
    nothing = _NO_GOLD if np.isfinite(found.score).any() else _INCOMPLETE
    return _measure(builder, cell, name, found, there, estimate, nothing, unit="score", bounds=bounds)


def _agreement(builder: MeasureBuilder, cell: Cell, found: ResponseScores) -> Iterator[Measure]:
    there = np.isfinite(found.score) & np.isfinite(found.gold)
    score, gold, clusters = found.score[there], found.gold[there], found.clusters[there]
    correlated = Estimate(value=None)
    if len(np.unique(clusters)) > 1:
        correlated = icc(np.stack([score, gold], axis=1), "2,1", clusters, level=builder.context.level)
    yield _measure(builder, cell, "score-icc", found, there, correlated, _NO_GOLD)


def _cells(builder: MeasureBuilder, tasks: Sequence[Task], name: str) -> Iterator[Cell]:
    """Yield a cell per judge and test, and per variant where there are several, over all tasks of a score."""
    trials = builder.trials
    rows: defaultdict[tuple[str, str, str], list[Codes]] = defaultdict(list)
    levels: dict[tuple[str, str, str], Mapping[str, str]] = {}
    wanted = {task.name for task in tasks}
    for cell in cells_of(trials, ("variant",)):
        if cell.task in wanted:
            key = cell.judge, cell.test, cell.levels.get("variant", "")
            rows[key].append(cell.rows)
            levels[key] = cell.levels
    for key in sorted(rows, key=lambda key: (key[0], key[1] != REFERENCE, key[1], key[2])):
        yield Cell(task=name, judge=key[0], test=key[1], levels=levels[key], rows=np.sort(np.concatenate(rows[key])))


def _joined(builder: MeasureBuilder, facts: ResponseFacts) -> MeasureBuilder:
    """Return a builder for which all tasks of a score share their clusters: a response is in one only."""
    trials = builder.trials
    rows = np.flatnonzero(facts.inside)
    _, first = np.unique(numbered(facts.response[rows], trials.cluster.codes[rows]), return_index=True)
    pairs = zip(facts.response[rows][first].tolist(), trials.cluster.codes[rows][first].tolist(), strict=True)
    found = linked((str(response), (f"cluster {cluster}",)) for response, cluster in pairs)
    names = tuple(sorted({*found.values(), ""}))
    place = {name: number for number, name in enumerate(names)}
    lookup = np.array([*(place[found.get(str(number), "")] for number in range(len(facts.names))), place[""]])
    # Trials of other tasks have response -1, which reads the last entry.
    return evolve(builder, trials=evolve(trials, cluster=Coded(codes=lookup[facts.response], names=names)))


def _levels(builder: MeasureBuilder, task: str) -> Mapping[str, Mapping[str, list[int]]]:
    """Collect the reference verdicts of an ordinal task, by judge and item."""
    trials = builder.trials
    rows = np.flatnonzero(is_named(trials.task, task) & trials.reference & trials.usable) if task else np.array([], int)
    found: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        level = trials.rank[trials.task.codes[row], trials.label[row]]
        judge, item = trials.judge.names[trials.judge.codes[row]], trials.item.names[trials.item.codes[row]]
        found[judge][item].append(int(level))
    return found


def _not_applicable(builder: MeasureBuilder, cell: Cell, table: _Table) -> Iterator[Measure]:
    """Yield how often the judge says that a criterion does not apply, and how often it calls such a one met."""
    yield builder.rate("not-applicable-rate", cell, table.apart, nothing="no trial")
    if not table.facts.gold_apart[cell.rows].any():
        return
    yield builder.rate("not-applicable-as-met", cell, table.met, nothing="no criterion that does not apply")
