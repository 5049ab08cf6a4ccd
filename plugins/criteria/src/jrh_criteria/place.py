"""The metric `criteria-place`: the same criterion late in a call and early in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Item, Measure, MetricContext, RecordTable, Task
from jrh_measuring import MeasureBuilder, MetricOptions, Scores, cells_of, is_named, reference_verdicts

from jrh_criteria.mode import first_of_call

ORDER: Final = "criteria-order"
REVERSED: Final = "reversed"
_NOTHING: Final = "no criterion with a gold label was asked early and late in a call"


@frozen
class CriteriaPlace:
    """Measure how much more often a verdict is right where its criterion stands later in the call.

    The reversed order of `criteria-order` is compared with the reference: the same criterion of the same response,
    early in one and late in the other. So no criterion's difficulty is in the difference. Criteria in the middle are
    left out.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `late-accuracy-change` per judge and test of the family `criteria-order`."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        chosen = is_named(trials.column("family"), ORDER) & is_named(trials.variant, REVERSED) & ~trials.reference
        if not chosen.any():
            return
        scores = self._scores(builder, context)
        for cell in cells_of(trials):
            if chosen[cell.rows].any():
                part = cell.part({"variant": REVERSED}, cell.rows[chosen[cell.rows]])
                yield builder.mean(
                    "late-accuracy-change", part, scores, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference"
                )

    def _scores(self, builder: MeasureBuilder, context: MetricContext) -> Scores:
        trials, reference = builder.trials, reference_verdicts(builder.trials)
        sign = np.zeros(len(trials.label))
        for name, task in context.tasks.items():
            later = {item.id: _later(item, task) for item in context.items.get(name, ()) if item.criterion}
            lookup = np.array([later.get(item, 0) for item in trials.item.names], dtype=np.float64)
            sign = np.where(is_named(trials.task, name), lookup[trials.item.codes], sign)
        before = reference.matching(trials.gold) / np.maximum(reference.usable, 1)
        usable = trials.usable & (reference.usable > 0)
        change = sign * ((trials.label == trials.gold) - before)
        eligible = (sign != 0) & (trials.gold >= 0) & ~trials.reference
        return Scores(
            eligible=eligible,
            value=np.where(usable, change, np.nan),
            low=-1.0,
            high=1.0,
        )


def _later(item: Item, task: Task) -> int:
    """Return 1 if the criterion stands later in the reversed call than in the task's, -1 if earlier, else 0."""
    assert item.criterion is not None
    assert task.criteria is not None
    rubric = task.criteria.entries or item.criterion.others
    place = next((at for at, each in enumerate(rubric) if each.id == item.criterion.criterion.id), 0)
    first = first_of_call(task.criteria, place, len(rubric)) if rubric else 0
    length = min(task.criteria.per_call or len(rubric), len(rubric) - first)
    return int(np.sign(length - 1 - 2 * (place - first)))
