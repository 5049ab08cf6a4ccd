"""The metric `rubric-effect`: how many verdicts move beyond reruns under another rubric, and by halo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    Cell,
    Mask,
    MeasureBuilder,
    MetricOptions,
    Scores,
    cells_of,
    is_named,
    reference_verdicts,
)

RUBRIC: Final = "rubric-matters"
HALO: Final = "halo"
_TWO: Final = 2
_NOTHING: Final = "no verdict under another rubric"
_BEYOND: Final = (
    "share of verdicts that differ from the reference minus the disagreement of the reference's own repeats"
)
_ONCE: Final = "share of verdicts that differ from the reference, asked once: rerun noise is not subtracted"


@frozen
class RubricEffect:
    """Measure how many verdicts another rubric moves beyond reruns, and what halo moves.

    A verdict scores the share of its item's reference verdicts that differ from it, minus the share of pairs of these
    that differ from each other.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the effect of every variant of the tests of the families."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        family = trials.column("family")
        told = {name: is_named(family, name) & ~trials.reference for name in (RUBRIC, HALO)}
        if not any(mask.any() for mask in told.values()):
            return
        scores = moved_beyond_reruns(builder)
        cells = list(cells_of(trials, ("variant",)))
        parted = {(cell.task, cell.judge, cell.test) for cell in cells if cell.levels}
        for cell in cells:
            families = [name for name, mask in told.items() if mask[cell.rows].any()]
            if not families or (not cell.levels and (cell.task, cell.judge, cell.test) in parted):
                continue
            named = cell.part({"variant": trials.variant.names[trials.variant.codes[cell.rows[0]]]})
            if families[0] == RUBRIC:
                yield _effect(builder, named, "rubric-effect", scores)
            elif named.levels["variant"] == "others":
                yield _effect(builder, named, "halo-effect", scores)


def _effect(builder: MeasureBuilder, cell: Cell, name: str, scores: Scores) -> Measure:
    found = builder.mean(name, cell, scores, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference")
    again = reference_verdicts(builder.trials).planned[cell.rows]
    note = _BEYOND if len(again) and again.min() >= _TWO else _ONCE
    return evolve(found, note=found.note or note)


def moved_beyond_reruns(builder: MeasureBuilder) -> Scores:
    """Score the share of reference verdicts that differ from each trial, minus that of their pairs that differ."""
    trials, reference = builder.trials, reference_verdicts(builder.trials)
    counts = reference.counts.astype(np.float64)
    number = counts.sum(axis=1)
    pairs = number * (number - 1)
    alike = (counts * (counts - 1)).sum(axis=1)
    noise = np.where(pairs > 0, 1 - alike / np.maximum(pairs, 1), 0.0)[reference.of]
    usable: Mask = trials.usable & (reference.usable > 0)
    moved = 1 - reference.matching(trials.label) / np.maximum(reference.usable, 1) - noise
    return Scores(
        eligible=~trials.reference,
        value=np.where(usable, moved, np.nan),
        low=-1.0,
        high=1.0,
    )
