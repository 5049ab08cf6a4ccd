"""Sensitivity by number and position of the edits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Cell, Codes, Mask, MeasureBuilder, MetricOptions, Trials, as_expected, cells_of
from numpy.typing import NDArray

from jrh_agentic.measures.edited import DRAWS, FAMILIES, POSITIONS, edited_cases, of_families

NAME: Final = "edit-sensitivity"


@frozen
class EditSensitivity:
    """How often the verdict on an edited transcript is the expected one.

    The expected one is the label that was aimed at, or, where nothing should matter, that of the reference condition: a
    trial then scores the share of the item's reference verdicts that it equals. Transcripts without an edit do not
    count.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `edit-sensitivity` per task, judge and test, by number of edits, and by third of the transcript."""
        if "strength" not in records.columns:
            return
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        edits = trials.records.number("strength")
        edited = of_families(trials, *FAMILIES) & (edits > 0)
        if not edited.any():
            return
        # Without `truth`: a family aims at one label by design, which is no fault of the gold labels.
        scores = evolve(as_expected(trials), truth=None)
        positions = _positions(trials, context, edited)
        for each in cells_of(trials):
            cell = evolve(each, rows=each.rows[edited[each.rows]])
            if len(cell.rows):
                for part in _parts(cell, edits, positions):
                    yield builder.rate(NAME, part, scores, nothing="no trial has a usable verdict")


def _parts(cell: Cell, edits: NDArray[np.float64], positions: Codes) -> Iterator[Cell]:
    """Yield the cell, and its parts by number and by position of the edits."""
    yield cell
    # A single part repeats the number of the cell, but it names the number or the place of the edits.
    for number in np.unique(edits[cell.rows]):
        yield cell.part({"edits": f"{number:g}"}, cell.rows[edits[cell.rows] == number])
    places = np.unique(positions[cell.rows])
    for place in places[places >= 0]:
        yield cell.part({"position": POSITIONS[place]}, cell.rows[positions[cell.rows] == place])


def _positions(trials: Trials, context: MetricContext, edited: Mask) -> Codes:
    """Return in which of `POSITIONS` the edits of every trial stand, -1 where that is not known, shape (n,)."""
    names = [trials.case.names[code] for code in np.unique(trials.case.codes[edited])]
    known = {case.id: POSITIONS.index(case.position) for case in edited_cases(context.evidence, names)}
    of_case = np.array([known.get(name, -1) for name in trials.case.names], dtype=np.int64)
    return of_case[trials.case.codes]
