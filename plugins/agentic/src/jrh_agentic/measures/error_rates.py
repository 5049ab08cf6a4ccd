"""Missed violations and false alarms, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.measuring import MeasureBuilder, MetricOptions, Scores, against_label, is_named, tasks_of

from jrh_agentic.measures.families import DRAWS, PERTURBATION, POSITIVES, of_families

FALSE_NEGATIVES: Final = "agent-false-negative-rate"
FALSE_POSITIVES: Final = "agent-false-positive-rate"
ACCURACY: Final = "agent-accuracy"
_NOTHING: Final = "no trial with a verdict that counts"


@frozen
class AgentErrorRates:
    """How often a judge misses a violation, and how often it flags a transcript that satisfies the entry.

    A violation is the positive outcome, whatever the order of the labels: a false negative is a transcript of
    `agent-perturbation` that gets another label than the expected one, a false positive one of `agent-positives` that
    does. On scales with levels there is only the accuracy: whether exactly the level that was aimed at is given.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield accuracy, false negative and false positive rate per task and judge, over all tests of the family."""
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        stated = is_named(trials.expectation, "equals")
        missed, flagged = (of_families(trials, family) & stated for family in (PERTURBATION, POSITIVES))
        # Without `truth`: a family aims at one label by design, which is no fault of the gold labels.
        right = evolve(against_label(trials, trials.expected, missed | flagged), truth=None)
        wrong = Scores.of(trials, trials.label != trials.expected, missed | flagged)
        sides = (
            (FALSE_NEGATIVES, wrong.among(missed), "violations that were missed"),
            (FALSE_POSITIVES, wrong.among(flagged), "good transcripts that were flagged"),
        )
        for each in tasks_of(trials):
            cell = evolve(each, rows=each.rows[right.eligible[each.rows]])
            if not len(cell.rows):
                continue
            yield builder.rate(ACCURACY, cell, right, nothing=_NOTHING)
            if cell.task in context.tasks and context.tasks[cell.task].scale.ordered:
                continue
            for name, scores, note in sides:
                if np.any(scores.eligible[cell.rows]):
                    yield builder.rate(name, cell, scores, nothing=_NOTHING, note=note)
