"""Missed violations and false alarms, side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable

from jrh_agentic.measures.rates import (
    PERTURBATION,
    POSITIVES,
    Cell,
    Measuring,
    Scored,
    answered,
    cells_of,
    gaps,
    of_families,
)
from jrh_agentic.options import MeasureOptions

FALSE_NEGATIVES = "agent-false-negative-rate"
FALSE_POSITIVES = "agent-false-positive-rate"
ACCURACY = "agent-accuracy"


@frozen(kw_only=True)
class AgentErrorRates:
    """How often a judge misses a violation, and how often it flags a transcript that satisfies the entry.

    A violation is the positive outcome, whatever the order of the labels: a false negative is a transcript of
    `agent-perturbation` that gets another label than the expected one, a false positive one of `agent-positives` that
    does. On scales with levels there is only the accuracy: whether exactly the level that was aimed at is given.
    """

    few_items: int

    @classmethod
    def of(cls, options: MeasureOptions) -> AgentErrorRates:
        """Build the metric from its options."""
        return cls(few_items=options.few_items)

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield accuracy, false negative and false positive rate per task and judge, over all tests of the family."""
        family = of_families(records, PERTURBATION, POSITIVES)
        stated = family.where(family.equals("expectation", "equals")) if len(family) else family
        for (task, judge), rows in cells_of(stated, "task", "judge"):
            cell = Cell(task=task, judge=judge)
            yield self._rate(ACCURACY, cell, rows, context, wrong=False, note="")
            if task in context.tasks and context.tasks[task].scale.ordered:
                continue
            for name, of, note in (
                (FALSE_NEGATIVES, PERTURBATION, "violations that were missed"),
                (FALSE_POSITIVES, POSITIVES, "good transcripts that were flagged"),
            ):
                part = of_families(rows, of)
                if len(part):
                    yield self._rate(name, cell, part, context, wrong=True, note=note)

    def _rate(
        self, name: str, cell: Cell, rows: RecordTable, context: MetricContext, *, wrong: bool, note: str
    ) -> Measure:
        verdicts = answered(rows, context, cell.task)
        right = [given == due for given, due in zip(rows.text("canonical"), rows.text("expected"), strict=True)]
        scores = np.where(verdicts, np.array(right) != wrong, np.nan)
        scored = Scored(records=rows, scores=scores, missing=gaps(rows, verdicts))
        return Measuring(context=context, few_items=self.few_items).rate(name, cell, scored, note=note)
