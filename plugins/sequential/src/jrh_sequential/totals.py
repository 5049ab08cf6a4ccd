"""Scores added up by cluster, in the order in which clusters were drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import MetricContext, RecordTable
from jrh.plugins import Role
from jrh_measuring import (
    Codes,
    Floats,
    Scores,
    Trials,
    against_gold,
    agreement_scores,
    as_expected,
    is_named,
    read_trials,
)

from jrh_sequential.options import Target

Draw: TypeAlias = Callable[[str], int]
"""`BuildContext.seed` of the allocator, by which clusters are drawn."""


def _missing(trials: Trials) -> Scores:
    every = np.ones(len(trials.usable), dtype=np.bool_)
    return Scores(eligible=every, value=(~trials.usable).astype(np.float64), low=0.0, high=1.0)


_SCORES: Final[Mapping[str, Callable[[Trials], Scores]]] = {
    Role.AGREEMENT.value: against_gold,
    Role.EXPECTATION.value: as_expected,
    Role.SELF_AGREEMENT.value: agreement_scores,
    Role.MISSING_SHARE.value: _missing,
}


@frozen(eq=False)
class Totals:
    """What one judge scored in every cluster, in the order of the draw; arrays of shape (clusters,)."""

    low: Floats
    """Total score if every missing verdict had been the worst."""
    high: Floats
    sizes: Floats
    """Trials of the measure; 0 where the judge has none."""
    estimate: float | None
    """Mean score of the verdicts that are there; None without any."""

    @property
    def clusters(self) -> int:
        """Return how many clusters have trials."""
        return int(np.count_nonzero(self.sizes))


@frozen(kw_only=True, eq=False)
class TrialsInOrder:
    """Trials whose clusters are in the order of the draw."""

    trials: Trials
    place: Codes
    """Code of a cluster -> its place in the draw."""

    @classmethod
    def of(cls, records: RecordTable, draw: Draw) -> TrialsInOrder:
        """Read records."""
        # Without the tasks: an allocator does not know them, and its report must decide as it did.
        trials = read_trials(records, MetricContext(tasks={}))
        names = list(trials.cluster.names)
        place = np.empty(len(names), dtype=np.int64)
        place[sorted(range(len(names)), key=lambda code: (draw(names[code]), names[code]))] = np.arange(len(names))
        return cls(trials=trials, place=place)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the tasks that have records."""
        return tuple(self.trials.records.categories("task"))

    @property
    def judges(self) -> tuple[str, ...]:
        """Return the judges that have records, also those that were stopped."""
        return tuple(self.trials.records.categories("judge"))

    def count_items(self, judge: str, task: str) -> int:
        """Count the items of a task that a judge was asked about."""
        rows = is_named(self.trials.judge, judge) & is_named(self.trials.task, task)
        return len(np.unique(self.trials.item.codes[rows]))

    def totals(self, target: Target, judge: str, task: str | None) -> Totals:
        """Add up the scores of a judge in a task; in all tasks if there is none."""
        trials, scores = self.trials, _SCORES[target.role](self.trials)
        mask = scores.eligible & is_named(trials.judge, judge) & is_named(trials.test, target.test)
        rows = np.flatnonzero(mask & is_named(trials.task, task) if task is not None else mask)
        low, high = scores.sides(rows) or (scores.value[rows], scores.value[rows])
        value, place, size = scores.value[rows], self.place[trials.cluster.codes[rows]], len(self.place)
        estimate = None if np.isnan(value).all() else float(np.nanmean(value))
        least, most, sizes = (
            np.bincount(place, weights, size).astype(np.float64) for weights in (low, high, np.ones(len(rows)))
        )
        return Totals(least, most, sizes, estimate)
