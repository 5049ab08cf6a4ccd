"""The cells that measures are reported for: task x judge x test, and the variants within a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from attrs import Factory, frozen
from jrh import MetricContext, derive_seed

from jrh_metrics.trials import Codes, Trials


@frozen(kw_only=True, eq=False)
class Cell:
    """The trials one measure is about."""

    task: str
    judge: str
    test: str
    levels: Mapping[str, str] = Factory(dict)
    """Further factor levels; empty for the whole test."""
    rows: Codes
    """Row numbers of the trials."""

    def seed(self, context: MetricContext) -> int:
        """Derive the seed of this cell: another cell draws other numbers.

        All metrics draw the same ones, so that two that are equal by definition also have equal intervals.
        """
        levels = [part for level in sorted(self.levels.items()) for part in level]
        return derive_seed(context.seed, "metrics", self.task, self.judge, self.test, *levels)


def cells_of(trials: Trials) -> Iterator[Cell]:
    """Yield the cells: tasks in the suite's order, judges by name, the reference before the other tests.

    After each whole test follow its variants, by name, where they have names.
    """
    key = (trials.task.codes * len(trials.judge.names) + trials.judge.codes) * len(trials.test.names)
    for rows in _groups(key + trials.test.codes):
        first = rows[0]
        task = trials.task.names[trials.task.codes[first]]
        judge = trials.judge.names[trials.judge.codes[first]]
        test = trials.test.names[trials.test.codes[first]]
        yield Cell(task=task, judge=judge, test=test, rows=rows)
        for within in _groups(trials.variant.codes[rows]):
            part = rows[within]
            variant = trials.variant.names[trials.variant.codes[part[0]]]
            if variant:
                yield Cell(task=task, judge=judge, test=test, levels={"variant": variant}, rows=part)


def _groups(key: Codes) -> Iterator[Codes]:
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order])) + 1
    if len(order):
        yield from np.split(order, ends)
