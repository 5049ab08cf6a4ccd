"""The metric `criteria-score`: the weighted score of a response, and how far it is from that of the gold labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable, Task
from jrh.values import link_members
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
    combine_codes,
    is_named,
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
        # The entries of one file may have several scales, and so be several tasks that make one score.
        scores: defaultdict[str, list[Task]] = defaultdict(list)
        for task in context.tasks.values():
            if task.criteria is not None and context.items.get(task.name):
                scores[task.criteria.name].append(task)
        for name, tasks in scores.items():
            facts = response_facts(builder.trials, context.items, tasks)
            # Tasks of one score are about the same responses, so their clusters have to be joined before any mean.
            joined = _share_clusters(builder, facts)
            table = _Table(
                facts=facts,
                apart=Scores.of(joined.trials, facts.apart, facts.inside),
                met=Scores.of(joined.trials, facts.credit > 0, facts.gold_apart),
                levels=_levels(joined, self.options.holistic),
                optional=any(task.criteria and task.criteria.not_applicable for task in tasks),
            )
            for cell in _cells(joined, tasks, name if name in context.tasks else tasks[0].name):
                responses = response_scores(joined.trials, cell.rows, table.facts)
                if len(responses.score) and np.isfinite(responses.low).any():
                    yield from _Responses(joined, cell, responses, table).measures(self.options.holistic)


@frozen
class _Responses:
    """The scores of the responses in one cell, and the measures of them."""

    builder: MeasureBuilder
    cell: Cell
    scores: ResponseScores
    table: _Table

    def measures(self, holistic: str) -> Iterator[Measure]:
        scores = self.scores
        lowest = float(np.nanmin([np.nanmin(scores.low), np.nanmin(np.append(scores.score, 0.0)), 0.0]))
        # Missing verdicts, and criteria that do not apply, both ways.
        bounds = float(np.nanmean(scores.low)), float(np.nanmean(scores.high))
        yield self._mean("weighted-score", scores.score, (lowest, 1.0), bounds)
        error = scores.score - scores.gold
        # The best score is 1, so that two scores differ by no more than this.
        span = 1.0 - lowest
        if np.isfinite(scores.gold).any():
            yield self._mean("score-error", np.abs(error), (0.0, span))
            yield self._mean("score-bias", error, (-span, span))
            yield self._agreement()
        if self.table.optional:
            yield self._mean("not-applicable-effect", scores.score - scores.unmet, (-span, span))
            yield from _not_applicable(self.builder, self.cell, self.table)
        if holistic and self.cell.test == REFERENCE:
            yield self._holistic(holistic)

    def _holistic(self, task: str) -> Measure:
        """Correlate the scores with the verdicts on the responses as a whole, of the same judge."""
        level_of = self.table.levels.get(self.cell.judge, {})
        names = (self.table.facts.names[place] for place in self.scores.responses)
        levels = np.array([np.mean(level_of[name]) if name in level_of else np.nan for name in names])
        there = np.isfinite(self.scores.score) & np.isfinite(levels)
        estimate = Estimate(value=None)
        if there.any():
            scores, clusters = self.scores.score[there], self.scores.clusters[there]
            estimate = spearman(scores, levels[there], clusters, level=self.builder.context.level)
        return self._measure(
            "holistic-correlation", there, estimate, f"no response has a score and a verdict of task '{task}'"
        )

    def _agreement(self) -> Measure:
        # Pairs only: a response without a gold score cannot agree with anything.
        there = np.isfinite(self.scores.score) & np.isfinite(self.scores.gold)
        score, gold, clusters = self.scores.score[there], self.scores.gold[there], self.scores.clusters[there]
        estimate = Estimate(value=None)
        # An intraclass correlation is of the variance between responses, of which a single cluster has none to show.
        if len(np.unique(clusters)) > 1:
            estimate = icc(np.stack([score, gold], axis=1), "2,1", clusters, level=self.builder.context.level)
        return self._measure("score-icc", there, estimate, _NO_GOLD)

    def _mean(
        self, name: str, values: Floats, limits: tuple[float, float], bounds: tuple[float, float] | None = None
    ) -> Measure:
        there = np.isfinite(values)
        sums = cluster_sums(self.scores.clusters[there], values[there], np.ones(int(there.sum())))
        # Rounded, so that the order of addition does not show in the last digit.
        level = self.builder.context.level
        estimate = clustered_mean(sums[:, 0].round(12), sums[:, 1], bounds=limits, level=level)
        nothing = _NO_GOLD if np.isfinite(self.scores.score).any() else _INCOMPLETE
        return self._measure(name, there, estimate, nothing, unit="score", bounds=bounds)

    def _measure(
        self, name: str, there: Mask, estimate: Estimate, nothing: str, *, unit: str = "coefficient", bounds: Any = None
    ) -> Measure:
        """Put a measure together; `there` are the responses it rests on, `nothing` says why there is none."""
        basis = Basis(self.cell, self.cell.rows, self.cell.rows[there[self.scores.of]])
        note = "" if there.any() else nothing
        return self.builder.measure(name, basis, estimate, bounds=bounds, note=note, unit=unit)


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
    # The reference first, then the tests by name.
    for key in sorted(rows, key=lambda key: (key[0], key[1] != REFERENCE, key[1], key[2])):
        yield Cell(task=name, judge=key[0], test=key[1], levels=levels[key], rows=np.sort(np.concatenate(rows[key])))


def _share_clusters(builder: MeasureBuilder, facts: ResponseFacts) -> MeasureBuilder:
    """Return a builder for which all tasks of a score share their clusters: a response is in one only."""
    trials = builder.trials
    rows = np.flatnonzero(facts.inside)
    _, first = np.unique(combine_codes(facts.response[rows], trials.cluster.codes[rows]), return_index=True)
    pairs = zip(facts.response[rows][first].tolist(), trials.cluster.codes[rows][first].tolist(), strict=True)
    linked_names = link_members((str(response), (f"cluster {cluster}",)) for response, cluster in pairs)
    names = tuple(sorted({*linked_names.values(), ""}))
    place = {name: number for number, name in enumerate(names)}
    lookup = np.array([*(place[linked_names.get(str(number), "")] for number in range(len(facts.names))), place[""]])
    # Trials of other tasks have response -1, which reads the last entry.
    return evolve(builder, trials=evolve(trials, cluster=Coded(codes=lookup[facts.response], names=names)))


def _levels(builder: MeasureBuilder, task: str) -> Mapping[str, Mapping[str, list[int]]]:
    """Collect the reference verdicts of an ordinal task, by judge and item."""
    trials = builder.trials
    rows = np.flatnonzero(is_named(trials.task, task) & trials.reference & trials.usable) if task else np.array([], int)
    levels: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        level = trials.rank[trials.task.codes[row], trials.label[row]]
        judge, item = trials.judge.names[trials.judge.codes[row]], trials.item.names[trials.item.codes[row]]
        levels[judge][item].append(int(level))
    return levels


def _not_applicable(builder: MeasureBuilder, cell: Cell, table: _Table) -> Iterator[Measure]:
    """Yield how often the judge says that a criterion does not apply, and how often it calls such a one met."""
    yield builder.rate("not-applicable-rate", cell, table.apart, nothing="no trial")
    if not table.facts.gold_apart[cell.rows].any():
        return
    yield builder.rate("not-applicable-as-met", cell, table.met, nothing="no criterion that does not apply")
