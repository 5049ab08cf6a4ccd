"""The metric `rubric-effect`: how many verdicts move beyond reruns under another rubric, and by halo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    FINDING,
    Cell,
    Mask,
    MeasureBuilder,
    Scores,
    cells_of,
    format_measure,
    is_named,
    reference_verdicts,
)

from jrh_criteria.options import EffectOptions

RUBRIC: Final = "rubric-matters"
HALO: Final = "halo"
DIGITS: Final = 2
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
    that differ from each other. A judge whose `rubric-effect` under a variant is below `least` with its whole interval
    ignores its rubric. These intervals have half the error of the suite's level, divided by the number of variants. A
    judge whose `halo-effect` is above 0 with its whole interval lets the evidence for one criterion count for others.
    """

    options: EffectOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the effect of every variant of the tests of the families, and findings."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        family = trials.column("family")
        told = {name: is_named(family, name) & ~trials.reference for name in (RUBRIC, HALO)}
        if not any(mask.any() for mask in told.values()):
            return
        scores = moved_beyond_reruns(builder)
        cells = list(cells_of(trials, ("variant",)))
        variants = {
            (cell.task, cell.judge, cell.test): len(np.unique(trials.variant.codes[cell.rows]))
            for cell in cells
            if not cell.levels
        }
        for cell in cells:
            parts = [name for name, mask in told.items() if mask[cell.rows].any()]
            number = variants[cell.task, cell.judge, cell.test]
            if parts and (cell.levels or number == 1):
                yield from self._of_cell(builder, self._named(builder, cell), parts[0], scores, number)

    def _named(self, builder: MeasureBuilder, cell: Cell) -> Cell:
        variant = builder.trials.variant
        return cell if cell.levels else cell.part({"variant": variant.names[variant.codes[cell.rows[0]]]})

    def _of_cell(
        self, builder: MeasureBuilder, cell: Cell, family: str, scores: Scores, variants: int
    ) -> Iterator[Measure]:
        variant = cell.levels["variant"]
        if family == HALO:
            if variant == "others":
                found = self._effect(builder, cell, "halo-effect", scores)
                yield found
                if found.interval is not None and found.interval.low > 0:
                    yield _finding(found, "halo", _halo(found))
            return
        # Moved verdicts are skewed: at 95% an upper limit errs in 4 to 5% of studies, not 2.5%. So half is used.
        level = 1 - (1 - builder.context.level) / (2 * max(variants, 1))
        found = self._effect(builder.at(level), cell, "rubric-effect", scores)
        yield found
        if found.interval is not None and found.interval.high < self.options.least:
            yield _finding(found, "rubric-ignored", _ignored(found, self.options.least))

    def _effect(self, builder: MeasureBuilder, cell: Cell, name: str, scores: Scores) -> Measure:
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


def _finding(measure: Measure, name: str, note: str) -> Measure:
    return evolve(measure, name=name, flags=(*measure.flags, FINDING), note=note)


def _share(measure: Measure) -> str:
    return f"{format_measure(measure, DIGITS)} in {measure.n_clusters} clusters"


def _ignored(measure: Measure, least: float) -> str:
    what = {"inverted": "an inverted rubric", "empty": "an empty rubric", "other": "the rubric of another task"}
    variant = what.get(measure.cell["variant"], "another rubric")
    return (
        f"The judge ignores its rubric: {variant} moves {_moved(measure)}; "
        f"a judge that reads it moves at least {least:g}. Its agreement with gold labels does not come from the rubric."
    )


def _moved(measure: Measure) -> str:
    """Say how many verdicts moved; a share below 0 is no more than reruns move."""
    if measure.estimate is not None and measure.estimate <= 0:
        return f"no more verdicts than reruns do ({_share(measure)})"
    return f"verdicts by {_share(measure)} beyond reruns"


def _halo(measure: Measure) -> str:
    return (
        "Halo: cutting the evidence for one criterion moves verdicts on the others: "
        f"{_share(measure)} beyond reruns. Ask one criterion per call, or state what each criterion is about."
    )
