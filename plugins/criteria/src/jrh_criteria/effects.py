"""The metrics of effects: another rubric, halo, and the place of a criterion in its call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Item, Measure, MetricContext, RecordTable, Task
from jrh_measuring import (
    NO_REFERENCE,
    Basis,
    Cell,
    Floats,
    Mask,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Tested,
    accuracy_change_of,
    cells_of,
    is_named,
    p_values,
    reference_verdicts,
)
from jrh_stats import count_disagreeing_pairs, excess_decision

from jrh_criteria.mode import first_of_call

ORDER: Final = "criteria-order"
REVERSED: Final = "reversed"
HALO: Final = "halo-effect"
LATE: Final = "late-accuracy-change"
PLACES_EXCHANGED: Final = (
    "exchange of verdicts early and late in the call, by cluster; null hypothesis: both agree with gold equally often"
)
_FINER: Final = 20
_NOT_PLACED: Final = "no criterion with a gold label was asked early and late in a call"


@frozen
class CriteriaPlace:
    """Measure how much more often a verdict is right where its criterion comes later in the call.

    The reversed order of `criteria-order` is compared with the reference: the same criterion of the same response,
    early in one and late in the other. So no criterion's difficulty is in the difference. Criteria in the middle are
    left out.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `late-accuracy-change` and its p-value per judge and test of the family `criteria-order`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        chosen = is_named(trials.column("family"), ORDER) & is_named(trials.variant, REVERSED) & ~trials.reference
        if not chosen.any():
            return
        sign, reference = _signs(builder), reference_verdicts(trials)
        # A p-value of few draws cannot pass the small levels of a page with many tests.
        finer = evolve(builder, context=evolve(context, resamples=_FINER * context.resamples))
        for cell in cells_of(trials):
            if not chosen[cell.rows].any():
                continue
            part = cell.part({"variant": REVERSED}, cell.rows[chosen[cell.rows]])
            rows = part.rows[(sign[part.rows] != 0) & (trials.gold[part.rows] >= 0)]
            change = accuracy_change_of(finer, part, rows, sign=sign)
            basis = Basis(part, rows, rows[trials.usable[rows] & (reference.usable[rows] > 0)])
            nothing = builder.why_none(basis, _NOT_PLACED)
            yield builder.measure(LATE, basis, change.estimate, note=nothing, unit="difference", unscored=NO_REFERENCE)
            yield builder.p_value(f"{LATE}-p", basis, change.test.p, note=nothing or PLACES_EXCHANGED)


def _signs(builder: MeasureBuilder) -> Floats:
    """Return 1 for trials of a criterion that comes later in the reversed call, -1 earlier, 0 in the middle."""
    trials, context = builder.trials, builder.context
    sign = np.zeros(len(trials.label))
    for name, task in context.tasks.items():
        later = {item.id: _later(item, task) for item in context.items.get(name, ()) if item.criterion}
        lookup = np.array([later.get(item, 0) for item in trials.item.names], dtype=np.float64)
        sign = np.where(is_named(trials.task, name), lookup[trials.item.codes], sign)
    return sign


def _later(item: Item, task: Task) -> int:
    """Return 1 if the criterion comes later in the reversed call than in the task's, -1 if earlier, else 0."""
    assert item.criterion is not None
    assert task.criteria is not None
    rubric = task.criteria.entries or item.criterion.others
    place = next((at for at, entry in enumerate(rubric) if entry.id == item.criterion.criterion.id), 0)
    first = first_of_call(task.criteria, place, len(rubric)) if rubric else 0
    length = min(task.criteria.per_call or len(rubric), len(rubric) - first)
    return int(np.sign(length - 1 - 2 * (place - first)))


RUBRIC: Final = "rubric-matters"
CUT: Final = "halo"
_TWO: Final = 2
_NOTHING: Final = "no verdict under another rubric"
_BEYOND: Final = (
    "share of verdicts that differ from the reference minus the disagreement of the reference's own repeats"
)
_ONCE: Final = "share of verdicts that differ from the reference, asked once: rerun noise is not subtracted"
_DEALT: Final = (
    "one-sided permutation test within items; alternative: cutting the evidence changes verdicts more than reruns do"
)
_NO_RERUN: Final = "no item was asked twice in the reference condition: nothing tells halo from rerun noise"


@frozen
class RubricEffect:
    """Measure how many verdicts another rubric moves beyond reruns, and what halo moves.

    Under another rubric a verdict scores the share of its item's reference verdicts that differ from it, minus the
    share of pairs of these that differ from each other. Asked once, noise is not subtracted: the effect is then too
    large, which only keeps a judge from being accused. Halo is claimed where the effect is large, so it is measured
    over items that were asked twice or more: the excess disagreement of `jrh_stats.excess_decision`.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the effect of every variant of the tests of the families."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        family = trials.column("family")
        masks = {name: is_named(family, name) & ~trials.reference for name in (RUBRIC, CUT)}
        if not any(mask.any() for mask in masks.values()):
            return
        scores = _effect_scores(builder)
        cells = list(cells_of(trials, ("variant",)))
        parted = {(cell.task, cell.judge, cell.test) for cell in cells if cell.levels}
        for cell in cells:
            families = [name for name, mask in masks.items() if mask[cell.rows].any()]
            # A test with several variants is measured by variant: each is a question of its own.
            if not families or (not cell.levels and (cell.task, cell.judge, cell.test) in parted):
                continue
            named = cell.part({"variant": trials.variant.names[trials.variant.codes[cell.rows[0]]]})
            if families[0] == RUBRIC:
                yield _effect(builder, named, scores)
            # The criterion whose evidence is cut is meant to change; only the others show a halo.
            elif named.levels["variant"] == "others":
                yield from _halo(builder, named)


def _effect(builder: MeasureBuilder, cell: Cell, scores: Scores) -> Measure:
    measure = builder.mean("rubric-effect", cell, scores, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference")
    again = reference_verdicts(builder.trials).trial_counts[cell.rows]
    # Asked once, the reference has no reruns to subtract.
    note = _BEYOND if len(again) and again.min() >= _TWO else _ONCE
    return evolve(measure, note=measure.note or note)


def _halo(builder: MeasureBuilder, cell: Cell) -> Iterator[Measure]:
    trials, reference, context = builder.trials, reference_verdicts(builder.trials), builder.context
    rows = cell.rows[~trials.reference[cell.rows]]
    usable = rows[trials.usable[rows] & reference.at_least(_TWO, rows)]
    basis = Basis(cell, rows, usable)
    of, first, item = np.unique(reference.of[usable], return_index=True, return_inverse=True)
    counts = np.zeros((len(of), 2, len(trials.labels)), dtype=np.int64)
    counts[:, 0] = reference.counts[of]
    np.add.at(counts[:, 1], (item, trials.label[usable]), 1)
    clusters = trials.cluster.codes[usable[first]]
    decision, test = excess_decision(
        counts, clusters, level=context.level, resamples=context.resamples, seed=builder.seed(cell)
    )
    note = _BEYOND if len(usable) else _NO_RERUN
    yield builder.measure(HALO, basis, decision.excess, note=note, unit="difference", unscored=NO_REFERENCE)
    tested = Tested(basis=basis, p=test.p, least=test.least)
    yield from p_values(builder, HALO, [tested], test=_DEALT, over="", nothing=_NO_RERUN, adjusted=False)


def _effect_scores(builder: MeasureBuilder) -> Scores:
    """Score the share of reference verdicts that differ from each trial, minus that of their pairs that differ."""
    trials, reference = builder.trials, reference_verdicts(builder.trials)
    differing, pairs = count_disagreeing_pairs(reference.counts)
    noise = (differing / np.maximum(pairs, 1))[reference.of]
    usable: Mask = trials.usable & (reference.usable > 0)
    moved = 1 - reference.count_matches(trials.label) / np.maximum(reference.usable, 1) - noise
    return Scores(
        eligible=~trials.reference,
        value=np.where(usable, moved, np.nan),
        low=-1.0,
        high=1.0,
    )
