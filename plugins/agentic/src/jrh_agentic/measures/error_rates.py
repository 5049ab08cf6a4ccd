"""Missed violations and false alarms, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Mask, MeasureBuilder, MetricOptions, Scores, Trials, against_label, is_named, tasks_of

from jrh_agentic.measures.edited_cases import DRAWS, PERTURBATION, POSITIVES, of_families

FALSE_NEGATIVES: Final = "agent-false-negative-rate"
FALSE_POSITIVES: Final = "agent-false-positive-rate"
ACCURACY: Final = "agent-accuracy"
Sides: TypeAlias = tuple[tuple[str, Scores, str], ...]

_NOTHING: Final = "no trial has a usable verdict"


@frozen
class AgentErrorRates:
    """How often a judge misses a violation, and how often it flags a transcript that satisfies the entry.

    The positive label is the one the task's scale declares; without one, a violation is the positive outcome, whatever
    the order of the labels. A false negative is a transcript that should get the positive label and does not, a false
    positive one that gets it wrongly: without a declared label, transcripts of `agent-perturbation` and of
    `agent-positives` that get another label than the expected one. On scales with levels there is only the accuracy:
    whether exactly the level that was aimed at is given.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield accuracy, false negative and false positive rate per task and judge, over all tests of the family."""
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        stated = is_named(trials.expectation, "equals")
        missed, flagged = (of_families(trials, family) & stated for family in (PERTURBATION, POSITIVES))
        if not (missed | flagged).any():
            return
        # Without `truth`: a family aims at one label by design, which is no fault of the gold labels.
        right = evolve(against_label(trials, trials.expected, missed | flagged), truth=None)
        wrong = Scores.of(trials, trials.label != trials.expected, missed | flagged)
        for whole_cell in tasks_of(trials):
            cell = evolve(whole_cell, rows=whole_cell.rows[right.eligible[whole_cell.rows]])
            if not len(cell.rows):
                continue
            yield builder.rate(ACCURACY, cell, right, nothing=_NOTHING)
            scale = context.tasks[cell.task].scale if cell.task in context.tasks else None
            # A wrong level is neither a miss nor a false alarm.
            if scale is not None and scale.ordered:
                continue
            for name, scores, note in _sides(trials, wrong, missed, flagged, scale.positive if scale else ""):
                if np.any(scores.eligible[cell.rows]):
                    yield builder.rate(name, cell, scores, nothing=_NOTHING, note=note)


def _sides(trials: Trials, wrong: Scores, missed: Mask, flagged: Mask, positive: str) -> Sides:
    """Return name, scores and note of both rates; `positive` is the declared label, empty without one."""
    if not positive:
        return (
            (FALSE_NEGATIVES, wrong.among(missed), "violations that were missed"),
            (FALSE_POSITIVES, wrong.among(flagged), "good transcripts that were flagged"),
        )
    # A label that no trial has gets a code that no trial has.
    code = trials.labels.index(positive) if positive in trials.labels else len(trials.labels)
    due, says = trials.expected == code, trials.label == code
    return (
        (FALSE_NEGATIVES, wrong.among(due), f"transcripts whose right label is {positive}"),
        (FALSE_POSITIVES, Scores.of(trials, says, (missed | flagged) & ~due), f"transcripts that are not {positive}"),
    )
